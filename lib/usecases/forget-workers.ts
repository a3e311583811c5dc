import type { EpochMs } from '@/lib/core/events/ids';
import type { UsecaseDeps } from './deps';

const FORGOTTEN_AFTER_MS = 30 * 24 * 60 * 60 * 1_000;

/** Forgets workers that were not heard of for 30 days. Returns how many. */
export function forgetWorkers(deps: Pick<UsecaseDeps, 'store'>): Promise<number> {
  return deps.store.workers.prune((deps.store.clock.now() - FORGOTTEN_AFTER_MS) as EpochMs);
}
