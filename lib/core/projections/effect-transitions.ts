import type { Seq, StepKey } from '../events/ids';
import type { EventOf } from '../events/run-event';
import type { OpenStep, RunState } from './records';
import { omit, only, own, type Transition, without, withSteps } from './state-change';
import { nameInKey } from './step-label';
import { openOrStopped } from './step-transitions';

/* What answers about an effect do to its step; the ledger has its own fold, `ledger.ts`. */

/** An effect's doubt is over: the step stays open until the run goes on and records its outcome. */
export function settled(
  state: RunState,
  key: StepKey,
  intentSeq: Seq,
  outcome: 'happened' | 'did-not-happen',
): Transition {
  const step = openOrStopped(state, key);
  if (step === undefined || step.attemptSeq !== intentSeq || step.status === 'failed') return only(state);
  const now: OpenStep = { ...without(step, 'waitsFor'), status: 'waiting', settled: outcome };
  return placed(state, key, now);
}

/** Something says that it happened after all, and not what it answered: it waits for a person. */
export function doubtfulAgain(state: RunState, key: StepKey, intentSeq: Seq): Transition {
  const step = openOrStopped(state, key);
  if (step?.settled === undefined || step.attemptSeq !== intentSeq) return only(state);
  const open = without(step, 'settled');
  return placed(state, key, step.effect === 'external' ? { ...open, status: 'in-doubt' } : open);
}

/** What was waited for at this step is known. */
function placed(state: RunState, key: StepKey, now: OpenStep): Transition {
  const where = own(state.open, key) ? 'open' : 'stopped';
  const waitingOn =
    now.settled === undefined
      ? state.waitingOn
      : state.waitingOn.filter((on) => on.stepKey !== key || on.for !== 'in-doubt');
  return withSteps({ ...state, waitingOn, [where]: { ...state[where], [key]: now } }, [now]);
}

/** Asked with other arguments than those that were confirmed: nothing is sent, the step stands open. */
export function conflict(state: RunState, event: EventOf<'effect.conflict'>): Transition {
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
