import type { Claimed } from '@/lib/usecases/claim-run';
import type { WorkerView } from '@/lib/usecases/list-workers';
import { iso } from './common';
import { presentPlan } from './plan';

/** The order's event goes as its body: where it stands in the journal is no part of the order. */
export function presentClaim({ command, plan, ...rest }: Claimed) {
  return {
    ...rest,
    ...(command !== undefined && { command: bodyOf(command) }),
    ...(plan !== undefined && { plan: presentPlan(plan) }),
  };
}

function bodyOf(command: NonNullable<Claimed['command']>) {
  const { runId: _run, seq: _seq, at: _at, epoch: _epoch, by: _by, version: _version, ...body } = command;
  return body;
}

export const presentWorker = ({ worker, live, runs }: WorkerView) => ({
  workerId: worker.workerId,
  agents: [...worker.agents],
  firstSeenAt: iso(worker.firstSeenAt),
  seenAt: iso(worker.seenAt),
  live,
  runs: [...runs],
});
