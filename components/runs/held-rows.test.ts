import { describe, expect, it } from 'vitest';
import type { RunSummary } from '@/lib/client/api-types';
import { hold, release, standing } from './held-rows';

const run = (id: string, status: RunSummary['status'] = 'running', createdAt = '2026-01-01T00:00:00Z') =>
  ({ id, status, createdAt }) as unknown as RunSummary;
const list = (...ids: string[]) => ids.map((id) => run(id));

describe('rows held on screen', () => {
  it('renews a row in place', () => {
    const held = hold(hold(undefined, 'v', list('a', 'b')), 'v', [run('a'), run('b', 'failed')]);
    expect(held.order).toEqual(['a', 'b']);
    expect(held.rows.get('b')?.status).toBe('failed');
    expect(held.changed).toBe(0);
  });

  it('holds the order when a run would rise, and counts it', () => {
    const held = hold(hold(undefined, 'v', list('a', 'b', 'c')), 'v', list('c', 'a', 'b'));
    expect(held.order).toEqual(['a', 'b', 'c']);
    expect(held.changed).toBeGreaterThan(0);
    expect(release(held)).toMatchObject({ order: ['c', 'a', 'b'], changed: 0 });
  });

  it('counts new runs above and appends those below', () => {
    const held = hold(hold(undefined, 'v', list('a', 'b')), 'v', list('new', 'a', 'b', 'older'));
    expect(held.order).toEqual(['a', 'b', 'older']);
    expect(held.changed).toBe(1);
  });

  it('tells runs that were started since from others that are new to the list', () => {
    const held = hold(undefined, 'v', list('a', 'b'));
    const later = run('new', 'running', '2026-01-01T00:00:01Z');
    expect(hold(held, 'v', [later, run('found'), ...list('a', 'b')])).toMatchObject({
      started: 1,
      changed: 1,
    });
    expect(release(hold(held, 'v', [later, ...list('a', 'b')]))).toMatchObject({ started: 0, changed: 0 });
    // One that is told once is not told again for standing there.
    const again = hold(hold(held, 'v', [later, ...list('a', 'b')]), 'v', [later, ...list('a', 'b')]);
    expect(again).toMatchObject({ started: 1, changed: 0, order: ['a', 'b'] });
  });

  it('knows which held rows the newest answer does not have, until they are let go', () => {
    const held = hold(hold(undefined, 'v', list('a', 'b', 'c')), 'v', list('a', 'c'));
    expect([held.order, [...held.gone], held.changed]).toEqual([['a', 'b', 'c'], ['b'], 1]);
    expect(release(held)).toMatchObject({ order: ['a', 'c'], gone: new Set() });
    expect([...hold(held, 'v', list('a', 'b', 'c')).gone]).toEqual([]);
  });

  it('takes the order of another view at once', () => {
    expect(hold(hold(undefined, 'v', list('a', 'b')), 'w', list('b', 'a')).order).toEqual(['b', 'a']);
  });

  it('takes the newest order where nobody looks at any row', () => {
    const held = hold(hold(undefined, 'v', list('a', 'b')), 'v', list('new', 'b', 'a'), false);
    expect(held.order).toEqual(['new', 'b', 'a']);
    expect(held.changed).toBe(0);
  });

  it('stand under another view while it is read, and not once it could not be', () => {
    const held = hold(undefined, 'v', list('a'));
    expect(standing(held, 'w', false)).toBe(held);
    expect(standing(held, 'w', true)).toBeUndefined();
    expect(standing(held, 'v', true)).toBe(held);
    expect(standing(undefined, 'v', false)).toBeUndefined();
  });
});
