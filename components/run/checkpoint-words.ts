import { partEnd, seen } from '@/components/ui/format';

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

/** The newest `most` ranges, an ellipsis before them where there are older ones. */
export function shortNumbers(numbers: readonly number[], most: number): string {
  const ranges = rangesOf(numbers);
  return `${ranges.length > most ? '…' : ''}${ranges.slice(-most).join(', ')}`;
}

/** What a tooltip may hold of a name that somebody else chose. */
const MOST = 120;

/** `Checkpoint 7, after check_balance`, on one line, its name cut where it would fill the screen. */
export function checkpointInShort({ n, name }: { readonly n: number; readonly name: string }): string {
  const line = seen(name.replaceAll(/\s+/g, ' '));
  const end = partEnd(line, MOST);
  return `Checkpoint ${n}, ${line.slice(0, end)}${end < line.length ? '…' : ''}`;
}
