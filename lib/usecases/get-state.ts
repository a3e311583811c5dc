import type { RunId, Seq } from '@/lib/core/events/ids';
import type { Phase } from '@/lib/core/projections/records';
import { phaseOf, statusNow } from '@/lib/core/projections/run-status';
import { ok, type Result } from '@/lib/core/shared/result';
import type { UsecaseDeps } from './deps';
import { doubtsIn } from './doubts';
import { ofOneEdition } from './one-edition';
import type { NotFound } from './problems';
import { clampToHead, type FoldedState, stateAt } from './state-at';

/** State at a seq; at the head its status and its doubts are judged by the clock, as everywhere. */
export async function getState(
  deps: Pick<UsecaseDeps, 'store' | 'judgedFrom'>,
  ask: { readonly runId: RunId; readonly at: Seq | undefined },
): Promise<Result<FoldedState & { readonly runId: RunId; readonly phase: Phase }, NotFound>> {
  return ofOneEdition(deps, ask.runId, async (run) => {
    const folded = await stateAt(deps, run, clampToHead(run, ask.at));
    if (folded.state.seq !== run.headSeq)
      return ok({ ...folded, phase: phaseOf(folded.state), runId: ask.runId });
    const now = deps.store.clock.now();
    const state = { ...folded.state, status: statusNow(run, now, deps.judgedFrom) };
    return ok({ ...folded, state, phase: phaseOf(state, await doubtsIn(deps, run, now)), runId: ask.runId });
  });
}
