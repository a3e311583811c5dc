import type { RunId, Seq } from '@/lib/core/events/ids';
import { statusNow } from '@/lib/core/projections/run-state';
import { fail, ok, type Result } from '@/lib/core/shared/result';
import type { UsecaseDeps } from './deps';
import { type NotFound, noRun } from './problems';
import { clampToHead, type FoldedState, stateAt } from './state-at';

/** State at a seq; at the head its status is judged by the clock, as everywhere. */
export async function getState(
  deps: Pick<UsecaseDeps, 'store' | 'judgedFrom'>,
  ask: { readonly runId: RunId; readonly at: Seq | undefined },
): Promise<Result<FoldedState & { readonly runId: RunId }, NotFound>> {
  const run = await deps.store.run(ask.runId);
  if (run === undefined) return fail(noRun(ask.runId));
  const folded = await stateAt(deps, run, clampToHead(run, ask.at));
  const { state } = folded;
  const status =
    state.seq === run.headSeq ? statusNow(run, deps.store.clock.now(), deps.judgedFrom) : state.status;
  return ok({ ...folded, state: { ...state, status }, runId: ask.runId });
}
