import { type EpochMs, epochMs, type Seq, type StepKey, seq } from '../events/ids';
import type { PayloadRef } from '../events/payload';
import type { EventOf, RunEvent } from '../events/run-event';
import { visitOf, within } from '../events/step-key';
import { lapsed } from '../journal/lapsed';
import { assertNever } from '../shared/assert';
import { namesIn } from '../shared/json-pointer';
import { inForce, segmentsAt } from './effective-path';
import {
  type OpenStep,
  type Phase,
  phases,
  type QuestionRecord,
  type RunRecord,
  type RunState,
  type RunStatus,
  type StepRecord,
} from './records';

/*
 * The fold of a run. `transition` is the one place that says what an event does; it also gives the step and question
 * rows that the event changed, so that stored rows and folded state cannot tell two stories. Each event costs one copy
 * of the state's top level and of the small map that it touches: what is open, the machine's states, the variables.
 */

/** A run before its first event. */
export function emptyState(agent = ''): RunState {
  return {
    seq: seq(0),
    at: epochMs(0),
    line: 0,
    status: 'queued',
    agent,
    tags: [],
    visits: {},
    edges: {},
    variables: {},
    messages: { count: 0, headSeq: seq(0) },
    counts: {
      steps: 0,
      failedAttempts: 0,
      repeatedAttempts: 0,
      visits: 0,
      checkpoints: 0,
      inputTokens: 0,
      outputTokens: 0,
      costMicroUsd: 0,
    },
    open: {},
    stopped: {},
    questions: {},
    apis: {},
    waitingOn: [],
    diverged: false,
    finished: false,
    othersSeq: seq(0),
    verifies: [],
    rewinds: [],
  };
}

/** What one event does: the state after it, and the rows that it changed. */
export interface Transition {
  readonly state: RunState;
  readonly steps: readonly StepRecord[];
  readonly questions: readonly QuestionRecord[];
}

/** One event of the effective path. Throws only for `run.rewound`, which needs `rewindState`. */
export const applyEvent = (state: RunState, event: RunEvent): RunState =>
  transition(state, event, false).state;

/** Like `applyEvent`, with the rows that changed. `rows: false` spares building the row of a completed step. */
export function transition(before: RunState, event: RunEvent, rows = true): Transition {
  const base = goesOn(before, event) ? { ...before, status: 'running' as const, waitingOn: [] } : before;
  const change = effectOf(base, event, rows);
  // What a case built is nobody else's yet, so the position is set in place: a second copy would double the fold's cost.
  const state: Positioned = change.state === before ? { ...before } : change.state;
  state.seq = event.seq;
  state.at = event.at;
  if (event.by === 'console') state.othersSeq = event.seq;
  return { state, steps: change.steps, questions: change.questions };
}

type Positioned = RunState & { seq: Seq; at: EpochMs; othersSeq: Seq };

