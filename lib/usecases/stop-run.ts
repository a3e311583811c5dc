import type { EpochMs, RunId, Sha256 } from '@/lib/core/events/ids';
import type { NewEvent } from '@/lib/core/events/run-event';
import { extend } from '@/lib/core/journal/extend';
import { liveLease } from '@/lib/core/journal/lease';
import { actionsOf } from '@/lib/core/planner/actions';
import type { RunRecord } from '@/lib/core/projections/records';
import { statusNow } from '@/lib/core/projections/run-state';
import { fail, ok, type Result } from '@/lib/core/shared/result';
import { closeEpoch } from './close-epoch';
import {
  acceptance,
  answeredBefore,
  type CommandAnswer,
  type CommandOf,
  type CommandProblem,
  commandKey,
} from './command';
import type { UsecaseDeps } from './deps';
import { judgeRun } from './judge-leases';
import { withdrawals } from './order-recovery';
import { mirrorOf, noRun } from './problems';

type Ask = CommandOf<'pause'> | CommandOf<'cancel'>;

/**
 * `pause` and `cancel`: a live holder is told and carries it out at its next point; a run that nobody holds is
 * stopped at once, and a worker that comes back is fenced. Effects in doubt stay in doubt, visibly.
 */
export async function stopRun(
  deps: Pick<UsecaseDeps, 'store' | 'engine' | 'judgedFrom' | 'actor'>,
  runId: RunId,
  command: Ask,
  requestDigest: Sha256,
): Promise<Result<CommandAnswer, CommandProblem>> {
  const stored = await deps.store.run(runId);
  if (stored === undefined) return fail(noRun(runId));
  await judgeRun(deps, stored);
  const key = commandKey(command.commandId);
  const result = await deps.store.commit<CommandAnswer, CommandProblem>({
    runId,
    effectKeys: 'all',
    answerKey: key,
    decide: (context) => {
      const { run, now } = context;
      const before = answeredBefore(context.answer, requestDigest);
      if (!before.ok) return before;
      if (before.value !== undefined) return ok({ value: before.value, change: undefined });
      if (run === undefined) return fail(noRun(runId));
      if (run.home === 'mirror') return fail(mirrorOf(runId));
      const lease = liveLease(run, now, deps.judgedFrom);
      const held = lease !== undefined && lease.mode !== 'verify';
      const refusal = refusalOf(deps, run, command, now);
      if (refusal !== undefined) return fail(refusal);
      const base = held ? run : closeEpoch(run);
      const events = held ? tellHolder(run, command, deps.actor) : stopNow(run, command, deps.actor);
      const change = extend(base, context.effects, events, { at: now, epoch: base.epoch, by: 'console' });
      const value: CommandAnswer = { commandId: command.commandId, runId, headSeq: change.run.headSeq };
      return ok({
        value,
        change: {
          ...change,
          payloads: [],
          answers: [{ key, runId, requestDigest, answer: JSON.stringify(value), at: now }],
        },
      });
    },
  });
  if (result.ok) deps.engine.wake(runId);
  return result;
}

/** The same sentence as the button that is greyed out. */
function refusalOf(
  deps: Pick<UsecaseDeps, 'engine' | 'judgedFrom'>,
  run: RunRecord,
  { mode }: Ask,
  now: EpochMs,
): CommandProblem | undefined {
  const action = actionsOf(run, statusNow(run, now, deps.judgedFrom), {
    now,
    judgedFrom: deps.judgedFrom,
    can: deps.engine.can,
  })[mode];
  return action.possible
    ? undefined
    : { kind: 'not-possible', detail: action.reason ?? `This run cannot be stopped by ${mode}.` };
}

/** A pause that the holder has not carried out yet ends where a cancel takes its place. */
function tellHolder(run: RunRecord, command: Ask, actor: string): readonly NewEvent[] {
  const displaced =
    run.state.pending?.mode === 'pause' ? withdrawals(run, true, `${command.mode} by ${actor}`) : [];
  return [...displaced, acceptance(command, actor)];
}

function stopNow(run: RunRecord, command: Ask, actor: string): readonly NewEvent[] {
  const { commandId } = command;
  // Whether an effect happened may be asked of a stopped run, too: only what would start it is withdrawn.
  const withdrawn = withdrawals(run, true, `${command.mode} by ${actor}`);
  const stop: NewEvent =
    command.mode === 'pause'
      ? { kind: 'run.paused' }
      : { kind: 'run.cancelled', commandId, ...(command.reason !== '' && { reason: command.reason }) };
  return [
    ...withdrawn,
    acceptance(command, actor),
    stop,
    { kind: 'command.ended', commandId, outcome: 'done' },
  ];
}
