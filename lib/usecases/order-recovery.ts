import type { CommandId, RunId, Sha256 } from '@/lib/core/events/ids';
import type { NewEvent } from '@/lib/core/events/run-event';
import { extend } from '@/lib/core/journal/extend';
import { liveLease } from '@/lib/core/journal/lease';
import type { RunRecord, RunState } from '@/lib/core/projections/records';
import { fail, ok, type Result } from '@/lib/core/shared/result';
import { fenceLapsed } from './close-epoch';
import {
  type AcceptedPlan,
  acceptance,
  answeredBefore,
  type CommandAnswer,
  type CommandProblem,
  commandKey,
  type PlannedCommand,
  plannedParts,
} from './command';
import type { UsecaseDeps } from './deps';
import { judgeRun } from './judge-leases';
import { type LoadedPlan, loadPlan } from './load-plan';
import type { WriteContext } from './ports';
import { type HeldBy, holderOf, mirrorOf, noRun } from './problems';
import { stateAt } from './state-at';

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
    const stored = await deps.store.run(runId);
    if (stored === undefined) return fail(noRun(runId));
    const run = await judgeRun(deps, stored);
    if (run.home === 'mirror') return fail(mirrorOf(runId));
    const held = heldNow(run, deps, deps.store.clock.now());
    if (held !== undefined) return fail(held);
    const loaded = await planFor(deps, run, command);
    if (!loaded.ok) return loaded;
    const target =
      command.mode === 'rewind' ? (await stateAt(deps, run, loaded.value.plan.from.seq)).state : undefined;
    const result = await accept(deps, command, requestDigest, loaded.value, target);
    if (result.ok || result.problem.kind !== 'moved') return result as Result<CommandAnswer, CommandProblem>;
  }
  return fail({ kind: 'not-possible', detail: keptMoving });
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
  if (pending === undefined || status !== 'queued' || pending.mode === 'verify') return undefined;
  const { actor, commandId, mode } = pending;
  return { kind: 'held', holder: { workerId: undefined, actor, commandId, mode, since: run.updatedAt } };
}

function accept(
  deps: Deps,
  command: Ask,
  requestDigest: Sha256,
  loaded: LoadedPlan,
  target: RunState | undefined,
) {
  const key = commandKey(command.commandId);
  return deps.store
    .commit<CommandAnswer, CommandProblem | { readonly kind: 'moved' }>({
      runId: loaded.run.runId,
      effectKeys: 'all',
      answerKey: key,
      decide: (context) => {
        const { run, now } = context;
        const before = answeredBefore(context.answer, requestDigest);
        if (!before.ok) return before;
        if (before.value !== undefined) return ok({ value: before.value, change: undefined });
        if (run === undefined) return fail(noRun(loaded.run.runId));
        const held = heldNow(run, deps, now);
        if (held !== undefined) return fail(held);
        if (run.headSeq !== loaded.run.headSeq || context.ledgerVersion !== loaded.ledgerVersion)
          return fail({ kind: 'moved' });
        // A probe under way goes on, and the order queues behind it. Any other lease has lapsed: its holder is fenced,
        // so that nothing it still sends meets what the order decides or where it takes the run.
        const verifying = liveLease(run, now, deps.judgedFrom) !== undefined;
        const base = verifying ? run : fenceLapsed(run);
        const events = eventsOf(command, loaded, run, verifying, deps.actor);
        const change = extend(
          base,
          context.effects,
          events,
          { at: now, epoch: base.epoch, by: 'console' },
          optionsFor(target),
        );
        const value: CommandAnswer = {
          commandId: command.commandId,
          runId: run.runId,
          headSeq: change.run.headSeq,
        };
        const accepted: AcceptedPlan = {
          plan: loaded.plan,
          plannedAt: loaded.plannedAt,
          ...(loaded.plan.machineDigest !== undefined && { machineDigest: loaded.plan.machineDigest }),
          headSeq: change.run.headSeq,
          ledgerVersion: context.ledgerVersion + (change.effects.length > 0 ? 1 : 0),
        };
        const answer = {
          key,
          runId: run.runId,
          requestDigest,
          answer: JSON.stringify({ ...value, accepted }),
          at: now,
        };
        return ok({ value, change: { ...change, payloads: loaded.payloads, answers: [answer] } });
      },
    })
    .then((result) => {
      if (result.ok) deps.engine.wake(loaded.run.runId);
      return result;
    });
}

const optionsFor = (target: RunState | undefined) => (target === undefined ? {} : { stateAt: () => target });

/** Ends what was accepted before and is not carried out: a newer order takes its place. */
export function withdrawals(run: RunRecord, verifying: boolean, detail: string): readonly NewEvent[] {
  const { pending, verifies } = run.state;
  const ids = new Set(verifying ? [] : verifies.map(({ commandId }) => commandId));
  if (pending !== undefined && pending.mode !== 'verify') ids.add(pending.commandId);
  return [...ids].map((id) => ({
    kind: 'command.ended',
    commandId: id as CommandId,
    outcome: 'withdrawn',
    detail,
  }));
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
