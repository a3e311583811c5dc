import { describe, expect, it } from 'vitest';
import type { StepRow } from '@/lib/client/api-types';
import { apart, marksOf } from './scrubber-marks';
import type { FailedAttempt } from './tree-rows';

const failure = (seq: number, attempt: number, final: boolean) =>
  ({ seq, attempt, final, stepKey: 'plan#1/search_orders#1' }) as unknown as FailedAttempt;
const pay = {
  name: 'pay',
  effect: 'external',
  status: 'completed',
  attemptSeq: 9,
} as unknown as StepRow;
const nothing = {
  steps: [],
  failures: [],
  run: { interruption: null, failure: null },
  bars: [],
  partial: false,
};

describe('the lane of effects and failures', () => {
  it('has a cross for every attempt that failed, also of a step that went well in the end', () => {
    const marks = marksOf({ ...nothing, failures: [failure(4, 1, false), failure(7, 2, true)] });
    expect(marks.map(({ seq, glyph, title }) => [seq, glyph, title])).toEqual([
      [4, 's-failed', 'search_orders#1, attempt 1 failed, tried again'],
      [7, 's-failed', 'search_orders#1, attempt 2 failed'],
    ]);
  });

  it('has both of an effect whose attempt failed: where it left, and where it failed', () => {
    const marks = marksOf({ ...nothing, steps: [pay], failures: [failure(10, 1, true)] });
    expect(marks.map(({ seq, glyph }) => [seq, glyph])).toEqual([
      [9, 'e-external'],
      [10, 's-failed'],
    ]);
  });

  it('is told by the bars where not all steps are held', () => {
    const bars = [
      { fromSeq: 1, toSeq: 99, look: 'bad', height: 1, fromAt: 0, toAt: 1, effects: 3, errors: 1 },
      { fromSeq: 100, toSeq: 199, look: 'step', height: 1, fromAt: 1, toAt: 2, effects: 2, errors: 0 },
    ] as const;
    const marks = marksOf({ ...nothing, bars, failures: [failure(4, 1, true)], partial: true });
    expect(marks.map(({ seq, title }) => [seq, title])).toEqual([
      [50, '1 failure between seq 1 and 99'],
      [150, '2 effects between seq 100 and 199'],
    ]);
  });

  it('keeps the failure where it and an effect would stand on one another', () => {
    const marks = marksOf({ ...nothing, steps: [pay], failures: [failure(10, 1, true)] });
    expect(apart(marks, (seq) => seq / 100_000, 0.002).map(({ glyph }) => glyph)).toEqual(['s-failed']);
    expect(apart(marks, (seq) => seq / 100, 0.002)).toEqual(marks);
  });
});
