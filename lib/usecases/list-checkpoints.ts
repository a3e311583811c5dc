import type { RunId } from '@/lib/core/events/ids';
import { inForce, segmentsAt } from '@/lib/core/projections/effective-path';
import type { CheckpointRecord } from '@/lib/core/projections/records';
import { ok, type Result } from '@/lib/core/shared/result';
import type { UsecaseDeps } from './deps';
import { ofOneEdition } from './one-edition';
import type { NotFound } from './problems';

export interface CheckpointView {
  readonly checkpoint: CheckpointRecord;
  readonly inForce: boolean;
}

/** Every checkpoint of a run, oldest first, those that a rewind left behind marked. */
export async function listCheckpoints(
  deps: Pick<UsecaseDeps, 'store'>,
  ask: { readonly runId: RunId },
): Promise<Result<readonly CheckpointView[], NotFound>> {
  return ofOneEdition(deps, ask.runId, async (run) => {
    const segments = segmentsAt(run.state.rewinds, run.headSeq);
    const checkpoints = await deps.store.checkpoints(ask.runId);
    return ok(checkpoints.map((checkpoint) => ({ checkpoint, inForce: inForce(checkpoint.seq, segments) })));
  });
}
