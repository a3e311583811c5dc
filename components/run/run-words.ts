import { moment, sentence } from '@/components/ui/format';
import type { Zone } from '@/components/ui/zone';
import type { ApiProblem } from '@/lib/client/api';
import type { RunAction, RunSummary } from '@/lib/client/api-types';
import type { EndedOrder } from '@/lib/client/order-events';
import { callIn } from '@/lib/core/events/step-key';
import { phaseWord } from './views';

/* What a run waits for and why it stands, in words: one place for the list and the page. */

/** What came instead of what was asked for. */
export const answerWords = ({ status, detail }: Pick<ApiProblem, 'status' | 'detail'>): string =>
  sentence(status === 0 ? detail : `The console answered ${status}: ${detail}`);

/** Why the action cannot be taken now; undefined where it can. */
export const impossibleNow = (
  { actions }: Pick<RunSummary, 'actions'>,
  action: RunAction,
): string | undefined =>
  actions[action].possible ? undefined : (actions[action].reason ?? 'Not possible now');

export interface Standing {
  /** After "resume accepted", in a row. */
  readonly short: string;
  /** After "resume accepted from anna;", on the page. */
  readonly sentence: string;
}

type Orders = Pick<RunSummary, 'agent' | 'holder' | 'pending' | 'unclaimed'>;

/** `hasWorker`: whether a worker with the run's agent is connected; undefined where that is not known. */
export function orderStanding(
  { agent, holder, pending, unclaimed }: Orders,
  hasWorker: boolean | undefined,
): Standing | undefined {
  if (pending === null) return undefined;
  const probes = holder?.mode === 'verify';
  switch (pending.mode) {
    case 'pause':
    case 'cancel':
      if (holder && !probes)
        return {
          short: 'stops at its next point',
          sentence: `worker ${holder.workerId} stops at its next point.`,
        };
      // An order to stop is given to a holder; one that nobody holds any more was given to a worker that was lost.
      return {
        short: 'its worker was lost',
        sentence: 'the worker that was told was lost before it stopped; nothing runs.',
      };
    case 'verify':
      if (holder)
        return {
          short: 'asks downstream',
          sentence: `worker ${holder.workerId} asks downstream.`,
        };
      return {
        short: 'waits for a worker that can ask',
        sentence:
          hasWorker === false
            ? `no worker that has the agent ${agent} is connected; downstream is asked once one with this tool’s probe comes.`
            : 'a worker with this tool’s probe asks downstream as soon as it is free.',
      };
    default:
      if (probes)
        return {
          short: 'waits for a probe to end',
          sentence: `it starts once worker ${holder?.workerId} has asked downstream.`,
        };
      if (holder)
        return {
          short: 'is being carried out',
          sentence: `worker ${holder.workerId} carries it out.`,
        };
      return {
        short: 'waits for a worker',
        sentence:
          unclaimed?.sentence ?? `it starts as soon as a worker with the planned code of ${agent} is free.`,
      };
  }
}

type Waits = Pick<RunSummary, 'phase' | 'effectsInDoubt' | 'conflicts' | 'questions'>;

/** What the run does or waits for. A person is asked by a question; a doubt and a conflict are for one to decide. */
export function phaseOf({ phase, effectsInDoubt: doubts, conflicts, questions }: Waits): string {
  if (phase !== 'waiting_human' || questions.length > 0) return phaseWord[phase];
  const [conflict] = conflicts;
  if (conflict !== undefined) return `blocked at ${callIn(conflict)}, confirmed with other arguments`;
  return doubts === 0 ? phaseWord[phase] : doubts === 1 ? 'a doubt to decide' : `${doubts} doubts to decide`;
}

/** The nearest time by which an answer is wanted. */
function answerBy(questions: Waits['questions'], zone: Zone): string {
  const ends = questions.flatMap(({ status, inForce, until }) =>
    status === 'open' && inForce && until !== null ? [Date.parse(until)] : [],
  );
  return ends.length === 0 ? '' : `, answer by ${moment(Math.min(...ends), zone)}`;
}