/** What the event does, its position apart. Gives `state` itself or an object built here. */
function effectOf(state: RunState, event: RunEvent, rows: boolean): Transition {
  switch (event.kind) {
    case 'run.queued':
      return only({
        ...without(state, 'endedAt'),
        status: 'queued',
        finished: false,
        waitingOn: [],
        queue: {
          reason: event.reason,
          seq: event.seq,
          ...(event.commandId && { commandId: event.commandId }),
        },
      });
    case 'run.started':
      return only(started(state, event));
    case 'run.waiting':
      return waiting(state, event);
    case 'run.paused':
      return only({
        ...without(state, 'pausedBefore'),
        status: 'paused',
        ...(event.before !== undefined && { pausedBefore: event.before }),
      });
    case 'run.interrupted':
      return stopped(
        {
          ...state,
          status: 'interrupted',
          interruption: {
            cause: event.cause,
            seq: event.seq,
            ...(event.workerId && { workerId: event.workerId }),
          },
        },
        event,
      );
    case 'run.resumed':
      return resumed(state, event);
    case 'run.rewound':
      throw new Error('Broken invariant: run.rewound is folded by rewindState');
    case 'run.completed':
      return closeScope(
        { ...state, status: 'completed', finished: true, endedAt: event.at, waitingOn: [] },
        undefined,
        event,
      );
    case 'run.failed':
      return failed(state, event);
    case 'run.cancelled':
      return stopped({ ...state, status: 'cancelled', finished: true, endedAt: event.at }, event);
    case 'state.entered':
      return only(entered(state, event));
    case 'state.left':
      return closeScope(without(left(state, event), 'lastFailed'), event.key, event);
    case 'scope.left':
      return closeScope(state, event.scope, event);
    case 'step.started':
      return stepStarted(state, event);
    case 'step.completed':
      return stepCompleted(state, event, rows);
    case 'step.failed':
      return stepFailed(state, event);
    case 'step.reused':
    case 'step.skipped':
      return isAudit(state, event) ? only(state) : answered(state, event);
    case 'value.recorded':
    case 'context.compacted':
      return only(state);
    case 'api.unavailable':
      return only({
        ...state,
        apis: {
          ...state.apis,
          [event.api]: {
            status: 'unavailable',
            lastCall: event.failure,
            seq: event.seq,
            failures: event.failures,
          },
        },
      });
    case 'api.recovered':
      return only({
        ...state,
        apis: {
          ...state.apis,
          [event.api]: { status: 'ok', lastCall: 'completed', seq: event.seq, failures: 0 },
        },
      });
    case 'variables.patched':
      return only({ ...state, variables: patched(state.variables, event) });
    case 'message.appended':
      return only({ ...state, messages: { count: state.messages.count + 1, headSeq: event.seq } });
    case 'checkpoint.saved': {
      const n = state.counts.checkpoints + 1;
      return only({
        ...state,
        counts: { ...state.counts, checkpoints: n },
        checkpoint: {
          id: checkpointId(event.seq),
          n,
          seq: event.seq,
          entrySeq: event.entrySeq,
          name: event.name,
        },
      });
    }
    case 'effect.verified':
      return event.outcome === 'unknown' ||
        (event.source === 'late-worker' && event.outcome === 'did-not-happen')
        ? only(state)
        : settled(state, event.stepKey, event.intentSeq, event.outcome);
    case 'effect.decided': {
      const { intentSeq, outcome } = event.decision;
      return outcome === 'happened' || outcome === 'did-not-happen'
        ? settled(state, event.stepKey, intentSeq, outcome)
        : only(state);
    }
    case 'effect.conflict':
      return conflict(state, event);
    case 'question.asked':
      return asked(state, event);
    case 'question.answered':
    case 'question.expired':
      return questionEnded(state, event);
    case 'command.accepted':
      return only(accepted(state, event));
    case 'command.ended':
      return only(commandEnded(state, event));
    case 'divergence.found':
      return only({ ...state, diverged: true });
    default:
      return assertNever(event, 'event kind');
  }
}

/** The id of the checkpoint that was saved at `at`. */
export const checkpointId = (at: Seq): string => `cp_${at}`;

/**
 * The state after a rewind: that of `toSeq` on a new line. What was open there is closed as unknown until a worker
 * re-enters. Commands, the count of checkpoints and the rewinds themselves belong to the run as a whole: from `head`.
 */
export function rewindState(at: RunState, event: EventOf<'run.rewound'>, head: RunState): RunState {
  return rewindTransition(at, event, head).state;
}

/** Like `rewindState`, with the rows that the new line opens. */
export function rewindTransition(at: RunState, event: EventOf<'run.rewound'>, head: RunState): Transition {
  const line = head.line + 1;
  const back: Record<string, OpenStep> = {};
  // A final failure that had ended the run at that point: its row stands, and the step is tried again.
  const culprits: Record<string, OpenStep> = {};
  for (const [key, step] of [...Object.entries(at.stopped), ...Object.entries(at.open)]) {
    if (step.status === 'failed') {
      culprits[key] = step;
      continue;
    }
    const waits = step.waitsFor === 'question';
    back[key] = {
      ...without(without(step, 'settled'), 'waitsFor'),
      line,
      status: waits ? 'waiting' : 'unknown',
      ...(waits && { waitsFor: 'question' }),
    };
  }
  const questions: Record<string, QuestionRecord> = {};
  for (const [id, question] of Object.entries(at.questions)) questions[id] = { ...question, line };
  const kept = without(
    without(without(without(without(at, 'endedAt'), 'failure'), 'interruption'), 'lastFailed'),
    'queue',
  );
  const state: RunState = {
    ...without(kept, 'pending'),
    ...(head.pending && { pending: head.pending }),
    ...(head.workerId && { workerId: head.workerId }),
    seq: event.seq,
    at: event.at,
    line,
    status: 'queued',
    counts: { ...at.counts, checkpoints: head.counts.checkpoints },
    open: {},
    stopped: { ...culprits, ...back },
    questions,
    waitingOn: [],
    verifies: head.verifies,
    diverged: false,
    finished: false,
    othersSeq: event.by === 'console' ? event.seq : head.othersSeq,
    rewinds: [...head.rewinds, { seq: event.seq, toSeq: event.toSeq }],
  };
  return { state, steps: Object.values(back), questions: Object.values(questions) };
}

