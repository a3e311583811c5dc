import type { Epoch } from '@/lib/core/events/ids';
import type { RunRecord } from '@/lib/core/projections/records';

/**
 * The run in a new epoch: whoever held it is fenced. A lease that has lapsed stays on record, since a claim that was
 * open when it lapsed must not be given the run; a run without one has nobody to fence.
 */
export const fenceLapsed = (run: RunRecord): RunRecord =>
  run.lease === undefined ? run : { ...run, epoch: (run.epoch + 1) as Epoch, lastBatch: 0 };

/** The run after its epoch was closed: no lease, and whoever held it is fenced. */
export function closeEpoch(run: RunRecord): RunRecord {
  const { lease: _dropped, ...rest } = run;
  return { ...rest, epoch: (run.epoch + 1) as Epoch, lastBatch: 0 };
}
