import type { StepKey } from '../events/ids';
import type { EventOf, RunEvent } from '../events/run-event';
import { scopeOf, within } from '../events/step-key';
import { omit, own } from './state-change';

/** Without the final failures that the event shows code to have gone on from: the same map where there are none. */
export function stillUnhandled<Failure>(
  failures: Readonly<Record<string, Failure>>,
  event: RunEvent,
): Readonly<Record<string, Failure>> {
  const before = Object.entries(failures);
  const after = before.filter(([key]) => !wentOn(event, key as StepKey));
  return after.length === before.length ? failures : Object.fromEntries(after);
}

/**
 * The final failures once the event came, as the state's fold has them: for who reads events without folding them. `kept`:
 * what is kept of one.
 */
export function unhandledAfter<Failure>(
  failures: Readonly<Record<string, Failure>>,
  event: RunEvent,
  kept: (failed: EventOf<'step.failed'>) => Failure,
): Readonly<Record<string, Failure>> {
  const still = stillUnhandled(failures, event);
  if (event.kind === 'step.started') return omit(still, event.stepKey);
  if (event.kind === 'step.failed' && event.final)
    return { ...omit(still, event.stepKey), [event.stepKey]: kept(event) };
  return still;
}

/**
 * The failure that ended a run: the one that it names, where its code did not go on from it, else the newest. One that
 * code went on from is an outcome as any other, though the run ended with its error.
 */
export function endedBy<Failure>(
  unhandled: Readonly<Record<string, Failure>>,
  named: StepKey | undefined,
): Failure | undefined {
  return named === undefined ? Object.values(unhandled).at(-1) : own(unhandled, named);
}

/**
 * Whether the event shows that code went on after the final failure of `failed`: it asked for something in that step's
 * scope, or in one above. The end of a scope is no call of the one above it, and a sibling branch knows nothing of it.
 */
function wentOn(event: RunEvent, failed: StepKey): boolean {
  if (event.by !== 'worker') return false;
  const scope = scopeAsking(event, failed);
  return scope !== undefined && scope !== '' && within(scopeOf(failed), scope);
}

function scopeAsking(event: RunEvent, failed: StepKey): string | undefined {
  switch (event.kind) {
    case 'step.started':
    case 'step.reused':
    case 'step.skipped':
      return event.stepKey === failed ? undefined : scopeOf(event.stepKey);
    case 'variables.patched':
    case 'message.appended':
    case 'value.recorded':
      return event.key === undefined ? undefined : scopeOf(event.key);
    case 'state.left':
      return event.key;
    default:
      return undefined;
  }
}
