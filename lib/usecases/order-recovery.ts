import type { RunId, Sha256 } from '@/lib/core/events/ids';
import type { NewEvent } from '@/lib/core/events/run-event';
import { liveLease } from '@/lib/core/journal/lease';
import { waitingOrder } from '@/lib/core/planner/plan-run';
import { openOrder } from '@/lib/core/projections/command-transitions';
import type { RunRecord, RunState } from '@/lib/core/projections/records';
import { fail, ok, type Result } from '@/lib/core/shared/result';
import { fenceLapsed } from './close-epoch';
import {
  acceptance,
  type CommandAnswer,
  type CommandProblem,
  type PlannedCommand,
  plannedParts,
  withdrawn,
} from './command';
import { deciderOf } from './decider-of';
import type { UsecaseDeps } from './deps';
import { judgedRun } from './judge-leases';
import { type LoadedPlan, loadPlan } from './load-plan';
import type { WriteContext } from './ports';
import { type HeldBy, holderOf, mirrorOf } from './problems';
import { stateAt } from './state-at';
import { orderedRun, writeOrder } from './write-order';

type Deps = Pick<UsecaseDeps, 'store' | 'engine' | 'hash' | 'leaseMs' | 'judgedFrom' | 'actor'>;
type Ask = PlannedCommand<'resume' | 'rewind'>;

export const MOST_TRIES = 8;
export const keptMoving = 'The run kept moving while the order was planned; look at it again.';

/**
 * `resume` and `rewind`: plans anew, refuses what differs from the plan that was shown, and accepts in one write with
 * everything that the order does to the journal. Planned again where the run moved in between.
 */
export async function orderRecovery(
  deps: Deps,
  runId: RunId,
  command: Ask,
  requestDigest: Sha256,
): Promise<Result<CommandAnswer, CommandProblem>> {
  for (let attempt = 0; attempt < MOST_TRIES; attempt++) {
    const judged = await judgedRun(deps, runId);
    if (!judged.ok) return judged;
    const run = judged.value;
    if (run.home === 'mirror') return fail(mirrorOf(runId));
    const held = heldNow(run, deps, deps.store.clock.now());
    if (held !== undefined) return fail(held);
    const loaded = await planFor(deps, run, command);
    if (!loaded.ok) return fail(await decidedMeanwhile(deps, run, command, loaded.problem));
    const target =
      command.mode === 'rewind' ? (await stateAt(deps, run, loaded.value.plan.from.seq)).state : undefined;
    const result = await accept(deps, command, requestDigest, loaded.value, target);
    if (result.ok || result.problem.kind !== 'moved') return result as Result<CommandAnswer, CommandProblem>;
  }
  return fail({ kind: 'not-possible', detail: keptMoving });
}

/** A decision that the plan brought and somebody took since: it counts once, and the order is told whose it was. */
async function decidedMeanwhile(
  deps: Deps,
  { runId }: RunRecord,
  { decisions }: Ask,
  problem: CommandProblem,
): Promise<CommandProblem> {
  if (problem.kind !== 'bad-decision') return problem;
  const { stepKey } = problem;
  const by = await deciderOf(deps, runId, stepKey, decisions[stepKey]?.intentSeq);
  return by === undefined
    ? problem
    : { kind: 'already-answered', by, detail: `${by} decided ${stepKey} already.` };
}

/** The plan of an order, where it is the one that was shown and nothing stands in its way. */
export async function planFor(
  deps: Deps,
  run: RunRecord,
  command: PlannedCommand,
): Promise<Result<LoadedPlan, CommandProblem>> {
  const loaded = await loadPlan(deps, run, command);
  if (!loaded.ok) return loaded;
  if (loaded.value.plan.digest !== command.planDigest)
    return fail({ kind: 'stale-plan', plan: loaded.value });
  const [obstacle] = loaded.value.plan.obstacles;
  if (obstacle !== undefined) return fail({ kind: 'blocked', detail: obstacle.sentence, plan: loaded.value });
  return loaded;
}

/** Who stands in the way of starting the run: a live lease, or an order that waits for its worker. */
export function heldNow(
  run: RunRecord,
  deps: Pick<UsecaseDeps, 'judgedFrom'>,
  now: WriteContext['now'],
): HeldBy | undefined {
  const lease = liveLease(run, now, deps.judgedFrom);
  if (lease !== undefined && lease.mode !== 'verify') return { kind: 'held', holder: holderOf(lease) };
  const { pending, status } = run.state;
  if (pending === undefined || waitingOrder(status, run.state) === undefined) return undefined;
  const { actor, commandId, mode } = pending;
  return { kind: 'held', holder: { workerId: undefined, actor, commandId, mode, since: run.updatedAt } };
}

const accept = (
  deps: Deps,
  command: Ask,
  requestDigest: Sha256,
  loaded: LoadedPlan,
  target: RunState | undefined,
) =>
  writeOrder<CommandProblem | { readonly kind: 'moved' }>(
    deps,
    { runId: loaded.run.runId, commandId: command.commandId, requestDigest, loaded },
    (context) => {
      const found = orderedRun(context, loaded.run.runId);
      if (!found.ok) return found;
      const run = found.value;
      const held = heldNow(run, deps, context.now);
      if (held !== undefined) return fail(held);
      if (run.headSeq !== loaded.run.headSeq || context.ledgerVersion !== loaded.ledgerVersion)
        return fail({ kind: 'moved' });
      // A probe under way goes on, and the order queues behind it. Any other lease has lapsed: its holder is fenced,
      // so that nothing it still sends meets what the order decides or where it takes the run.
      const verifying = liveLease(run, context.now, deps.judgedFrom) !== undefined;
      return ok({
        base: verifying ? run : fenceLapsed(run),
        events: eventsOf(command, loaded, run, verifying, deps.actor),
        options: target === undefined ? {} : { stateAt: () => target },
        payloads: loaded.payloads,
      });
    },
  );

/** Ends what was accepted before and is not carried out: a newer order takes its place. */
export function withdrawals(run: RunRecord, verifying: boolean, detail: string): readonly NewEvent[] {
  const order = openOrder(run.state);
  const ids = new Set(verifying ? [] : run.state.verifies.map(({ commandId }) => commandId));
  if (order !== undefined) ids.add(order.commandId);
  return [...ids].map((id) => withdrawn(id, detail));
}

function eventsOf(
  command: Ask,
  loaded: LoadedPlan,
  run: RunRecord,
  verifying: boolean,
  actor: string,
): readonly NewEvent[] {
  const { commandId } = command;
  // A verify that a worker is carrying out goes on; the order queues behind it.
  const withdrawn = withdrawals(run, verifying, `${command.mode} by ${actor}`);
  const decided: readonly NewEvent[] = Object.entries(loaded.decisions).map(([stepKey, decision]) => ({
    kind: 'effect.decided',
    stepKey: stepKey as Extract<NewEvent, { kind: 'effect.decided' }>['stepKey'],
    decision,
    actor,
    reason: command.reason,
    commandId,
  }));
  const rewound: readonly NewEvent[] =
    command.mode === 'rewind'
      ? [
          {
            kind: 'run.rewound',
            toSeq: loaded.plan.from.seq,
            kept: loaded.plan.leftBehind.effects.map((effect) => effect.stepKey),
            commandId,
          },
        ]
      : [];
  return [
    ...withdrawn,
    { ...acceptance(command, actor), ...plannedParts(command, loaded) },
    ...decided,
    ...rewound,
    { kind: 'run.queued', reason: 'command', commandId },
  ];
}
