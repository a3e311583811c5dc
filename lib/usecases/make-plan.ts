import type { RunId } from '@/lib/core/events/ids';
import type { Result } from '@/lib/core/shared/result';
import type { UsecaseDeps } from './deps';
import { judgedRun } from './judge-leases';
import { type LoadedPlan, loadPlan, type PlanAsk, type PlanProblem } from './load-plan';
import type { NotFound } from './problems';

/** What an order would do. Changes nothing but, where a lease has lapsed unnoticed, its record. */
export async function makePlan(
  deps: Pick<UsecaseDeps, 'store' | 'hash' | 'leaseMs' | 'judgedFrom'>,
  ask: PlanAsk & { readonly runId: RunId },
): Promise<Result<LoadedPlan, NotFound | PlanProblem>> {
  const run = await judgedRun(deps, ask.runId);
  return run.ok ? loadPlan(deps, run.value, ask) : run;
}