const MARK_EVERY = 256;

/** Folds a journal, rewinds included. `events` ascending from seq 1 (or from `from.seq + 1`). O(events) but for rewinds that reach before `from`. */
export function foldRun(events: readonly RunEvent[], from: RunState = emptyState()): RunState {
  const marks: { readonly index: number; readonly state: RunState }[] = [{ index: 0, state: from }];
  let state = from;
  for (const [index, event] of events.entries()) {
    if (event.kind === 'run.rewound') {
      state = rewindState(stateAmong(events, marks, event.toSeq), event, state);
      marks.push({ index: index + 1, state });
    } else {
      state = applyEvent(state, event);
      if (event.seq % MARK_EVERY === 0) marks.push({ index: index + 1, state });
    }
  }
  return state;
}

/** No rewind lies between a mark and the next one, so the tail after it folds plainly. */
function stateAmong(
  events: readonly RunEvent[],
  marks: readonly { readonly index: number; readonly state: RunState }[],
  at: Seq,
): RunState {
  const mark = marks.findLast((one) => one.state.seq <= at);
  if (!mark) throw new Error(`Broken invariant: the state at ${at} lies before the events at hand`);
  let state = mark.state;
  for (let i = mark.index; ; i++) {
    const event = events[i];
    if (!event || event.seq > at) return state;
    state = applyEvent(state, event);
  }
}

/** The most pressing phase of what is open, and of what a stop left in doubt. */
export function phaseOf(state: RunState): Phase {
  if (state.finished && state.status !== 'failed') return 'finished';
  const found = new Set<Phase>();
  for (const step of Object.values(state.open)) found.add(phaseOfStep(step, state));
  for (const step of Object.values(state.stopped)) if (needsPerson(step)) found.add('waiting_human');
  if (state.waitingOn.some((on) => on.for !== 'timer')) found.add('waiting_human');
  const first = phases.find((phase) => found.has(phase));
  return first ?? (state.finished ? 'finished' : 'idle');
}

const needsPerson = (step: OpenStep): boolean =>
  step.settled === undefined &&
  (step.status === 'in-doubt' || (step.waitsFor !== undefined && step.waitsFor !== 'timer'));

function phaseOfStep(step: OpenStep, state: RunState): Phase {
  if (needsPerson(step)) return 'waiting_human';
  if (step.api !== undefined && state.apis[step.api]?.status === 'unavailable') return 'api_unavailable';
  if (step.status === 'retrying' || step.status === 'unknown') return 'waiting_result';
  switch (step.kind) {
    case 'tool':
    case 'retrieval':
      return 'tool_calling';
    case 'llm':
      return 'llm_calling';
    case 'condition':
    case 'compute':
      return 'condition_check';
    case 'wait':
      return 'waiting_timer';
    case 'human':
    case 'agent':
      return 'waiting_result';
    default:
      return assertNever(step.kind, 'step kind');
  }
}

/**
 * The one expression for a run's status: list, page, API and stream. A running run without a live lease is
 * interrupted, recorded so or not; a mirror of one is unknown. `judgedFrom`: the console's start; nothing is judged
 * within one lease of it.
 */
export function statusNow(run: RunRecord, now: EpochMs, judgedFrom?: EpochMs): RunStatus {
  if (run.state.status !== 'running') return run.state.status;
  if (run.home === 'mirror') return 'unknown';
  return run.lease === undefined || lapsed(run.lease, now, judgedFrom) ? 'interrupted' : 'running';
}

// ── helpers ──────────────────────────────────────────────────────────────────────────────────────────────────────

const noSteps: readonly StepRecord[] = [];
const noQuestions: readonly QuestionRecord[] = [];
const only = (state: RunState): Transition => ({ state, steps: noSteps, questions: noQuestions });
const withSteps = (state: RunState, steps: readonly StepRecord[]): Transition => ({
  state,
  steps,
  questions: noQuestions,
});

