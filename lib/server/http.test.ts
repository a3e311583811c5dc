import { expect, it } from 'vitest';
import { seededRandom } from '@/lib/testing/bench/workload';
import { parseJson } from './http';

const LIMIT = 5;
const problemOf = (text: string) => {
  const parsed = parseJson(Buffer.from(text), LIMIT);
  return parsed.ok ? undefined : parsed.problem.kind;
};

it('counts the brackets of a body and not those of its texts, however long and whatever they escape', () => {
  const random = seededRandom(7);
  const parts = ['[', '{', ']', '"', '\\', '\\"', 'ü', 'x'.repeat(30)];
  for (let length = 0; length < 200; length++)
    for (let tries = 0; tries < 10; tries++) {
      let odd = '';
      while (odd.length < length) odd += parts[Math.floor(random() * parts.length)];
      const texts = `${JSON.stringify(odd)},${JSON.stringify(odd.slice(0, -1).toWellFormed())}`;
      const nested = (depth: number) => `${'['.repeat(depth)}${texts}${']'.repeat(depth)}`;
      expect(problemOf(nested(LIMIT))).toBeUndefined();
      expect(problemOf(nested(LIMIT + 1))).toBe('too-deep');
    }
});
