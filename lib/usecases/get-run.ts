import type { RunId } from '@/lib/core/events/ids';
import { assertDefined } from '@/lib/core/shared/assert';
import { fail, ok, type Result } from '@/lib/core/shared/result';
import type { UsecaseDeps } from './deps';
import { judgeRun } from './judge-leases';
import { type NotFound, noRun } from './problems';
import { type RunView, viewRuns } from './run-view';

/** Summary of one run, with what can be done with it and the safest next action. */
export async function getRun(
  deps: Pick<UsecaseDeps, 'store' | 'engine' | 'leaseMs' | 'judgedFrom'>,
  ask: { readonly runId: RunId },
): Promise<Result<RunView, NotFound>> {
  const stored = await deps.store.run(ask.runId);
  if (stored === undefined) return fail(noRun(ask.runId));
  // A lapse that is shown is recorded first: its effects are in doubt from then on, and the next action says so.
  const [view] = await viewRuns(deps, [await judgeRun(deps, stored)]);
  return ok(assertDefined(view, 'one run has one view'));
}
