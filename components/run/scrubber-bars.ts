import type { BucketRow } from '@/lib/client/api-types';
import type { EventKind, RunEvent } from '@/lib/core/events/run-event';

export interface Bar {
  readonly fromSeq: number;
  readonly toSeq: number;
  /** `step` ink, `data` quieter, `state` quietest, `bad` a failure. */
  readonly look: 'step' | 'data' | 'state' | 'bad' | 'wait';
  /** 0 to 1. */
  readonly height: number;
  /** Epoch ms of its first and its last event. */
  readonly fromAt: number;
  readonly toAt: number;
  /** How many effects and failures it holds, where it is of many events. */
  readonly effects?: number;
  readonly errors?: number;
}

const looks: readonly (readonly [prefix: string, look: Bar['look']])[] = [
  ['step.failed', 'bad'],
  ['run.failed', 'bad'],
  ['run.interrupted', 'bad'],
  ['divergence.', 'bad'],
  ['run.waiting', 'wait'],
  ['run.paused', 'wait'],
  ['step.', 'step'],
  ['effect.', 'step'],
  ['question.', 'step'],
  ['message.', 'data'],
  ['variables.', 'data'],
  ['value.', 'data'],
];
export const lookOf = (kind: EventKind): Bar['look'] =>
  looks.find(([prefix]) => kind.startsWith(prefix))?.[1] ?? 'state';

/** Log scale, 1 ms to a day. */
const heightOf = (ms: number) => Math.max(0.12, Math.min(1, Math.log10(Math.max(1, ms)) / 5));

/** One bar for each event; its height is the time to the next one. */
export function eventBars(events: readonly RunEvent[]): readonly Bar[] {
  return events.map((event, n) => ({
    fromSeq: event.seq,
    toSeq: event.seq,
    look: lookOf(event.kind),
    height: heightOf((events[n + 1]?.at ?? event.at) - event.at),
    fromAt: event.at,
    toAt: event.at,
  }));
}

/** One bar for each bucket; its height is how long the bucket lasted. */
export function bucketBars(buckets: readonly BucketRow[]): readonly Bar[] {
  return buckets.map((bucket) => ({
    fromSeq: bucket.fromSeq,
    toSeq: bucket.toSeq,
    look: bucket.errors > 0 ? 'bad' : 'step',
    height: heightOf(Date.parse(bucket.toAt) - Date.parse(bucket.fromAt)),
    fromAt: Date.parse(bucket.fromAt),
    toAt: Date.parse(bucket.toAt),
    effects: bucket.effects,
    errors: bucket.errors,
  }));
}

/** A look that is not lost among others: what went wrong, then what waits, then what ran. */
const weight = { bad: 4, wait: 3, step: 2, data: 1, state: 0 } as const satisfies Record<Bar['look'], number>;

/** At most `most` bars: neighbours as one, as high as the highest of them, with the look that matters most. */
export function merged(bars: readonly Bar[], most: number): readonly Bar[] {
  if (bars.length <= most) return bars;
  const each = Math.ceil(bars.length / most);
  return Array.from({ length: Math.ceil(bars.length / each) }, (_, n) => {
    const group = bars.slice(n * each, (n + 1) * each);
    const [first, last] = [group[0], group.at(-1)];
    if (first === undefined || last === undefined) throw new Error('a group of bars is never empty');
    const heaviest = group.reduce((most, bar) => (weight[bar.look] > weight[most.look] ? bar : most));
    return {
      ...first,
      toSeq: last.toSeq,
      toAt: last.toAt,
      height: Math.max(...group.map(({ height }) => height)),
      look: heaviest.look,
    };
  });
}

/** Whole numbers for an axis: at most `most`, on a step of 1, 2 or 5 times a power of ten, with the first. */
export function ticks(headSeq: number, most: number): readonly number[] {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, headSeq / most)));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => headSeq / each <= most) ?? power * 10;
  const marks = [1];
  for (let mark = step; mark <= headSeq; mark += step) if (mark > 1) marks.push(mark);
  return marks;
}

/** Leaves out marks that would stand closer than `gap` (of the track) to the one before. */
export function spaced<Item extends { readonly seq: number }>(
  items: readonly Item[],
  placeOf: (seq: number) => number,
  gap: number,
): readonly Item[] {
  let last = Number.NEGATIVE_INFINITY;
  return items.filter((item) => {
    const at = placeOf(item.seq);
    if (at - last < gap) return false;
    last = at;
    return true;
  });
}

/** Those with at least `gap` (of the track) between them and the one before, where a label has its room. */
export function labelled<Item extends { readonly seq: number }>(
  items: readonly Item[],
  placeOf: (seq: number) => number,
  gap: number,
): ReadonlySet<Item> {
  return new Set(
    items.filter((item, n) => {
      const last = items[n - 1];
      return !last || placeOf(item.seq) - placeOf(last.seq) >= gap;
    }),
  );
}

/** Where a key takes the cursor while the slider has the focus; undefined for keys that are not the slider's. */
export function keyMove(key: string, seq: number, headSeq: number): number | undefined {
  const page = Math.max(10, Math.round(headSeq / 20));
  const by: Readonly<Record<string, number>> = { ArrowUp: 1, ArrowDown: -1, PageUp: page, PageDown: -page };
  const move = by[key];
  return move === undefined ? undefined : Math.max(1, Math.min(headSeq, seq + move));
}
