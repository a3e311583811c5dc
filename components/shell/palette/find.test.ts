import { expect, it } from 'vitest';
import { search } from './find';

const names = (found: ReturnType<typeof search>) => found.shown.map(({ words }) => words);
const items = [
  { words: 'lookup#1/search_orders#1', more: 'tool completed' },
  { words: 'orders', more: '' },
  { words: 'reorder', more: '' },
  { words: 'plan#1/desk#1', more: 'llm failed orders' },
];

it('finds by every part, in any case and order, the best first', () => {
  expect(names(search(items, 'ORDER', 9))).toEqual([
    'orders',
    'lookup#1/search_orders#1',
    'reorder',
    'plan#1/desk#1',
  ]);
  expect(names(search(items, 'failed desk', 9))).toEqual(['plan#1/desk#1']);
  expect(names(search(items, 'order nothing', 9))).toEqual([]);
});

it('gives so many, and says how many there are', () => {
  expect(search(items, 'order', 2)).toMatchObject({ total: 4, shown: { length: 2 } });
  expect(search(items, '  ', 3)).toMatchObject({ total: 4, shown: { length: 3 } });
});

it('reads the names of 20,000 steps once, whatever is typed after', () => {
  let reads = 0;
  const steps = Array.from({ length: 20_000 }, (_, n) => ({
    get words() {
      reads += 1;
      return `state_${n % 40}#${n}/Search_Orders#${n}`;
    },
    more: 'tool completed',
  }));
  expect(search(steps, 's', 1).total).toBe(20_000);
  expect(reads).toBe(20_000);
  for (const typed of ['se', 'search', 'search 1', 'search 19999'])
    expect(search(steps, typed, 20).total).toBeGreaterThan(0);
  expect(reads).toBe(20_000);
});
