import { type EpochMs, epochMs, type Seq, seq } from '../events/ids';
import type { RunEvent } from '../events/run-event';
import { assertNever } from '../shared/assert';
import { accepted, commandEnded } from './command-transitions';
import { conflict, doubtfulAgain, settled } from './effect-transitions';
import { asked, questionEnded } from './question-transitions';
import type { RunState } from './records';
import { rewindState } from './rewind-state';
import { failed, goesOn, resumed, started, stopped, waiting } from './run-transitions';
import { only, type Transition, without } from './state-change';
import { answered, stepCompleted, stepFailed, stepStarted } from './step-transitions';
import { patched } from './variables';
import { closeScope, entered, left } from './visit-transitions';
import { stillUnhandled } from './went-on';

/*
 * The fold of a run. `transition` is the one place that says what an event does; it also gives the step and question
 * rows that the event changed, so that stored rows and folded state cannot tell two stories. Each event costs one copy
 * of the state's top level and of the small map that it touches: what is open, the machine's states, the variables.
 */

/**
 * Raised with every change of what the fold makes of a journal, so that no state that an older release stored is taken
 * for what this one would say of the same events (promise 8 across releases).
 */
export const FOLD_VERSION = 5;

/** A run before its first event. */
export function emptyState(agent = ''): RunState {
  return {
    fold: FOLD_VERSION,
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
      unpriced: 0,
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
    unhandled: {},
    rewinds: [],
  };
}

/** One event of the effective path. Throws only for `run.rewound`, which needs `rewindState`. */
export const applyEvent = (state: RunState, event: RunEvent): RunState =>
  transition(state, event, false).state;

/** Like `applyEvent`, with the rows that changed. `rows: false` spares building the row of a completed step. */
export function transition(before: RunState, event: RunEvent, rows = true): Transition {
  let base = goesOn(before, event) ? { ...before, status: 'running' as const, waitingOn: [] } : before;
  const unhandled = stillUnhandled(base.unhandled, event);
  if (unhandled !== base.unhandled) base = { ...base, unhandled };
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
      return closeScope(left(state, event), event.key, event);
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
      return answered(state, event);
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
      if (event.outcome === 'happened' && event.result === undefined)
        return doubtfulAgain(state, event.stepKey, event.intentSeq);
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
