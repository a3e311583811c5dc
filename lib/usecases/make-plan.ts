import type { RunId } from '@/lib/core/events/ids';
import { ok, type Result } from '@/lib/core/shared/result';
import type { UsecaseDeps } from './deps';
import { judgedRun } from './judge-leases';
import { type LoadedPlan, loadPlan, type PlanAsk, type PlanProblem } from './load-plan';
import { ofOneEdition } from './one-edition';
import type { NotFound } from './problems';

/** What an order would do. Changes nothing but, where a lease has lapsed unnoticed, its record. */
export async function makePlan(
  deps: Pick<UsecaseDeps, 'store' | 'hash' | 'leaseMs' | 'judgedFrom' | 'barred'>,
  ask: PlanAsk & { readonly runId: RunId },
): Promise<Result<LoadedPlan, NotFound | PlanProblem>> {
  const judged = await judgedRun(deps, ask.runId);
  if (!judged.ok) return judged;
  const loaded = await ofOneEdition(deps, ask.runId, (run) => loadPlan(deps, run, ask));
  return loaded.ok && deps.barred !== undefined ? ok(barred(loaded.value, deps.barred)) : loaded;
}

/** The plan as somebody sees it who may look and not act: first of all that is in the way. */
const barred = (loaded: LoadedPlan, sentence: string): LoadedPlan => ({
  ...loaded,
  plan: { ...loaded.plan, obstacles: [{ kind: 'role', sentence }, ...loaded.plan.obstacles] },
});
