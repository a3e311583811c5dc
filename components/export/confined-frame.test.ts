import { expect, it } from 'vitest';
import { runHref } from '@/lib/client/url-state';
import { queryOf } from './confined-frame';

it('leads to moments of its own run, and nowhere else', () => {
  const page = runHref('a/b');
  expect(queryOf(runHref('a/b', 7), page)).toBe('?seq=7');
  expect(queryOf(runHref('a/b'), page)).toBe('?');
  expect(queryOf(runHref('a'), page)).toBeUndefined();
  expect(queryOf('/runs/a%2Fb/plan?mode=resume', page)).toBeUndefined();
  expect(queryOf('/runs?agent=x', page)).toBeUndefined();
  expect(queryOf('https://elsewhere/runs/a%2Fb?seq=7', page)).toBeUndefined();
});
