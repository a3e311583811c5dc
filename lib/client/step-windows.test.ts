import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Page, StepRow } from './api-types';
import {
  holeAt,
  holesOf,
  inSpans,
  openingSteps,
  type StepWindows,
  spanOf,
  tailAfter,
  WINDOW,
  withWindow,
} from './step-windows';

const step = (startedSeq: number, status = 'completed') =>
  ({ startedSeq, stepKey: `a#${startedSeq}`, line: 0, status }) as unknown as StepRow;
/** What the API gives of a run whose steps begin at every second seq up to `head`. */
const page = (head: number, after: number, limit: number): Page<StepRow> => {
  const first = Math.floor(after / 2) + 1;
  const total = Math.floor(head / 2);
  const length = Math.max(0, Math.min(limit, total - first + 1));
  const items = Array.from({ length }, (_, n) => step(2 * (first + n)));
  return { items, total, nextCursor: first + length <= total ? String(items.at(-1)?.startedSeq) : null };
};
const bothEnds = (head: number): StepWindows => {
  const [first, last] = [page(head, 0, WINDOW), page(head, tailAfter(head), 5_000)];
  return withWindow({ ...first, spans: [spanOf(first, 0)] }, last, spanOf(last, tailAfter(head)));
};
const read = (held: StepWindows, head: number, seq: number): StepWindows => {
  const hole = holeAt(held.spans, seq);
  if (hole === undefined) return held;
  const after = Math.max(hole[0], seq - WINDOW);
  const got = page(head, after, WINDOW);
  return withWindow(held, got, spanOf(got, after));
};

describe('the steps of a long run', () => {
  it('are held at both ends at first, and how many there are is known', () => {
    const held = bothEnds(100_000);
    expect(held.total).toBe(50_000);
    expect([held.items[0]?.startedSeq, held.items.at(-1)?.startedSeq]).toEqual([2, 100_000]);
    expect(holesOf(held.spans)).toEqual([[2 * WINDOW, tailAfter(100_000)]]);
  });

  it('come where somebody looks, in one piece with what is held beside it', () => {
    const held = read(bothEnds(100_000), 100_000, 2 * WINDOW + 1);
    expect(held.spans).toHaveLength(2);
    expect(inSpans(held.spans, 2 * WINDOW + 1)).toBe(true);
    expect(holeAt(held.spans, 50_000)).toEqual([held.spans[0]?.[1], tailAfter(100_000)]);
  });

  it('are the newer reading where two have them', () => {
    const held = withWindow(
      bothEnds(100_000),
      { items: [step(2, 'failed')], total: 50_000, nextCursor: null },
      [0, 2],
    );
    expect(held.items.filter(({ startedSeq }) => startedSeq <= 4).map(({ status }) => status)).toEqual([
      'failed',
      'completed',
    ]);
  });

  it('are exactly those that began within what is held, wherever one looks and however often; and few', () => {
    const head = 60_000;
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: head }), { maxLength: 40 }), (places) => {
        let held = bothEnds(head);
        for (const seq of places) {
          held = read(held, head, seq);
          expect(inSpans(held.spans, seq)).toBe(true);
        }
        const said = Array.from({ length: head / 2 }, (_, n) => 2 * (n + 1)).filter((seq) =>
          inSpans(held.spans, seq),
        );
        expect(held.items.map(({ startedSeq }) => startedSeq).join()).toBe(said.join());
        expect(held.items.length).toBeLessThan(8_000);
        expect([inSpans(held.spans, 1), inSpans(held.spans, head)]).toEqual([true, true]);
      }),
      { numRuns: 10 },
    );
  });
});

describe('the steps that come with a page', () => {
  const read = { items: [step(8)], total: 9, visits: [] };

  it('say themselves that they are not all, wherever in the run they lie', () => {
    const places = [
      { after: 7, to: null },
      { after: 7, to: 9 },
      { after: 0, to: 9 },
    ];
    for (const place of places) {
      const { spans, total, items } = openingSteps({ ...read, ...place });
      expect(spans.length).toBeGreaterThan(1);
      expect([inSpans(spans, 8), items.length < total]).toEqual([true, true]);
    }
    expect(inSpans(openingSteps({ ...read, after: 7, to: 9 }).spans, 10)).toBe(false);
    expect(inSpans(openingSteps({ ...read, after: 7, to: null }).spans, 10)).toBe(true);
    expect(inSpans(openingSteps({ ...read, after: 7, to: null }).spans, 7)).toBe(false);
  });

  it('are all where the run has no others', () => {
    expect(openingSteps({ ...read, total: 1, after: 0, to: null }).spans).toHaveLength(1);
  });
});
