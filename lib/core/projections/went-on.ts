import type { StepKey } from '../events/ids';
import type { RunEvent } from '../events/run-event';
import { scopeOf, within } from '../events/step-key';

/**
 * Whether the event shows that code went on after the final failure of `failed`: it asked for something in that step's
 * scope, or in one above. The end of a scope is no call of the one above it, and a sibling branch knows nothing of it.
 * The last failure after which nothing went on is the one that ended a run which names none.
 */
export function wentOn(event: RunEvent, failed: StepKey): boolean {
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
