import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { inRounds } from './live';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

/** Rounds that take `ms` each; how many began, and how many were under way at once at most. */
function counted(ms: number) {
  const seen = { began: 0, atOnce: 0, most: 0 };
  const round = async () => {
    seen.began += 1;
    seen.atOnce += 1;
    seen.most = Math.max(seen.most, seen.atOnce);
    await new Promise((resolve) => setTimeout(resolve, ms));
    seen.atOnce -= 1;
  };
  return { seen, round };
}

describe('inRounds', () => {
  it('makes one round of a burst', async () => {
    const { seen, round } = counted(10);
    const rounds = inRounds(round, 250);
    for (let n = 0; n < 20; n += 1) rounds.ask();
    await vi.advanceTimersByTimeAsync(2_000);
    expect(seen.began).toBe(1);
  });

  it('never runs two at once, rests after each for twice its length, and misses nothing that was asked', async () => {
    const { seen, round } = counted(1_000);
    const rounds = inRounds(round, 250);
    for (let n = 0; n < 60; n += 1) {
      rounds.ask();
      await vi.advanceTimersByTimeAsync(100);
    }
    expect(seen).toMatchObject({ began: 2, most: 1 });
    await vi.advanceTimersByTimeAsync(10_000);
    expect(seen).toMatchObject({ began: 3, atOnce: 0 });
  });

  it('goes on after a round that failed, and stops when it is ended', async () => {
    const round = vi.fn(() => Promise.reject(new Error('no answer')));
    const rounds = inRounds(round, 250);
    rounds.ask();
    await vi.advanceTimersByTimeAsync(500);
    rounds.ask();
    await vi.advanceTimersByTimeAsync(500);
    expect(round).toHaveBeenCalledTimes(2);
    rounds.ask();
    rounds.end();
    await vi.advanceTimersByTimeAsync(500);
    expect(round).toHaveBeenCalledTimes(2);
  });
});
