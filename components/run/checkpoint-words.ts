/** Numbers ascending, neighbours as one range: 1, 3, 7–9. */
const rangesOf = (numbers: readonly number[]): readonly string[] => {
  const ranges: [number, number][] = [];
  for (const n of numbers) {
    const newest = ranges.at(-1);
    if (newest && newest[1] === n - 1) newest[1] = n;
    else ranges.push([n, n]);
  }
  return ranges.map(([from, to]) => (from === to ? `${from}` : `${from}–${to}`));
};

export const checkpointNumbers = (numbers: readonly number[]): string => rangesOf(numbers).join(', ');

/** The newest `most` ranges, an ellipsis before them where there are older ones. */
export function shortNumbers(numbers: readonly number[], most: number): string {
  const ranges = rangesOf(numbers);
  return `${ranges.length > most ? '…' : ''}${ranges.slice(-most).join(', ')}`;
}
