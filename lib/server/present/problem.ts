import type { LoadedPlan } from '@/lib/usecases/load-plan';
import type { Holder } from '@/lib/usecases/problems';
import { orNull } from './common';
import { presentPlan } from './plan';

/** Problem members as `wire` has them: plans and holders are domain values in use-cases. */
export function presentProblem(problem: { readonly kind: string }): { readonly kind: string } {
  const plan = 'plan' in problem ? { plan: presentPlan(problem.plan as LoadedPlan) } : {};
  const holder = 'holder' in problem ? { holder: presentHolder(problem.holder as Holder) } : {};
  return { ...withoutStatus(problem.kind === 'not-held' ? stopped(problem) : problem), ...plan, ...holder };
}

/** For a writer it is the same: stop. */
const stopped = (problem: { readonly kind: string }) => ({
  ...problem,
  kind: 'stale-epoch',
  detail: 'The lease was given back, or the run has ended or waits for its next claim. Stop writing to it.',
});

/** `status` is the HTTP status in a problem's body: an effect's and a run's are told under names of their own. */
function withoutStatus(problem: { readonly kind: string }): { readonly kind: string } {
  if (!('status' in problem)) return problem;
  const { status, ...rest } = problem;
  const own = problem.kind === 'effect-exists' ? { effectStatus: status } : { runStatus: status };
  return { ...rest, ...own };
}

const presentHolder = (holder: Holder) => ({
  workerId: orNull(holder.workerId),
  actor: orNull(holder.actor),
  commandId: orNull(holder.commandId),
  mode: holder.mode,
  since: holder.since === undefined ? null : new Date(holder.since).toISOString(),
});
