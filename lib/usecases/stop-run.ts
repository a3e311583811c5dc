import type { RunId, Sha256 } from '@/lib/core/events/ids';
import type { NewEvent } from '@/lib/core/events/run-event';
import { liveLease } from '@/lib/core/journal/lease';
import type { RunRecord } from '@/lib/core/projections/records';
import { fail, ok, type Result } from '@/lib/core/shared/result';
import { closeEpoch } from './close-epoch';
import { acceptance, type CommandAnswer, type CommandOf, type CommandProblem } from './command';
import type { UsecaseDeps } from './deps';
import { judgedRun } from './judge-leases';
import { withdrawals } from './order-recovery';
import { refusedAction } from './refused-action';
import { orderedRun, writeOrder } from './write-order';

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
  const judged = await judgedRun(deps, runId);
  if (!judged.ok) return judged;
  const { commandId } = command;
  return writeOrder<CommandProblem>(deps, { runId, commandId, requestDigest }, (context) => {
    const found = orderedRun(context, runId);
    if (!found.ok) return found;
    const run = found.value;
    const refusal = refusedAction(deps, context, run, command.mode);
    if (refusal !== undefined) return fail(refusal);
    const lease = liveLease(run, context.now, deps.judgedFrom);
    const held = lease !== undefined && lease.mode !== 'verify';
    return ok(
      held
        ? { base: run, events: tellHolder(run, command, deps.actor) }
        : { base: closeEpoch(run), events: stopNow(run, command, deps.actor) },
    );
  });
}

/** What the holder has not carried out yet ends where a cancel takes its place. */
const tellHolder = (run: RunRecord, command: Ask, actor: string): readonly NewEvent[] => [
  ...withdrawals(run, true, `${command.mode} by ${actor}`),
  acceptance(command, actor),
];

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