/** A copy without one optional member. */
function without<Value extends object, Key extends keyof Value>(
  value: Value,
  key: Key,
): Omit<Value, Key> & { readonly [K in Key]?: never } {
  if (!(key in value)) return value as Omit<Value, Key> & { readonly [K in Key]?: never };
  const copy = { ...value };
  delete copy[key];
  return copy as Omit<Value, Key> & { readonly [K in Key]?: never };
}

function omit<Value>(map: Readonly<Record<string, Value>>, key: string): Readonly<Record<string, Value>> {
  if (map[key] === undefined) return map;
  const copy = { ...map };
  delete copy[key];
  return copy;
}

/** Kinds by which a worker shows that a run which waited goes on. */
const activity: ReadonlySet<RunEvent['kind']> = new Set([
  'state.entered',
  'state.left',
  'scope.left',
  'step.started',
  'step.completed',
  'step.failed',
  'step.reused',
  'step.skipped',
  'value.recorded',
  'variables.patched',
  'message.appended',
] as const);

/** A worker's own doing ends a wait. */
const goesOn = (state: RunState, event: RunEvent): boolean =>
  (state.status === 'waiting' || state.status === 'paused') &&
  event.by === 'worker' &&
  activity.has(event.kind);

function started(state: RunState, event: EventOf<'run.started'>): RunState {
  return {
    ...without(state, 'queue'),
    status: 'running',
    agent: event.agent,
    tags: event.tags,
    startedAt: event.at,
    startSeq: event.seq,
    finished: false,
    ...(event.machineDigest && { machineDigest: event.machineDigest }),
    ...(event.input && { input: event.input }),
    ...(event.workerId && { workerId: event.workerId }),
  };
}

function waiting(state: RunState, event: EventOf<'run.waiting'>): Transition {
  let open = state.open;
  const changed: StepRecord[] = [];
  for (const on of event.on) {
    const step = open[on.stepKey];
    if (step === undefined || step.waitsFor === on.for) continue;
    const now: OpenStep = {
      ...step,
      waitsFor: on.for,
      status: on.for === 'in-doubt' ? 'in-doubt' : 'waiting',
    };
    open = { ...open, [on.stepKey]: now };
    changed.push(now);
  }
  return withSteps({ ...state, status: 'waiting', waitingOn: event.on, open }, changed);
}

/** A stop closes what is open as unknown; effects that had left are in doubt; questions stay asked. */
function stopped(state: RunState, event: RunEvent): Transition {
  const stops: Record<string, OpenStep> = { ...state.stopped };
  const changed: StepRecord[] = [];
  for (const [key, step] of Object.entries(state.open)) {
    const now = closeOpen(step, event);
    stops[key] = now;
    changed.push(now);
  }
  return withSteps({ ...state, open: {}, stopped: stops, waitingOn: [] }, changed);
}

function closeOpen(step: OpenStep, event: RunEvent): OpenStep {
  const stays = step.settled !== undefined || (step.waitsFor !== undefined && step.waitsFor !== 'timer');
  const closed = { ...step, endedSeq: event.seq, endedAt: event.at };
  if (stays) return closed;
  return { ...closed, status: step.effect === 'external' && step.intent ? 'in-doubt' : 'unknown' };
}

/** What a stop closed is open again. A revival takes the doubt back that only the stop had raised. */
function resumed(state: RunState, event: EventOf<'run.resumed'>): Transition {
  const open: Record<string, OpenStep> = { ...state.open };
  const stillStopped: Record<string, OpenStep> = {};
  const changed: StepRecord[] = [];
  for (const [key, step] of Object.entries(state.stopped)) {
    if (step.status === 'failed') {
      stillStopped[key] = step;
      continue;
    }
    const reopened = without(without(step, 'endedSeq'), 'endedAt');
    const stopRaised = step.settled === undefined && step.waitsFor === undefined;
    const now: OpenStep = event.revived && stopRaised ? { ...reopened, status: 'running' } : reopened;
    open[key] = now;
    changed.push(now);
  }
  const cleared = without(without(without(without(state, 'failure'), 'interruption'), 'queue'), 'endedAt');
  return withSteps(
    {
      ...cleared,
      status: 'running',
      open,
      stopped: stillStopped,
      waitingOn: [],
      finished: false,
      workerId: event.workerId,
    },
    changed,
  );
}

