import type { RunEvent } from '@/lib/core/events/run-event';

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
