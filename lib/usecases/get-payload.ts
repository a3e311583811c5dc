import type { Sha256 } from '@/lib/core/events/ids';
import type { Payload } from '@/lib/core/events/payload';
import { fail, ok, type Result } from '@/lib/core/shared/result';
import type { UsecaseDeps } from './deps';
import type { NotFound } from './problems';

export async function getPayload(
  deps: Pick<UsecaseDeps, 'store'>,
  ask: { readonly sha256: Sha256 },
): Promise<Result<Payload, NotFound>> {
  const payload = await deps.store.payloads.get(ask.sha256);
  return payload === undefined
    ? fail({ kind: 'not-found', detail: `No payload ${ask.sha256} is stored.` })
    : ok(payload);
}
