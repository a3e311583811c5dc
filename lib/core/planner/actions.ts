import type { EpochMs } from '../events/ids';
import type { PlanFrom } from '../events/run-event';
import { liveLease } from '../journal/lease';
import { openOrder } from '../projections/command-transitions';
import type { EffectRecord, OpenStep, RunRecord, RunState, RunStatus } from '../projections/records';
import { assertNever } from '../shared/assert';
import { copyWords, hasBegun, holderWords, nothingToResume, waitingOrder } from './plan-run';
import { conflictAdvice } from './plan-steps';

export type ActionName = 'resume' | 'rewind' | 'fork' | 'replay' | 'pause' | 'cancel' | 'verify' | 'answer';

/** Possible, or the sentence that says why not. */
export interface Action {
  readonly possible: boolean;
  readonly reason?: string;
}

export interface NextAction {
  readonly action: 'resume' | 'rewind' | 'answer' | 'verify' | 'replay' | 'decide';
  /** Point to start from, for `resume`. */
  readonly from?: PlanFrom;
  readonly sentence: string;
}

/** What surrounds the run and bears on what can be done with it. */
export interface ActionsInput {
  readonly now: EpochMs;
  readonly judgedFrom?: EpochMs;
  /** What the engine that owns the run can do. */
  readonly can: ReadonlySet<string>;
  /** The run's effects in doubt, `doubtsOf`. */
  readonly doubts: readonly EffectRecord[];
  /** Whether a live worker has the agent; absent where nobody has looked. */
  readonly hasWorker?: boolean;
  /** Why whoever asks may give no order; absent where it may. */
  readonly barred?: string;
}

/** Every action, with the reason where it is not possible. Whether an order can be given as it stands is its plan's to say. */
export function actionsOf(
  run: RunRecord,
  status: RunStatus,
  input: ActionsInput,
): Readonly<Record<ActionName, Action>> {
  const why = (name: ActionName, reason: string | undefined): Action => {
    const missing =
      name !== 'answer' && !input.can.has(name) ? `The engine that owns this run cannot ${name}.` : undefined;
    const found = input.barred ?? reason ?? missing;
    return found === undefined ? { possible: true } : { possible: false, reason: found };
  };
  return {
    resume: why(
      'resume',
      notHere(run) ??
        replayOnly(run) ??
        held(run, input) ??
        nothingToResume(status, run.state) ??
        noMachine(run),
    ),
    rewind: why(
      'rewind',
      notHere(run) ??
        replayOnly(run) ??
        held(run, input) ??
        waitingOrder(status, run.state) ??
        notBegun(run) ??
        noMachine(run),
    ),
    fork: why('fork', notBegun(run) ?? noMachine(run)),
    replay: why('replay', notBegun(run) ?? noCode(run, input)),
    pause: why('pause', notHere(run) ?? notRunning(status, run) ?? underWay(run)),
    cancel: why(
      'cancel',
      notHere(run) ?? (hasEnded(status) ? `The run is ${status} already.` : cancelling(run)),
    ),
    verify: why('verify', notHere(run) ?? nothingToVerify(input)),
    answer: why('answer', notHere(run) ?? nothingAsked(run) ?? answerIsLost(status, run)),
  };
}

/** The safest next action; undefined where there is nothing to do but watch. */
export function nextAction(run: RunRecord, status: RunStatus, input: ActionsInput): NextAction | undefined {
  if (input.barred !== undefined) return undefined;
  const actions = actionsOf(run, status, input);
  if (run.home === 'mirror')
    return actions.replay.possible
      ? {
          action: 'replay',
          sentence: 'Nothing outside is touched: replay it, a copy of a run that has its home elsewhere.',
        }
      : undefined;
  const doubts = input.doubts.length;
  if (doubts > 0 && !liveLease(run, input.now, input.judgedFrom)) {
    const what = doubts === 1 ? 'One effect is in doubt' : `${doubts} effects are in doubt`;
    return actions.verify.possible
      ? {
          action: 'verify',
          sentence: `Not sent again until known: ask downstream. ${what}.`,
        }
      : {
          action: 'decide',
          sentence: `Not sent again until decided: say whether ${doubts === 1 ? 'it' : 'they'} happened. ${what}.`,
        };
  }
  // Where a stop stands in the way, an answer alone lets nothing go on.
  if (actions.answer.possible && (status === 'waiting' || status === 'running' || status === 'queued'))
    return {
      action: 'answer',
      sentence: status === 'waiting' ? 'The run waits for an answer.' : 'A question is open: answer it.',
    };
  if (!actions.resume.possible) return undefined;
  const [conflict] = conflictsOf(run.state);
  if (conflict !== undefined)
    return {
      action: 'rewind',
      sentence: `Nothing is sent: ${conflict.name} is confirmed with other arguments than the code asks for now. ${conflictAdvice}`,
    };
  const { checkpoint } = run.state;
  return checkpoint
    ? {
        action: 'resume',
        from: checkpoint.id,
        sentence: `No confirmed effect is sent again: resume from the newest checkpoint, ${checkpoint.n}, ${checkpoint.name}.`,
      }
    : {
        action: 'resume',
        from: 'latest',
        sentence: 'No confirmed effect is sent again: resume from the newest point.',
      };
}

