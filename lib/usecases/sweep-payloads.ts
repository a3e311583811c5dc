import type { EpochMs } from '@/lib/core/events/ids';
import type { UsecaseDeps } from './deps';

export const UNREFERENCED_LIVE_MS = 24 * 60 * 60 * 1_000;

/** Deletes payloads to which no event has referred for 24 h. Returns how many. */
export function sweepPayloads(deps: Pick<UsecaseDeps, 'store'>): Promise<number> {
  return deps.store.payloads.sweep((deps.store.clock.now() - UNREFERENCED_LIVE_MS) as EpochMs);
}
