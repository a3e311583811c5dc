/** One line of the bench's output. `ratio` is value / baseline, where both were measured in the same process. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly baseline?: number;
  readonly ratio?: number;
}

const rounded = (value: number): number => Number(value.toPrecision(4));

export const figure = (name: string, value: number, unit: string, baseline?: number): Figure => ({
  name,
  value: rounded(value),
  unit,
  ...(baseline === undefined ? {} : { baseline: rounded(baseline), ratio: rounded(value / baseline) }),
});

/** The value that the share `p` (0 to 1) of the samples does not exceed. */
export function percentile(samples: readonly number[], p: number): number {
  const sorted = [...samples].sort((a, b) => a - b);
  const found = sorted[Math.min(sorted.length - 1, Math.floor(p * sorted.length))];
  if (found === undefined) throw new Error('no samples');
  return found;
}

/** Milliseconds of each of `n` runs of `work`. */
export async function timed(n: number, work: (i: number) => unknown): Promise<readonly number[]> {
  const samples: number[] = [];
  for (let i = 0; i < n; i++) {
    const began = performance.now();
    await work(i);
    samples.push(performance.now() - began);
  }
  return samples;
}
