import { describe, expect, it } from 'vitest';
import { backTo } from './back-to';

describe('the way back to the run', () => {
  it.each([
    ['http://h/runs/a%20b?seq=41&tab=diff&show=effects', '/runs/a%20b?seq=41&tab=diff&show=effects'],
    ['http://h/runs/a%20b', '/runs/a%20b'],
    ['http://h/runs/other?seq=3', '/runs/a%20b'],
    ['http://h/runs/a%20b/plan?mode=fork', '/runs/a%20b'],
    ['http://h/runs', '/runs/a%20b'],
    ['no address', '/runs/a%20b'],
    [undefined, '/runs/a%20b'],
  ])('from %s is %s', (previous, back) => {
    expect(backTo('a b', previous)).toBe(back);
  });
});