function failed(state: RunState, event: EventOf<'run.failed'>): Transition {
  const last = state.lastFailed;
  const culprit = last && last.stepKey === event.stepKey ? { [last.stepKey]: last } : undefined;
  return stopped(
    {
      ...state,
      status: 'failed',
      finished: true,
      endedAt: event.at,
      diverged: state.diverged || event.cause === 'diverged',
      failure: {
        cause: event.cause,
        error: event.error,
        seq: event.seq,
        ...(event.stepKey && { stepKey: event.stepKey }),
      },
      stopped: { ...state.stopped, ...culprit },
    },
    event,
  );
}

function entered(state: RunState, event: EventOf<'state.entered'>): RunState {
  const seen = state.visits[event.state];
  return {
    ...state,
    visit: { key: event.key, state: event.state, visit: event.visit, entrySeq: event.seq, at: event.at },
    visits: {
      ...state.visits,
      [event.state]: { count: (seen?.count ?? 0) + 1, totalMs: seen?.totalMs ?? 0, lastSeq: event.seq },
    },
    edges: event.from === undefined ? state.edges : taken(state.edges, event.from, event.state, event.seq),
    counts: { ...state.counts, visits: state.counts.visits + 1 },
    lastEndedStep: `entering ${nth(event.state, event.visit)}`,
  };
}

function taken(edges: RunState['edges'], from: string, to: string, at: Seq): RunState['edges'] {
  const edge = `${from}→${to}`;
  return { ...edges, [edge]: { count: (edges[edge]?.count ?? 0) + 1, lastSeq: at } };
}

function left(state: RunState, event: EventOf<'state.left'>): RunState {
  const seen = state.visits[event.state];
  if (seen === undefined) return state;
  // Of visits that overlapped (parallel nodes of an imported trace) the next state was entered from the newest.
  if (state.visit?.key !== event.key)
    return event.to === undefined
      ? state
      : { ...state, edges: taken(state.edges, event.state, event.to, event.seq) };
  const spent = Math.max(0, event.at - state.visit.at);
  return { ...state, visits: { ...state.visits, [event.state]: { ...seen, totalMs: seen.totalMs + spent } } };
}

/** Ends everything open below `scope` (everything, where it is absent) as abandoned, its questions with it. */
function closeScope(state: RunState, scope: string | undefined, event: RunEvent): Transition {
  const below = (key: string) => scope === undefined || within(key, scope);
  const changed: StepRecord[] = [];
  let { open, stopped: stops, questions } = state;
  for (const [key, step] of Object.entries(open)) {
    if (!below(key)) continue;
    open = omit(open, key);
    changed.push({ ...step, status: 'abandoned', endedSeq: event.seq, endedAt: event.at });
  }
  for (const [key, step] of Object.entries(stops)) {
    if (!below(key)) continue;
    stops = omit(stops, key);
    if (step.status !== 'failed')
      changed.push({ ...step, status: 'abandoned', endedSeq: event.seq, endedAt: event.at });
  }
  for (const [id, question] of Object.entries(questions))
    if (below(question.stepKey)) questions = omit(questions, id);
  return withSteps({ ...state, open, stopped: stops, questions }, changed);
}

function stepStarted(state: RunState, event: EventOf<'step.started'>): Transition {
  const key = event.stepKey;
  const stoppedBefore = state.stopped[key];
  const failedBefore = state.lastFailed?.stepKey === key ? state.lastFailed : undefined;
  const before = state.open[key] ?? stoppedBefore ?? failedBefore;
  const step: OpenStep = {
    stepKey: key,
    line: state.line,
    name: event.name,
    kind: event.step,
    status: event.step === 'human' || event.step === 'wait' ? 'waiting' : 'running',
    attempt: event.attempt,
    executions: (before?.executions ?? 0) + 1,
    startedSeq: before?.startedSeq ?? event.seq,
    startedAt: before?.startedAt ?? event.at,
    attemptSeq: event.seq,
    inputDigest: event.inputDigest,
    ...(event.effect && { effect: event.effect }),
    ...(event.input && { input: event.input }),
    ...(event.conversation !== undefined && { conversation: event.conversation }),
    ...(event.intent && { intent: event.intent }),
    ...(event.api !== undefined && { api: event.api }),
    ...(event.model !== undefined && { model: event.model }),
    ...(event.step === 'wait' && { waitsFor: 'timer' as const }),
  };
  const again = before?.status === 'failed';
  const repeated = before !== undefined && event.attempt <= before.attempt;
  const base = failedBefore ? without(state, 'lastFailed') : state;
  return withSteps(
    {
      ...base,
      open: { ...state.open, [key]: step },
      stopped: omit(state.stopped, key),
      ...((again || repeated) && {
        counts: {
          ...state.counts,
          steps: state.counts.steps - (again ? 1 : 0),
          repeatedAttempts: state.counts.repeatedAttempts + (repeated ? 1 : 0),
        },
      }),
    },
    [step],
  );
}

