import type { GraphAt, Page, StepRow } from './api-types';

/* The steps of a long run, of which only windows are held. */

/** Beginnings of steps that are all known: after the first seq, up to the second. */
export type Span = readonly [after: number, to: number];

export interface StepWindows extends Page<StepRow> {
  /** Ascending by start. */
  readonly items: readonly StepRow[];
  /** Ascending, apart from each other. Everything that begins outside of them is not held. */
  readonly spans: readonly Span[];
}

/** Runs with more events are held in windows. */
export const WHOLE_STEPS = 12_000;
/** Steps in one window. */
export const WINDOW = 400;
/** Events behind the head that are held with it. */
const TAIL_EVENTS = 1_200;
/** Steps that are held at most, of those that are neither at the beginning nor at the end. */
const MOST = 4_000;

/** Steps that come with a page, before anything else of them is read: up to the cursor's, and after it. */
export const OPENING = { before: 48, after: 12 } as const;

/** The steps around the cursor with which a page begins, and the visits that they lie in. A stand-in: never kept as the run's steps. */
export interface OpeningSteps extends StepWindows {
  readonly visits: GraphAt['visits'];
}

const END = Number.MAX_SAFE_INTEGER;
/** All that there is. */
export const ALL: readonly Span[] = [[0, END]];
const keyOf = (step: StepRow) => `${step.line} ${step.stepKey}`;

export const inSpans = (spans: readonly Span[], seq: number): boolean =>
  spans.some(([after, to]) => seq > after && seq <= to);

/** `to` null: to the end. Unless they are all that there is, more than one span says that they are not. */
export function openingSteps(read: {
  readonly items: readonly StepRow[];
  readonly total: number;
  readonly after: number;
  readonly to: number | null;
  readonly visits: GraphAt['visits'];
}): OpeningSteps {
  const { items, total, after, to, visits } = read;
  const spans: readonly Span[] =
    after === 0 && to === null
      ? ALL
      : [
          [0, 0],
          [after, to ?? END],
        ];
  return { items, total, nextCursor: null, spans, visits };
}

/** Overlapping and touching ones are one. */
function joined(spans: readonly Span[]): readonly Span[] {
  const all: Span[] = [];
  for (const span of spans.toSorted((a, b) => a[0] - b[0])) {
    const last = all.at(-1);
    if (last && span[0] <= last[1]) all[all.length - 1] = [last[0], Math.max(last[1], span[1])];
    else all.push(span);
  }
  return all;
}

/** What was read joins what is held; where both have a row, the newer reading stands. */
export function withWindow(held: StepWindows, read: Page<StepRow>, span: Span): StepWindows {
  const rows = new Map(
    held.items
      .filter(({ startedSeq }) => !(startedSeq > span[0] && startedSeq <= span[1]))
      .map((step) => [keyOf(step), step]),
  );
  for (const step of read.items) rows.set(keyOf(step), step);
  return bounded(
    {
      items: [...rows.values()].sort((a, b) => a.startedSeq - b.startedSeq),
      total: read.total,
      nextCursor: null,
      spans: joined([...held.spans, span]),
    },
    span,
  );
}

/** Lets go of what lies farthest from `near`; both ends stay. */
function bounded(held: StepWindows, near: Span): StepWindows {
  const [first, last] = [held.spans[0], held.spans.at(-1)];
  const excess = held.items.length - MOST - 2 * WINDOW;
  if (excess <= 0 || first === undefined || last === undefined || held.spans.length < 3) return held;
  const farthest = held.spans
    .slice(1, -1)
    .filter((span) => !(near[0] >= span[0] && near[1] <= span[1]))
    .toSorted((a, b) => Math.abs(b[0] - near[0]) - Math.abs(a[0] - near[0]))[0];
  if (farthest === undefined) return held;
  return bounded(
    {
      ...held,
      items: held.items.filter(({ startedSeq }) => startedSeq <= farthest[0] || startedSeq > farthest[1]),
      spans: held.spans.filter((span) => span !== farthest),
    },
    near,
  );
}

/** The span that a page holds which was asked for after `after`: to its last row, or to the end where it is the last page. */
export function spanOf(read: Page<StepRow>, after: number): Span {
  const last = read.items.at(-1);
  return [after, read.nextCursor === null || last === undefined ? END : last.startedSeq];
}

/** After which seq the end of a long run is read. */
export const tailAfter = (headSeq: number): number => Math.max(0, headSeq - TAIL_EVENTS);

/** Where the unheld stretch around `seq` begins and ends; undefined where it is held. */
export function holeAt(spans: readonly Span[], seq: number): Span | undefined {
  if (inSpans(spans, seq)) return undefined;
  const before = spans.findLast(([, to]) => to < seq);
  const after = spans.find(([from]) => from >= seq);
  return [before?.[1] ?? 0, after?.[0] ?? END];
}

/** The unheld stretches between the spans. */
export const holesOf = (spans: readonly Span[]): readonly Span[] =>
  spans.slice(1).map((span, n): Span => [spans[n]?.[1] ?? 0, span[0]]);
