import type { EpochMs } from '../events/ids';
import type { PlanFrom } from '../events/run-event';
import { liveLease } from '../journal/lease';
import type { RunRecord, RunStatus } from '../projections/records';
import { hasBegun, nothingToResume } from './plan-run';

export type ActionName = 'resume' | 'rewind' | 'fork' | 'replay' | 'pause' | 'cancel' | 'verify' | 'answer';

/** Possible, or the sentence that says why not. */
export interface Action {
  readonly possible: boolean;
  readonly reason?: string;
}

export interface NextAction {
  readonly action: 'resume' | 'answer' | 'verify' | 'replay' | 'decide';
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
  /** Effects in doubt that have a probe; absent where nobody has looked. */
  readonly verifiable?: number;
  /** Whether a live worker has the agent; absent where nobody has looked. */
  readonly hasWorker?: boolean;
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
    const found = reason ?? missing;
    return found === undefined ? { possible: true } : { possible: false, reason: found };
  };
  return {
    resume: why(
      'resume',
      notHere(run) ?? replayOnly(run) ?? held(run, input) ?? nothingToResume(status, run.state),
    ),
    rewind: why('rewind', notHere(run) ?? replayOnly(run) ?? held(run, input) ?? notBegun(run)),
    fork: why('fork', notBegun(run)),
    replay: why('replay', notBegun(run) ?? noCode(run, input)),
    pause: why(
      'pause',
      notHere(run) ??
        (status === 'running' ? undefined : `The run is ${status}; only a running one can be paused.`) ??
        stopping(run),
    ),
    cancel: why('cancel', notHere(run) ?? (hasEnded(status) ? `The run is ${status} already.` : undefined)),
    verify: why('verify', notHere(run) ?? nothingToVerify(run, input)),
    answer: why('answer', notHere(run) ?? (openQuestions(run) > 0 ? undefined : 'Nothing is asked.')),
  };
}

/** The safest next action; undefined where there is nothing to do but watch. */
export function nextAction(run: RunRecord, status: RunStatus, input: ActionsInput): NextAction | undefined {
  const actions = actionsOf(run, status, input);
  if (run.home === 'mirror')
    return actions.replay.possible
      ? {
          action: 'replay',
          sentence: 'A copy of a run that has its home elsewhere: replay it, nothing outside is touched.',
        }
      : undefined;
  if (run.inDoubt > 0 && !liveLease(run, input.now, input.judgedFrom)) {
    const what = run.inDoubt === 1 ? 'One effect is in doubt' : `${run.inDoubt} effects are in doubt`;
    return actions.verify.possible
      ? {
          action: 'verify',
          sentence: `${what}: ask downstream whether it happened before anything is sent again.`,
        }
      : { action: 'decide', sentence: `${what}: say whether it happened before anything is sent again.` };
  }
  if (actions.answer.possible) return { action: 'answer', sentence: 'The run waits for an answer.' };
  if (!actions.resume.possible) return undefined;
  const { checkpoint } = run.state;
  return checkpoint
    ? {
        action: 'resume',
        from: checkpoint.id,
        sentence: `Resume from checkpoint ${checkpoint.n}, ${checkpoint.name}. Safest: the newest, what is recorded is not repeated.`,
      }
    : {
        action: 'resume',
        from: 'latest',
        sentence: 'Resume from the newest point: what is recorded is not repeated.',
      };
}

const notHere = (run: RunRecord): string | undefined =>
  run.home === 'mirror' ? 'This is a copy; the run has its home elsewhere. Replay or fork it.' : undefined;

const replayOnly = (run: RunRecord): string | undefined =>
  run.parent?.mode === 'replay'
    ? 'A replay touches nothing outside and does not go on; fork it instead.'
    : undefined;

function held(run: RunRecord, input: ActionsInput): string | undefined {
  const lease = liveLease(run, input.now, input.judgedFrom);
  return lease && lease.mode !== 'verify'
    ? `Held by ${lease.workerId} since ${new Date(lease.since).toISOString()}.`
    : undefined;
}

/** A holder carries out one order to stop: a pause takes no cancel’s place, and no other pause’s. */
function stopping(run: RunRecord): string | undefined {
  const { pending } = run.state;
  if (pending?.mode === 'cancel') return `A cancel by ${pending.actor} is pending.`;
  return pending?.mode === 'pause' ? `A pause by ${pending.actor} is pending already.` : undefined;
}

const notBegun = (run: RunRecord): string | undefined =>
  hasBegun(run.state) ? undefined : 'The run has not begun.';

function noCode(run: RunRecord, input: ActionsInput): string | undefined {
  if (run.state.machineDigest === undefined)
    return 'The trace names no machine, so there is no code to replay it with.';
  return input.hasWorker === false
    ? `No worker that has the agent ${run.state.agent} is connected; a replay needs its code.`
    : undefined;
}

const hasEnded = (status: RunStatus): boolean =>
  status === 'completed' || status === 'failed' || status === 'cancelled';

function nothingToVerify(run: RunRecord, input: ActionsInput): string | undefined {
  if (run.inDoubt === 0) return 'No effect is in doubt.';
  return input.verifiable === 0 ? 'The tool has no probe to ask downstream; decide by hand.' : undefined;
}

const openQuestions = (run: RunRecord): number =>
  Object.values(run.state.questions).filter((question) => question.status === 'open').length;
