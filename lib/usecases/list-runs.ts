import { ok, type Result } from '@/lib/core/shared/result';
import type { UsecaseDeps } from './deps';
import type { Page, RunPageAsk } from './ports';
import { type RunView, viewRuns } from './run-view';

/** A page of runs. A filter by status finds what the rows then say: both are judged at one instant. */
export async function listRuns(
  deps: Pick<UsecaseDeps, 'store' | 'engine' | 'leaseMs' | 'judgedFrom'>,
  ask: Omit<RunPageAsk, 'judged'>,
): Promise<Result<Page<RunView>, never>> {
  const now = deps.store.clock.now();
  const page = await deps.store.runs({ ...ask, judged: { now, judgedFrom: deps.judgedFrom } });
  return ok({ ...page, items: await viewRuns(deps, page.items, now) });
}
