import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkpointUpTo, lastUpTo, neighbour, nextStop, within } from './moves';
import { bucketBars, keyMove, labelled, lookOf, merged, spaced, ticks } from './scrubber-bars';

describe('the scrubber', () => {
  it('takes the keys of a slider, stays on its track, and leaves other keys alone', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100_000 }), fc.nat(), (headSeq, n) => {
        const seq = (n % headSeq) + 1;
        const moved = ['ArrowUp', 'ArrowDown', 'PageUp', 'PageDown'].map(
          (key) => keyMove(key, seq, headSeq) ?? 0,
        );
        expect(moved.every((to) => to >= 1 && to <= headSeq)).toBe(true);
        const [up = 0, down = 0, pageUp = 0, pageDown = 0] = moved;
        expect(pageDown <= down && down <= seq && seq <= up && up <= pageUp).toBe(true);
      }),
    );
    expect([
      keyMove('ArrowUp', 5, 9),
      keyMove('ArrowDown', 5, 9),
      keyMove('a', 5, 9),
      keyMove('End', 5, 9),
    ]).toEqual([6, 4, undefined, undefined]);
  });

  it('marks the first seq and round numbers, few enough to read', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000_000 }), (headSeq) => {
        const marks = ticks(headSeq, 10);
        expect(marks[0]).toBe(1);
        expect(marks.length).toBeLessThanOrEqual(11);
        expect(marks.at(-1)).toBeLessThanOrEqual(headSeq);
      }),
    );
    expect(ticks(94, 10)).toEqual([1, 10, 20, 30, 40, 50, 60, 70, 80, 90]);
  });

  it('shows a bucket with an error as a failure, as long as it lasted', () => {
    const bucket = {
      fromSeq: 1,
      toSeq: 9,
      fromAt: '2026-11-29T01:00:00Z',
      toAt: '2026-11-29T01:00:10Z',
      events: 9,
      effects: 0,
      errors: 1,
      checkpoints: 0,
    };
    expect(bucketBars([bucket as never])).toEqual([
      {
        fromSeq: 1,
        toSeq: 9,
        look: 'bad',
        height: 0.8,
        fromAt: Date.parse(bucket.fromAt),
        toAt: Date.parse(bucket.toAt),
        effects: 0,
        errors: 1,
      },
    ]);
  });

  it('gives events that are too close one bar together, which hides no failure among them', () => {
    const bar = (seq: number, look: 'step' | 'bad' | 'state', height: number) => ({
      fromSeq: seq,
      toSeq: seq,
      look,
      height,
      fromAt: seq,
      toAt: seq,
    });
    const bars = [bar(1, 'step', 0.2), bar(2, 'bad', 0.1), bar(3, 'state', 0.9), bar(4, 'step', 0.3)];
    expect(merged(bars, 4)).toBe(bars);
    expect(merged(bars, 2)).toEqual([
      { fromSeq: 1, toSeq: 2, look: 'bad', height: 0.2, fromAt: 1, toAt: 2 },
      { fromSeq: 3, toSeq: 4, look: 'step', height: 0.9, fromAt: 3, toAt: 4 },
    ]);
  });

  it('tells failures, steps, data and states apart', () => {
    expect(
      (['step.failed', 'step.started', 'message.appended', 'state.entered', 'run.interrupted'] as const).map(
        lookOf,
      ),
    ).toEqual(['bad', 'step', 'data', 'state', 'bad']);
  });

  it('leaves out marks that would stand on one another', () => {
    expect(
      spaced([{ seq: 1 }, { seq: 2 }, { seq: 50 }], (seq) => seq / 100, 0.05).map((each) => each.seq),
    ).toEqual([1, 50]);
  });

  it('numbers only the marks that have room for it after the one before', () => {
    const marks = [{ seq: 1 }, { seq: 3 }, { seq: 5 }, { seq: 50 }];
    expect([...labelled(marks, (seq) => seq / 100, 0.03)].map((each) => each.seq)).toEqual([1, 50]);
  });
});

describe('moves', () => {
  it('goes to the next stop and from the last one to the first', () => {
    expect([0, 5, 9].map((seq) => nextStop([5, 9], seq))).toEqual([5, 9, 5]);
    expect(nextStop([], 3)).toBeUndefined();
  });

  it('stays where there is no further step in that direction', () => {
    expect([neighbour([5, 9], 9, 1), neighbour([5, 9], 9, -1), neighbour([5, 9], 5, -1)]).toEqual([9, 5, 5]);
  });

  it('finds what is newest up to a place, and the newest checkpoint in force', () => {
    const items = [{ seq: 2 }, { seq: 5 }, { seq: 5 }, { seq: 9 }];
    expect([1, 2, 4, 5, 8, 9, 99].map((seq) => lastUpTo(items, seq))).toEqual([-1, 0, 0, 2, 2, 3, 3]);
    const checkpoints = [
      { n: 1, seq: 2, inForce: true },
      { n: 2, seq: 5, inForce: false },
      { n: 3, seq: 7, inForce: false },
      { n: 4, seq: 9, inForce: true },
    ] as never;
    expect([1, 2, 8, 9].map((seq) => checkpointUpTo(checkpoints, seq)?.n)).toEqual([undefined, 1, 1, 4]);
  });

  it('ends at the edge of what is not held, from either side', () => {
    const spans = [
      [0, 100],
      [500, 900],
    ] as const;
    expect([
      within(spans, 90, 95),
      within(spans, 90, 501),
      within(spans, 520, 80),
      within(spans, 520, 510),
    ]).toEqual([95, 101, 500, 510]);
    expect(within(spans, 300, 700)).toBe(700);
  });
});