/** Open calls of confirmed effects that ask with other arguments: nothing is sent, and no order to go on gets past them. */
export const conflictsOf = ({ open, stopped }: RunState): readonly OpenStep[] =>
  [...Object.values(open), ...Object.values(stopped)].filter((step) => step.waitsFor === 'conflict');

const notHere = (run: RunRecord): string | undefined =>
  run.home === 'mirror' ? copyWords(run.state) : undefined;

const replayOnly = (run: RunRecord): string | undefined =>
  run.parent?.mode === 'replay'
    ? 'A replay touches nothing outside and does not go on; fork it instead.'
    : undefined;

function held(run: RunRecord, input: ActionsInput): string | undefined {
  const lease = liveLease(run, input.now, input.judgedFrom);
  return lease && lease.mode !== 'verify' ? holderWords(lease) : undefined;
}

function notRunning(status: RunStatus, run: RunRecord): string | undefined {
  if (status === 'running') return undefined;
  return waitingOrder(status, run.state) ?? `The run is ${status}; only a running one can be paused.`;
}

/** A holder carries out one order at a time: a pause takes no other one’s place. */
function underWay(run: RunRecord): string | undefined {
  const order = openOrder(run.state);
  if (order === undefined) return undefined;
  return order.mode === 'pause' || order.mode === 'cancel'
    ? `A ${order.mode} by ${order.actor} is pending already.`
    : `${order.mode} by ${order.actor} is being taken up; the run can be paused once that is done, and cancelled now.`;
}

const cancelling = ({ state: { pending } }: RunRecord): string | undefined =>
  pending?.mode === 'cancel' ? `A cancel by ${pending.actor} is pending already.` : undefined;

const notBegun = (run: RunRecord): string | undefined =>
  hasBegun(run.state) ? undefined : 'The run has not begun.';

const noMachine = (run: RunRecord): string | undefined =>
  run.state.machineDigest === undefined
    ? 'The trace names no machine, so nobody can say which code it would go on with.'
    : undefined;

function noCode(run: RunRecord, input: ActionsInput): string | undefined {
  if (run.state.machineDigest === undefined)
    return 'The trace names no machine, so there is no code to replay it with.';
  return input.hasWorker === false
    ? `No worker that has the agent ${run.state.agent} is connected; a replay needs its code.`
    : undefined;
}

const hasEnded = (status: RunStatus): boolean =>
  status === 'completed' || status === 'failed' || status === 'cancelled';

function nothingToVerify({ doubts }: ActionsInput): string | undefined {
  if (doubts.length === 0) return 'No effect is in doubt.';
  return doubts.some((effect) => effect.intent.verifiable)
    ? undefined
    : 'The tool has no probe to ask downstream: decide.';
}

const nothingAsked = (run: RunRecord): string | undefined =>
  Object.values(run.state.questions).some((question) => question.status === 'open')
    ? undefined
    : 'Nothing is asked.';

/**
 * Whether an answer would reach nobody. A run that waits is queued by it, a holder hears of it, and what was stopped
 * without having ended gives it to its code once it is resumed.
 */
function answerIsLost(status: RunStatus, run: RunRecord): string | undefined {
  switch (status) {
    case 'queued':
    case 'running':
    case 'waiting':
      return replayOnly(run);
    case 'paused':
    case 'interrupted':
      return replayOnly(run) ?? noMachine(run);
    case 'completed':
      return 'The run has completed; nobody waits for the answer.';
    case 'cancelled':
      return 'The run was cancelled; nobody waits for the answer.';
    case 'failed':
      return 'The run has failed; resume it first, the question stands.';
    case 'unknown':
      return 'The trace does not say how the run ended.';
    default:
      return assertNever(status, 'run status');
  }
}
