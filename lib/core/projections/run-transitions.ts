import type { EventOf, RunEvent, WaitingOn } from '../events/run-event';
import type { OpenStep, RunState, StepRecord } from './records';
import { own, type Transition, without, withSteps } from './state-change';
import { endedBy } from './went-on';

/* What the events of a run as a whole do: it starts, waits, stops, and goes on. */

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
export const goesOn = (state: RunState, event: RunEvent): boolean =>
  (state.status === 'waiting' || state.status === 'paused') &&
  event.by === 'worker' &&
  activity.has(event.kind);

export function started(state: RunState, event: EventOf<'run.started'>): RunState {
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

/** A doubt that was settled while the worker parked is waited for no more. */
export function waiting(state: RunState, event: EventOf<'run.waiting'>): Transition {
  const isSettled = (on: WaitingOn) => own(state.open, on.stepKey)?.settled !== undefined;
  let open = state.open;
  const changed: StepRecord[] = [];
  for (const on of event.on) {
    const step = own(open, on.stepKey);
    if (step === undefined || isSettled(on) || step.waitsFor === on.for) continue;
    const now: OpenStep = {
      ...step,
      waitsFor: on.for,
      status: on.for === 'in-doubt' ? 'in-doubt' : 'waiting',
    };
    open = { ...open, [on.stepKey]: now };
    changed.push(now);
  }
  const waitingOn = event.on.filter((on) => on.for !== 'in-doubt' || !isSettled(on));
  return withSteps({ ...state, status: 'waiting', waitingOn, open }, changed);
}

/** A stop closes what is open as unknown; effects that had left are in doubt; questions stay asked. */
export function stopped(state: RunState, event: RunEvent): Transition {
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

/**
 * What a stop closed is open again. A revival takes the doubt back that only the stop had raised, and takes up the order
 * again that was withdrawn with it.
 */
export function resumed(state: RunState, event: EventOf<'run.resumed'>): Transition {
  const order = event.revived ? state.interruption?.order : undefined;
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
      ...(order !== undefined && order.commandId === event.commandId && { pending: order }),
      status: 'running',
      open,
      stopped: stillStopped,
      waitingOn: [],
      finished: false,
      diverged: false,
      workerId: event.workerId,
    },
    changed,
  );
}

export function failed(state: RunState, event: EventOf<'run.failed'>): Transition {
  // Where the run names no step, it is the last failure after which nothing went on: code may wrap what it rethrows.
  const ended = event.cause === 'error' ? endedBy(state.unhandled, event.stepKey) : undefined;
  const named = event.stepKey ?? ended?.stepKey;
  const culprit = ended && { [ended.stepKey]: ended };
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
        ...(named && { stepKey: named }),
      },
      stopped: { ...state.stopped, ...culprit },
    },
    event,
  );
}