const openOrStopped = (state: RunState, key: StepKey): OpenStep | undefined =>
  state.open[key] ?? state.stopped[key];

/** Takes a step out of what is open, with its question. */
function ended(state: RunState, key: StepKey): Pick<RunState, 'open' | 'stopped' | 'questions'> {
  let questions = state.questions;
  for (const [id, question] of Object.entries(questions))
    if (question.stepKey === key) questions = omit(questions, id);
  return { open: omit(state.open, key), stopped: omit(state.stopped, key), questions };
}

function closed(step: OpenStep, event: RunEvent): StepRecord {
  const { waitsFor: _waits, settled: _settled, ...row } = step;
  return { ...row, endedSeq: event.seq, endedAt: event.at };
}

function stepCompleted(state: RunState, event: EventOf<'step.completed'>, rows: boolean): Transition {
  const step = openOrStopped(state, event.stepKey);
  const usage = event.usage;
  const counts = {
    ...state.counts,
    steps: state.counts.steps + 1,
    inputTokens: state.counts.inputTokens + (usage?.inputTokens ?? 0),
    outputTokens: state.counts.outputTokens + (usage?.outputTokens ?? 0),
    costMicroUsd: state.counts.costMicroUsd + (usage?.costMicroUsd ?? 0),
  };
  const api = step?.api;
  const after: RunState = {
    ...state,
    ...ended(state, event.stepKey),
    counts,
    lastEndedStep: label(step?.name, event.stepKey),
    ...(api !== undefined && {
      apis: {
        ...state.apis,
        [api]: { status: 'ok' as const, lastCall: 'completed' as const, seq: event.seq, failures: 0 },
      },
    }),
  };
  if (step === undefined || !rows) return only(after);
  const { failure: _failure, error: _error, ...row } = closed(step, event);
  return withSteps(after, [
    {
      ...row,
      status: event.recorded ? 'completed' : 'not-recorded',
      attempt: event.attempt,
      ...(event.result && { result: event.result }),
      ...(event.message && { message: event.message }),
      ...(event.receipt !== undefined && { receipt: event.receipt }),
      ...(usage && { usage }),
      ...(event.verdict && { verdict: event.verdict }),
      ...(event.problem !== undefined && { error: { type: 'NotRecorded', message: event.problem } }),
    },
  ]);
}

function stepFailed(state: RunState, event: EventOf<'step.failed'>): Transition {
  const step = openOrStopped(state, event.stepKey);
  const api = step?.api;
  const apis =
    api === undefined
      ? state.apis
      : {
          ...state.apis,
          [api]: {
            status: state.apis[api]?.status ?? ('ok' as const),
            lastCall: event.failure,
            seq: event.seq,
            failures: (state.apis[api]?.failures ?? 0) + 1,
          },
        };
  const counts = { ...state.counts, failedAttempts: state.counts.failedAttempts + 1 };
  if (step === undefined) return only({ ...state, apis, counts });
  const tried = { ...step, attempt: event.attempt, failure: event.failure, error: event.error };
  // In doubt is no ending: the step stays open until somebody knows.
  if (step.effect === 'external' && event.failure !== 'rejected' && event.failure !== 'not-sent') {
    const doubtful: OpenStep = { ...tried, status: 'in-doubt', waitsFor: 'in-doubt' };
    return withSteps(
      {
        ...state,
        apis,
        counts,
        open: { ...state.open, [event.stepKey]: doubtful },
        stopped: omit(state.stopped, event.stepKey),
      },
      [doubtful],
    );
  }
  if (!event.final) {
    const retrying: OpenStep = { ...tried, status: 'retrying' };
    return withSteps(
      {
        ...state,
        apis,
        counts,
        open: { ...state.open, [event.stepKey]: retrying },
        stopped: omit(state.stopped, event.stepKey),
      },
      [retrying],
    );
  }
  const last: StepRecord = { ...closed(tried, event), status: 'failed' };
  return withSteps(
    {
      ...state,
      ...ended(state, event.stepKey),
      apis,
      counts: { ...counts, steps: counts.steps + 1 },
      lastFailed: last,
      lastEndedStep: label(step.name, event.stepKey),
    },
    [last],
  );
}