export interface RunTimes {
  /** When the run itself began, an ISO instant. What a fork copied began with its parent. */
  readonly at: string;
  /** How long it had taken at its newest event. A copy that does not say how it ended has taken nobody knows how long. */
  readonly ms?: number;
  /** It takes longer with every second. */
  readonly goesOn: boolean;
}

type Timed = Pick<
  RunSummary,
  'status' | 'home' | 'lineage' | 'createdAt' | 'startedAt' | 'updatedAt' | 'endedAt'
>;

/** Whether a run takes longer with every second: a worker has it, or it waits for one, for a person or for a timer. */
export const goesOn = (status: RunSummary['status']): boolean =>
  status === 'running' || status === 'waiting' || status === 'queued';

/** Undefined before it began. */
export function timesOf(run: Timed): RunTimes | undefined {
  if (run.startedAt === null) return undefined;
  if (run.home !== 'here' && run.endedAt === null) return { at: run.startedAt, goesOn: false };
  // A copy was made here when it was uploaded.
  const at = run.lineage.parent !== null && run.home === 'here' ? run.createdAt : run.startedAt;
  const ms = Date.parse(run.endedAt ?? run.updatedAt) - Date.parse(at);
  return { at, ms, goesOn: goesOn(run.status) && run.endedAt === null };
}

/** How long it has taken at `now`: never less than its events tell, whatever the clock here shows. */
export const takenAt = (times: RunTimes, ms: number, now: number): number =>
  times.goesOn ? Math.max(ms, now - Date.parse(times.at)) : ms;

type Row = Orders & Waits & Pick<RunSummary, 'status' | 'home' | 'failure' | 'interruption'>;

/** What the run does or why it stopped, in a few words. */
export function situationOf(run: Row, zone: Zone): string {
  const doubt = run.effectsInDoubt > 0 ? ', outcome unknown' : '';
  const order = run.home === 'here' ? orderStanding(run, undefined) : undefined;
  const accepted = order && `${run.pending?.mode} accepted, ${order.short}`;
  switch (run.status) {
    case 'failed':
      return run.failure?.error.message ?? '';
    case 'interrupted': {
      if (accepted !== undefined) return `${accepted}${doubt}`;
      return `${interruptedInShort(run.interruption?.cause)}${doubt}`;
    }
    case 'completed':
    case 'cancelled':
    case 'unknown':
      return '';
    case 'queued':
      return accepted ?? 'waits for a worker';
    case 'running':
    case 'waiting':
    case 'paused':
      return (
        accepted ?? `${phaseOf(run)}${run.phase === 'waiting_human' ? answerBy(run.questions, zone) : ''}`
      );
  }
}

function interruptedInShort(cause: string | undefined): string {
  switch (cause) {
    case 'hand-over':
      return 'worker stopped';
    case 'order-refused':
      return 'order refused, its plan had changed';
    case 'recorded':
      return 'the trace ends here';
    default:
      return 'worker lost';
  }
}

/** Why nothing runs though nothing went wrong; `order` is the newest one that ended. Undefined while there is none to tell. */
export function restWords(
  run: Pick<RunSummary, 'status' | 'pending' | 'pausedBefore' | 'agent' | 'home' | 'unclaimed'>,
  order: EndedOrder | undefined,
): string | undefined {
  if (run.home !== 'here') return undefined;
  const by = (mode: 'pause' | 'cancel') =>
    order?.accepted.mode === mode && order.ended.outcome === 'done'
      ? sentence(
          ` by ${order.accepted.actor}${order.accepted.reason === '' ? '' : `, reason: ${order.accepted.reason}`}`,
        )
      : undefined;
  switch (run.status) {
    case 'queued':
      if (run.pending !== null) return undefined;
      return run.unclaimed === null
        ? `Queued: it goes on as soon as a worker with the code of ${run.agent} is free.`
        : `Queued. ${run.unclaimed.sentence}`;
    case 'paused':
      return run.pausedBefore === null ? `Paused${by('pause') ?? '.'}` : undefined;
    case 'cancelled':
      return `Cancelled${by('cancel') ?? '.'}`;
    default:
      return undefined;
  }
}
