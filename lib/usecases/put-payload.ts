import type { Sha256 } from '@/lib/core/events/ids';
import { type Codec, misread, type PayloadRef } from '@/lib/core/events/payload';
import { fail, ok, type Result } from '@/lib/core/shared/result';
import type { UsecaseDeps } from './deps';
import { payloadOf, refOf } from './payload-of';
import type { BadPayload } from './problems';

/** Stores bytes under their digest. Once more is no change; what no event refers to within 24 h is swept. */
export async function putPayload(
  deps: Pick<UsecaseDeps, 'store' | 'hash'>,
  ask: { readonly sha256: Sha256; readonly codec: Codec; readonly body: Uint8Array },
): Promise<Result<PayloadRef, BadPayload>> {
  const payload = payloadOf(ask.codec, ask.body, deps.hash);
  if (payload.sha256 !== ask.sha256) {
    return fail({
      kind: 'bad-payload',
      detail: `The bytes have the digest ${payload.sha256}, not ${ask.sha256}.`,
    });
  }
  const wrong = misread(ask.codec, ask.body);
  if (wrong !== undefined) return fail({ kind: 'bad-payload', detail: wrong });
  await deps.store.payloads.put([payload]);
  return ok(refOf(payload));
}
