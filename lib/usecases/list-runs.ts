import type { UsecaseDeps } from './deps';
import { judgeRun } from './judge-leases';
import type { Page, RunCursor, RunPageAsk } from './ports';
import { type RunView, viewRuns } from './run-view';

/**
 * A page of runs. A filter by status finds what the rows then say: both are judged at one instant. What a lapse means
 * for its effects is recorded before it is shown, as it is for one run; that moves a run by `updated`, so a first page is
 * then read anew, while on a later one the run stays where the walk has come to.
 */
export async function listRuns(
  deps: Pick<UsecaseDeps, 'store' | 'engine' | 'leaseMs' | 'judgedFrom'>,
  ask: Omit<RunPageAsk, 'judged'>,
): Promise<Page<RunView, RunCursor>> {
  let page = await readPage(deps, ask);
  if (page.lapsed && ask.cursor === undefined) page = await readPage(deps, ask);
  return { ...page.page, items: await viewRuns(deps, page.items, page.now) };
}

async function readPage(deps: Pick<UsecaseDeps, 'store' | 'judgedFrom'>, ask: Omit<RunPageAsk, 'judged'>) {
  const now = deps.store.clock.now();
  const page = await deps.store.runs({ ...ask, judged: { now, judgedFrom: deps.judgedFrom } });
  const items = await Promise.all(page.items.map((run) => judgeRun(deps, run)));
  return { now, page, items, lapsed: items.some((run, i) => run !== page.items[i]) };
}
