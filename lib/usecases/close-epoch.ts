import type { Epoch } from '@/lib/core/events/ids';
import type { RunRecord } from '@/lib/core/projections/records';

/** The run after its epoch was closed: no lease, and whoever held it is fenced. */
export function closeEpoch(run: RunRecord): RunRecord {
  const { lease: _dropped, ...rest } = run;
  return { ...rest, epoch: (run.epoch + 1) as Epoch, lastBatch: 0 };
}