/**
 * A resume's thin note that a recorded outcome answered again: it names an outcome of this run that is in force. An
 * answer from the ledger or from another run is an outcome of its own; it carries its source's run and its result.
 */
function isAudit(state: RunState, event: EventOf<'step.reused'> | EventOf<'step.skipped'>): boolean {
  if (event.sourceSeq === undefined || (event.sourceRunId !== undefined && event.sourceRunId !== event.runId))
    return false;
  if (event.sourceRunId !== undefined && event.result !== undefined) return false;
  if (openOrStopped(state, event.stepKey) !== undefined) return false;
  return event.sourceSeq < event.seq && inForce(event.sourceSeq, segmentsAt(state.rewinds, event.seq));
}

function answered(state: RunState, event: EventOf<'step.reused'> | EventOf<'step.skipped'>): Transition {
  const before = openOrStopped(state, event.stepKey);
  const row: StepRecord = {
    stepKey: event.stepKey,
    line: state.line,
    name: event.name,
    kind: event.step,
    status: event.kind === 'step.reused' ? 'reused' : 'skipped',
    attempt: before?.attempt ?? 1,
    executions: before?.executions ?? 0,
    startedSeq: before?.startedSeq ?? event.seq,
    startedAt: before?.startedAt ?? event.at,
    attemptSeq: before?.attemptSeq ?? event.seq,
    endedSeq: event.seq,
    endedAt: event.at,
    inputDigest: event.inputDigest,
    ...(event.effect && { effect: event.effect }),
    ...(event.input && { input: event.input }),
    ...(event.conversation !== undefined && { conversation: event.conversation }),
    ...(event.result && { result: event.result }),
    ...(before?.intent && { intent: before.intent }),
    ...(event.kind === 'step.reused' && event.message && { message: event.message }),
    ...(event.kind === 'step.reused' && event.error && { error: event.error }),
    ...(event.kind === 'step.reused' && event.verdict && { verdict: event.verdict }),
    ...(event.kind === 'step.skipped' && event.receipt !== undefined && { receipt: event.receipt }),
    source: {
      ...(event.sourceRunId && { runId: event.sourceRunId }),
      ...(event.sourceSeq && { seq: event.sourceSeq }),
    },
  };
  return withSteps(
    {
      ...state,
      ...ended(state, event.stepKey),
      counts: { ...state.counts, steps: state.counts.steps + 1 },
      lastEndedStep: label(event.name, event.stepKey),
    },
    [row],
  );
}

function patched(
  variables: RunState['variables'],
  event: EventOf<'variables.patched'>,
): RunState['variables'] {
  const next: Record<string, PayloadRef> = { ...variables };
  for (const one of event.patch) {
    const name = variableName(one.path);
    if (one.op === 'remove' || one.value === undefined) delete next[name];
    else next[name] = one.value;
  }
  return next;
}

/** First segment of a JSON Pointer, unescaped. */
export const variableName = (pointer: string): string => namesIn(pointer)[0] ?? '';

/** An effect's doubt is over: the step stays open until the run goes on and records its outcome. */
function settled(
  state: RunState,
  key: StepKey,
  intentSeq: Seq,
  outcome: 'happened' | 'did-not-happen',
): Transition {
  const step = openOrStopped(state, key);
  if (step === undefined || step.attemptSeq !== intentSeq || step.status === 'failed') return only(state);
  const now: OpenStep = { ...without(step, 'waitsFor'), status: 'waiting', settled: outcome };
  const where = state.open[key] ? 'open' : 'stopped';
  return withSteps({ ...state, [where]: { ...state[where], [key]: now } }, [now]);
}

