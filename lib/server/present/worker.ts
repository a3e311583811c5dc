import type { Claimed } from '@/lib/usecases/claim-run';
import type { WorkerView } from '@/lib/usecases/list-workers';
import { iso } from './common';
import { presentPlan } from './plan';

/** The order's event goes as its body: where it stands in the journal is no part of the order. */
export function presentClaim({ command, plan, ...rest }: Claimed) {
  return {
    ...rest,
    ...(command !== undefined && { command }),
    ...(plan !== undefined && { plan: presentPlan(plan) }),
  };
}

export const presentWorker = ({ worker, live, runs }: WorkerView) => ({
  workerId: worker.workerId,
  agents: [...worker.agents],
  firstSeenAt: iso(worker.firstSeenAt),
  seenAt: iso(worker.seenAt),
  live,
  runs: [...runs],
});
