import type { Sha256 } from '@/lib/core/events/ids';
import { type Codec, misread, type Payload } from '@/lib/core/events/payload';
import { fail, ok, type Result } from '@/lib/core/shared/result';
import type { UsecaseDeps } from './deps';
import type { BadPayload, NotFound } from './problems';

/** A payload as a reference reads it, or as it was first stored. */
export async function getPayload(
  deps: Pick<UsecaseDeps, 'store'>,
  { sha256, codec }: { readonly sha256: Sha256; readonly codec: Codec | undefined },
): Promise<Result<Payload, NotFound | BadPayload>> {
  const payload = await deps.store.payloads.get(sha256);
  if (payload === undefined) return fail({ kind: 'not-found', detail: `No payload ${sha256} is stored.` });
  if (codec === undefined || codec === payload.codec) return ok(payload);
  const detail = misread(codec, payload.body);
  return detail === undefined ? ok({ ...payload, codec }) : fail({ kind: 'bad-payload', detail });
}
