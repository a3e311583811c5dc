import type { RunId } from '@/lib/core/events/ids';
import { assertDefined } from '@/lib/core/shared/assert';
import { ok, type Result } from '@/lib/core/shared/result';
import type { UsecaseDeps } from './deps';
import { judgedRun } from './judge-leases';
import type { NotFound } from './problems';
import { type RunView, viewRuns } from './run-view';

/** Summary of one run, with what can be done with it and the safest next action. */
export async function getRun(
  deps: Pick<UsecaseDeps, 'store' | 'engine' | 'leaseMs' | 'judgedFrom'>,
  ask: { readonly runId: RunId },
): Promise<Result<RunView, NotFound>> {
  // A lapse that is shown is recorded first: its effects are in doubt from then on, and the next action says so.
  const run = await judgedRun(deps, ask.runId);
  if (!run.ok) return run;
  const [view] = await viewRuns(deps, [run.value]);
  return ok(assertDefined(view, 'one run has one view'));
}
