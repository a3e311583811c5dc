import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { middle, seqScale, timeScale } from './scrubber-scale';

const HOUR = 3_600_000;
const at = (...times: readonly number[]) => times.map((time, n) => ({ seq: n + 1, at: time }));

describe('the scale of time', () => {
  it('is as wide as time passed, and folds what nobody did', () => {
    const scale = timeScale(at(0, 1_000, 2_000, 2_000 + 8 * HOUR, 3_000 + 8 * HOUR), 5);
    expect(scale.gaps.map(({ seq, ms }) => [seq, ms])).toEqual([[3, 8 * HOUR]]);
    const wide = (seq: number) => scale.begin(seq + 1) - scale.begin(seq);
    // The night takes less room than the second before it.
    expect(wide(3)).toBeLessThan(wide(2));
    expect(wide(1)).toBeCloseTo(wide(2), 6);
  });

  it('is the scale of seqs where no time passed', () => {
    const scale = timeScale(at(5, 5, 5), 3);
    expect([1, 2, 3].map((seq) => middle(scale, seq))).toEqual(
      [1, 2, 3].map((seq) => middle(seqScale(3), seq)),
    );
  });

  it('never folds so much that bursts around the waits could not be seen', () => {
    const times: number[] = [];
    for (let burst = 0; burst < 50; burst += 1)
      for (let n = 0; n < 5; n += 1) times.push(burst * HOUR + n * 100);
    const scale = timeScale(at(...times), times.length);
    const folded = scale.gaps.reduce((sum, { from, to }) => sum + (to - from), 0);
    expect(scale.gaps).toHaveLength(49);
    expect(folded).toBeLessThan(0.5);
  });

  it('leads from a place to the event that stands there, whatever the times, and grows along the run', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 100_000 }), { minLength: 1, maxLength: 60 }),
        fc.integer({ min: 1, max: 5 }),
        (waits, stride) => {
          let time = 0;
          const instants = waits.map((wait, n) => {
            time += wait;
            return { seq: 1 + n * stride, at: time };
          });
          const head = 1 + (waits.length - 1) * stride;
          const scale = timeScale(instants, head);
          for (let seq = 1; seq <= head; seq += 1) {
            expect(scale.begin(seq + 1)).toBeGreaterThan(scale.begin(seq));
            expect(scale.seqAt(middle(scale, seq))).toBe(seq);
          }
          expect([scale.begin(1), scale.begin(head + 1)]).toEqual([0, 1]);
          expect([scale.seqAt(-1), scale.seqAt(2)]).toEqual([1, head]);
        },
      ),
    );
  });
});
