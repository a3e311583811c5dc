import type { EventOf } from '../events/run-event';
import type { OpenStep, QuestionRecord, RunState } from './records';
import { noSteps, only, own, type Transition, without } from './state-change';

export function asked(state: RunState, event: EventOf<'question.asked'>): Transition {
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
  const step = own(state.open, event.stepKey);
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
export function questionEnded(
  state: RunState,
  event: EventOf<'question.answered'> | EventOf<'question.expired'>,
): Transition {
  const question = own(state.questions, event.questionId);
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
  const where = own(state.open, event.stepKey) ? 'open' : 'stopped';
  const step = own(state[where], event.stepKey);
  if (step === undefined)
    return { state: { ...state, questions, waitingOn }, steps: noSteps, questions: [now] };
  const next: OpenStep = { ...without(step, 'waitsFor'), status: where === 'open' ? 'running' : 'waiting' };
  return {
    state: { ...state, questions, waitingOn, [where]: { ...state[where], [event.stepKey]: next } },
    steps: [next],
    questions: [now],
  };
}
