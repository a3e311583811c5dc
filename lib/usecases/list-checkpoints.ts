import type { RunId } from '@/lib/core/events/ids';
import { inForce, segmentsAt } from '@/lib/core/projections/effective-path';
import type { CheckpointRecord } from '@/lib/core/projections/records';
import { fail, ok, type Result } from '@/lib/core/shared/result';
import type { UsecaseDeps } from './deps';
import { type NotFound, noRun } from './problems';

export interface CheckpointView {
  readonly checkpoint: CheckpointRecord;
  readonly inForce: boolean;
}

/** Every checkpoint of a run, oldest first, those that a rewind left behind marked. */
export async function listCheckpoints(
  deps: Pick<UsecaseDeps, 'store'>,
  ask: { readonly runId: RunId },
): Promise<Result<readonly CheckpointView[], NotFound>> {
  const run = await deps.store.run(ask.runId);
  if (run === undefined) return fail(noRun(ask.runId));
  const segments = segmentsAt(run.state.rewinds, run.headSeq);
  const checkpoints = await deps.store.checkpoints(ask.runId);
  return ok(checkpoints.map((checkpoint) => ({ checkpoint, inForce: inForce(checkpoint.seq, segments) })));
}
