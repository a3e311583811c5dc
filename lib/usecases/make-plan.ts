import type { RunId } from '@/lib/core/events/ids';
import { fail, type Result } from '@/lib/core/shared/result';
import type { UsecaseDeps } from './deps';
import { judgeRun } from './judge-leases';
import { type LoadedPlan, loadPlan, type PlanAsk, type PlanProblem } from './load-plan';
import { type NotFound, noRun } from './problems';

/** What an order would do. Changes nothing but, where a lease has lapsed unnoticed, its record. */
export async function makePlan(
  deps: Pick<UsecaseDeps, 'store' | 'hash' | 'leaseMs' | 'judgedFrom'>,
  ask: PlanAsk & { readonly runId: RunId },
): Promise<Result<LoadedPlan, NotFound | PlanProblem>> {
  const run = await deps.store.run(ask.runId);
  return run === undefined ? fail(noRun(ask.runId)) : loadPlan(deps, await judgeRun(deps, run), ask);
}
