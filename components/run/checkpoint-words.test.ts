import { describe, expect, it } from 'vitest';
import { checkpointInShort, shortNumbers } from './checkpoint-words';

describe('numbers of checkpoints', () => {
  it('are numbers however many there are, neighbours as a range', () => {
    expect([[3], [3, 4], [1, 2, 3], [1, 3, 7, 8, 9]].map((numbers) => shortNumbers(numbers, 20))).toEqual([
      '3',
      '3–4',
      '1–3',
      '1, 3, 7–9',
    ]);
  });

  it('tell in little room the newest, and that there are others', () => {
    expect([
      shortNumbers([4], 1),
      shortNumbers([7, 8, 9], 1),
      shortNumbers([2, 7, 8], 1),
      shortNumbers([2, 7, 8], 2),
      shortNumbers([2, 4, 7, 8], 2),
      shortNumbers([], 1),
    ]).toEqual(['4', '7–9', '…7–8', '2, 7–8', '…4, 7–8', '']);
  });
});

it('is named on one line, whatever its name', () => {
  expect(checkpointInShort({ n: 7, name: 'after check_balance' })).toBe('Checkpoint 7, after check_balance');
  expect(checkpointInShort({ n: 1, name: 'a\n\tb\u202e' })).toBe('Checkpoint 1, a b⟨U+202E⟩');
  const long = checkpointInShort({ n: 1, name: `${'x'.repeat(119)}😀${'y'.repeat(500)}` });
  expect(long).toBe(`Checkpoint 1, ${'x'.repeat(119)}…`);
});
