import type { EpochMs } from '@/lib/core/events/ids';
import { doubtsOf } from '@/lib/core/projections/ledger';
import type { EffectRecord, RunRecord } from '@/lib/core/projections/records';
import type { UsecaseDeps } from './deps';

/** The run's effects in doubt at `now`. */
export const doubtsIn = async (
  deps: Pick<UsecaseDeps, 'store'>,
  run: RunRecord,
  now: EpochMs,
): Promise<readonly EffectRecord[]> => doubtsOf(run.runId, await deps.store.watchedEffects([run.runId]), now);