/** Asked with other arguments than those that were confirmed: nothing is sent, the step stands open. */
function conflict(state: RunState, event: EventOf<'effect.conflict'>): Transition {
  const before = openOrStopped(state, event.stepKey);
  const name = nameInKey(event.stepKey);
  const step: OpenStep = {
    stepKey: event.stepKey,
    line: state.line,
    name: before?.name ?? name,
    kind: 'tool',
    effect: before?.effect ?? 'external',
    status: 'waiting',
    waitsFor: 'conflict',
    attempt: before?.attempt ?? 1,
    executions: before?.executions ?? 0,
    startedSeq: before?.startedSeq ?? event.seq,
    startedAt: before?.startedAt ?? event.at,
    attemptSeq: before?.attemptSeq ?? event.seq,
    inputDigest: event.askedDigest,
    input: event.asked,
    ...(before?.intent && { intent: before.intent }),
  };
  return withSteps(
    { ...state, open: { ...state.open, [event.stepKey]: step }, stopped: omit(state.stopped, event.stepKey) },
    [step],
  );
}

function asked(state: RunState, event: EventOf<'question.asked'>): Transition {
  const question: QuestionRecord = {
    questionId: event.questionId,
    stepKey: event.stepKey,
    line: state.line,
    question: event.question,
    questionDigest: event.questionDigest,
    askedSeq: event.seq,
    askedAt: event.at,
    status: 'open',
    ...(event.until !== undefined && { until: event.until }),
  };
  const step = state.open[event.stepKey];
  const now: OpenStep | undefined = step && { ...step, status: 'waiting', waitsFor: 'question' };
  return {
    state: {
      ...state,
      questions: { ...state.questions, [event.questionId]: question },
      ...(now && { open: { ...state.open, [event.stepKey]: now } }),
    },
    steps: now ? [now] : noSteps,
    questions: [question],
  };
}

/** An answer to a question that this line does not ask (any more) changes nothing. */
function questionEnded(
  state: RunState,
  event: EventOf<'question.answered'> | EventOf<'question.expired'>,
): Transition {
  const question = state.questions[event.questionId];
  if (question === undefined || question.status !== 'open') return only(state);
  const now: QuestionRecord =
    event.kind === 'question.answered'
      ? {
          ...question,
          status: 'answered',
          answeredBy: event.actor,
          answeredSeq: event.seq,
          answer: event.value,
        }
      : { ...question, status: 'expired', answeredSeq: event.seq };
  const questions = { ...state.questions, [event.questionId]: now };
  const waitingOn = state.waitingOn.filter((on) => on.stepKey !== event.stepKey || on.for !== 'question');
  const where = state.open[event.stepKey] ? 'open' : 'stopped';
  const step = state[where][event.stepKey];
  if (step === undefined)
    return { state: { ...state, questions, waitingOn }, steps: noSteps, questions: [now] };
  const next: OpenStep = { ...without(step, 'waitsFor'), status: where === 'open' ? 'running' : 'waiting' };
  return {
    state: { ...state, questions, waitingOn, [where]: { ...state[where], [event.stepKey]: next } },
    steps: [next],
    questions: [now],
  };
}

function accepted(state: RunState, event: EventOf<'command.accepted'>): RunState {
  const pending = { commandId: event.commandId, mode: event.mode, actor: event.actor, seq: event.seq };
  switch (event.mode) {
    case 'decide':
    case 'answer':
      return state;
    case 'verify': {
      if (event.stepKey === undefined) return state;
      const verify = {
        commandId: event.commandId,
        stepKey: event.stepKey,
        actor: event.actor,
        seq: event.seq,
      };
      return { ...state, verifies: [...state.verifies, verify], pending: state.pending ?? pending };
    }
    case 'resume':
    case 'rewind':
    case 'fork':
    case 'replay':
    case 'pause':
    case 'cancel':
      return { ...state, pending };
    default:
      return assertNever(event.mode, 'command mode');
  }
}

function commandEnded(state: RunState, event: EventOf<'command.ended'>): RunState {
  const verifies = state.verifies.filter((verify) => verify.commandId !== event.commandId);
  const rest = state.pending?.commandId === event.commandId ? without(state, 'pending') : state;
  return { ...rest, verifies };
}

/** "lookup, visit 2": the first visit goes without saying. */
const nth = (name: string, visit: number): string => (visit > 1 ? `${name}, visit ${visit}` : name);
const label = (name: string | undefined, key: StepKey): string =>
  nth(name ?? nameInKey(key), visitOf(key).visit);

/** Name of the call that a key addresses, as it stands in the key. */
function nameInKey(key: StepKey): string {
  const last = key.slice(key.lastIndexOf('/') + 1);
  return last.slice(0, last.lastIndexOf('#'));
}
