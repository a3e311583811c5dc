import type { PayloadRef } from '../events/payload';
import type { EventOf } from '../events/run-event';
import { namesIn } from '../shared/json-pointer';
import type { RunState } from './records';

export function patched(
  variables: RunState['variables'],
  event: EventOf<'variables.patched'>,
): RunState['variables'] {
  const next: Record<string, PayloadRef> = { ...variables };
  for (const one of event.patch) {
    const name = variableName(one.path);
    if (one.op === 'remove' || one.value === undefined) delete next[name];
    // Assigned, `__proto__` would vanish.
    else
      Object.defineProperty(next, name, {
        value: one.value,
        enumerable: true,
        writable: true,
        configurable: true,
      });
  }
  return next;
}

/** First segment of a JSON Pointer, unescaped. */
export const variableName = (pointer: string): string => namesIn(pointer)[0] ?? '';
