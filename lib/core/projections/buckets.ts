import { seq } from '../events/ids';
import type { RunEvent } from '../events/run-event';
import { assertDefined } from '../shared/assert';

/** First and last `seq` (both inclusive) of at most `n` ranges that cover 1 … `head` evenly, in order. */
export function bucketRanges(
  head: number,
  n: number,
): readonly { readonly from: number; readonly to: number }[] {
  const count = Math.min(Math.max(0, Math.trunc(n)), head);
  return Array.from({ length: count }, (_, i) => ({
    from: Math.floor((i * head) / count) + 1,
    to: Math.floor(((i + 1) * head) / count),
  }));
}

export type Counted = 'effects' | 'errors' | 'checkpoints';

/** What a bucket counts an event as: intents, failed attempts and failed runs, checkpoints. */
export function countedAs(event: RunEvent): Counted | undefined {
  switch (event.kind) {
    case 'step.started':
      return event.intent === undefined ? undefined : 'effects';
    case 'step.failed':
    case 'run.failed':
      return 'errors';
    case 'checkpoint.saved':
      return 'checkpoints';
    default:
      return undefined;
  }
}

/** Counts of a whole journal in at most `n` ranges. O(events). */
export const bucketsOf = (events: readonly RunEvent[], n: number) =>
  bucketRanges(events.length, n).map(({ from, to }) => {
    const counts = { effects: 0, errors: 0, checkpoints: 0 };
    for (let at = from - 1; at < to; at += 1) {
      const what = countedAs(assertDefined(events[at], 'a bucket has events'));
      if (what !== undefined) counts[what] += 1;
    }
    return {
      fromSeq: seq(from),
      toSeq: seq(to),
      fromAt: assertDefined(events[from - 1], 'a bucket has events').at,
      toAt: assertDefined(events[to - 1], 'a bucket has events').at,
      events: to - from + 1,
      ...counts,
    };
  });
