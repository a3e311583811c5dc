import { statusNow } from '@/lib/core/projections/run-state';
import { ok, type Result } from '@/lib/core/shared/result';
import type { UsecaseDeps } from './deps';
import { judgeRun } from './judge-leases';
import type { Page, RunPageAsk } from './ports';
import { type RunView, viewRuns } from './run-view';

/** A page of runs. A filter by status finds what the rows then say: both are judged at one instant. */
export async function listRuns(
  deps: Pick<UsecaseDeps, 'store' | 'engine' | 'leaseMs' | 'judgedFrom'>,
  ask: Omit<RunPageAsk, 'judged'>,
): Promise<Result<Page<RunView>, never>> {
  const now = deps.store.clock.now();
  const page = await deps.store.runs({ ...ask, judged: { now, judgedFrom: deps.judgedFrom } });
  // What a lapse means for its effects is recorded before it is shown, as it is for one run.
  const items = await Promise.all(
    page.items.map((run) =>
      statusNow(run, now, deps.judgedFrom) === 'interrupted' ? judgeRun(deps, run) : run,
    ),
  );
  return ok({ ...page, items: await viewRuns(deps, items, now) });
}
