import type { PayloadRef } from '../core/events/payload';
import type { EventOf, NewEvent } from '../core/events/run-event';
import type { CallEvent } from './record';
import { digest, type Stored } from './values';

/** The first place where code and record differ. */
export interface Difference {
  readonly stepKey: string;
  readonly what: EventOf<'divergence.found'>['what'];
  readonly sentence: string;
  readonly recorded?: PayloadRef;
  readonly asked?: Stored;
}

/** Compares a call that answers at once with its record; `undefined` where they are the same. */
export function differenceOf(
  key: string,
  recorded: CallEvent,
  asked: NewEvent,
  payloads: readonly Stored[],
  texts: ReadonlyMap<string, Stored>,
): Difference | undefined {
  const differ = (
    what: Difference['what'],
    sentence: string,
    ref?: PayloadRef,
    now?: Stored,
  ): Difference => ({
    stepKey: key,
    what,
    sentence,
    ...(ref === undefined ? {} : { recorded: ref }),
    ...(now === undefined ? {} : { asked: now }),
  });
  const sameValue = (ref: PayloadRef | undefined, now: Stored | undefined) =>
    ref === undefined || now === undefined
      ? ref === now
      : ref.sha256 === now.ref.sha256 || equalTexts(texts.get(ref.sha256), now);
  if (asked.kind === 'run.failed' && recorded.kind === 'run.completed') {
    return differ(
      'result',
      `The run was recorded as completing; now it fails with “${asked.error.message}”`,
      recorded.result,
    );
  }
  if (recorded.kind !== asked.kind) {
    return differ('kind', `${key} was recorded as ${recorded.kind}; the code now does ${asked.kind}`);
  }
  switch (asked.kind) {
    case 'variables.patched': {
      const before = (recorded as EventOf<'variables.patched'>).patch[0];
      const now = asked.patch[0];
      if (before?.path !== now?.path || before?.op !== now?.op) {
        return differ(
          'input',
          `${key} was recorded for ${before?.op} ${before?.path}; the code now does ${now?.op} ${now?.path}`,
        );
      }
      return sameValue(before?.value, payloads[0])
        ? undefined
        : differ(
            'input',
            `Variable ${now?.path.slice(1)} is set to another value than recorded`,
            before?.value,
            payloads[0],
          );
    }
    case 'message.appended': {
      const before = (recorded as EventOf<'message.appended'>).message;
      return sameValue(before, payloads[0])
        ? undefined
        : differ('input', `${key} appends another message than recorded`, before, payloads[0]);
    }
    case 'value.recorded': {
      const before = (recorded as EventOf<'value.recorded'>).of;
      return before === asked.of ? undefined : differ('kind', `${key} was recorded as ${before}`);
    }
    case 'state.left': {
      const before = recorded as EventOf<'state.left'>;
      if (before.to !== asked.to)
        return differ(
          'state',
          `${key} was recorded as going to ${before.to ?? 'the end'}; the code now goes to ${asked.to ?? 'the end'}`,
        );
      return before.condition === asked.condition
        ? undefined
        : differ(
            'state',
            `${key} was recorded with condition ${String(before.condition)}; now it is ${String(asked.condition)}`,
          );
    }
    case 'run.completed': {
      const before = (recorded as EventOf<'run.completed'>).result;
      return sameValue(before, payloads[0]) || before === undefined
        ? undefined
        : differ('result', 'The run ends with another result than recorded', before, payloads[0]);
    }
    case 'run.failed': {
      const before = (recorded as EventOf<'run.failed'>).error;
      return before.message === asked.error.message
        ? undefined
        : differ(
            'result',
            `The run was recorded as failing with “${before.message}”; now it fails with “${asked.error.message}”`,
          );
    }
    default:
      return undefined; // Transitions and ends of scopes are told apart by their keys.
  }
}

const equalTexts = (before: Stored | undefined, now: Stored) =>
  before !== undefined && digest(before) === digest(now);
