import type { Seq, StepKey } from '../events/ids';
import type { EventOf, RunEvent, Usage } from '../events/run-event';
import { isOutcome } from './answers';
import { inForce, segmentsAt } from './effective-path';
import type { OpenStep, RunState, StepRecord } from './records';
import { omit, only, own, type Transition, withSteps } from './state-change';
import { label } from './step-label';

/* What a step's attempts and their outcomes do. */

/** The step as the state knows it, where it was started before: one that ended is known by its row alone. */
export const startedBefore = (state: RunState, key: StepKey): OpenStep | undefined =>
  openOrStopped(state, key) ?? own(state.unhandled, key);

export function stepStarted(state: RunState, event: EventOf<'step.started'>): Transition {
  const key = event.stepKey;
  const known = startedBefore(state, key);
  const before = known ?? event.endedBefore;
  const step: Mutable<OpenStep> = {
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
  };
  if (event.effect) step.effect = event.effect;
  if (event.input) step.input = event.input;
  if (event.conversation !== undefined) step.conversation = event.conversation;
  if (event.intent) step.intent = event.intent;
  if (event.api !== undefined) step.api = event.api;
  if (event.model !== undefined) step.model = event.model;
  if (event.step === 'wait') step.waitsFor = 'timer';
  const again = known === undefined ? event.endedBefore?.counted === true : known.status === 'failed';
  const repeated = before !== undefined && before.executions > 0 && event.attempt <= before.attempt;
  const counts =
    again || repeated
      ? {
          ...state.counts,
          steps: state.counts.steps - (again ? 1 : 0),
          repeatedAttempts: state.counts.repeatedAttempts + (repeated ? 1 : 0),
        }
      : state.counts;
  return withSteps(
    {
      ...state,
      open: { ...state.open, [key]: step },
      stopped: omit(state.stopped, key),
      unhandled: omit(state.unhandled, key),
      counts,
    },
    [step],
  );
}

export const openOrStopped = (state: RunState, key: StepKey): OpenStep | undefined =>
  own(state.open, key) ?? own(state.stopped, key);

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

/** The same of a step that was done: an attempt that failed before is not told by the row. */
function closedWell(step: OpenStep, event: RunEvent): Mutable<StepRecord> {
  if (isPlain(step)) return { ...step, endedSeq: event.seq, endedAt: event.at };
  const { failure: _failure, error: _error, ...row } = closed(step, event);
  return row;
}

/** Nothing is to be left out of its row. */
const isPlain = (step: OpenStep): boolean =>
  step.waitsFor === undefined &&
  step.settled === undefined &&
  step.failure === undefined &&
  step.error === undefined;

/** A record while it is built: member by member, which takes less time than spreads of what may be absent. */
type Mutable<Value> = { -readonly [Name in keyof Value]: Value[Name] };

/** The counts with what a completed step told. What has a usage called a model, whatever its kind. */
function withUsage(
  before: RunState['counts'],
  step: OpenStep | undefined,
  usage: Usage | undefined,
): Mutable<RunState['counts']> {
  const counts: Mutable<RunState['counts']> = { ...before };
  for (const name of ['inputTokens', 'outputTokens', 'costMicroUsd'] as const) {
    const told = usage?.[name];
    if (told !== undefined) counts[name] = (counts[name] ?? 0) + told;
  }
  if (usage?.costMicroUsd === undefined && (usage !== undefined || step?.kind === 'llm')) counts.unpriced++;
  return counts;
}

export function stepCompleted(state: RunState, event: EventOf<'step.completed'>, rows: boolean): Transition {
  const step = openOrStopped(state, event.stepKey);
  const usage = event.usage;
  const counts = withUsage(state.counts, step, usage);
  // Without a start there is no row of it either.
  if (step !== undefined) counts.steps += 1;
  const api = step?.api;
  const { open, stopped, questions } = ended(state, event.stepKey);
  const after: RunState = {
    ...state,
    open,
    stopped,
    questions,
    counts,
    lastEndedStep: label(step?.name, event.stepKey),
    apis:
      api === undefined
        ? state.apis
        : {
            ...state.apis,
            [api]: { status: 'ok' as const, lastCall: 'completed' as const, seq: event.seq, failures: 0 },
          },
  };
  if (step === undefined || !rows) return only(after);
  const row = closedWell(step, event);
  row.status = event.recorded ? 'completed' : 'not-recorded';
  row.attempt = event.attempt;
  if (event.result) row.result = event.result;
  if (event.message) row.message = event.message;
  if (event.receipt !== undefined) row.receipt = event.receipt;
  if (usage) row.usage = usage;
  if (event.verdict) row.verdict = event.verdict;
  if (event.problem !== undefined) row.error = { type: 'NotRecorded', message: event.problem };
  return withSteps(after, [row]);
}

export function stepFailed(state: RunState, event: EventOf<'step.failed'>): Transition {
  const step = openOrStopped(state, event.stepKey);
  const api = step?.api;
  const apis =
    api === undefined
      ? state.apis
      : {
          ...state.apis,
          [api]: {
            status: own(state.apis, api)?.status ?? ('ok' as const),
            lastCall: event.failure,
            seq: event.seq,
            failures: (own(state.apis, api)?.failures ?? 0) + 1,
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
      unhandled: { ...omit(state.unhandled, event.stepKey), [event.stepKey]: last },
      lastEndedStep: label(step.name, event.stepKey),
    },
    [last],
  );
}

/** An answer from the record; a resume's thin note of one changes nothing. */
export function answered(
  state: RunState,
  event: EventOf<'step.reused'> | EventOf<'step.skipped'>,
): Transition {
  const before = openOrStopped(state, event.stepKey);
  const isInForce = (at: Seq) => inForce(at, segmentsAt(state.rewinds, event.seq));
  if (!isOutcome(event, { isOpen: before !== undefined, isInForce })) return only(state);
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
    ...(event.kind === 'step.reused' && event.failure && { failure: event.failure }),
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
