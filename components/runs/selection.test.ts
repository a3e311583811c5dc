import { describe, expect, it } from 'vitest';
import type { RunSummary } from '@/lib/client/api-types';
import { alikeWords, cancellable, nobody, noneCancellable, renewed, toggled, withRange } from './selection';

const run = (id: string, status: RunSummary['status'] = 'failed', state?: string, why?: string): RunSummary =>
  ({
    id,
    status,
    visit: state === undefined ? null : { state },
    actions: { cancel: { possible: why === undefined, reason: why ?? null } },
  }) as unknown as RunSummary;
const pick = (...runs: readonly RunSummary[]) => runs.reduce(toggled, nobody);

describe('a selection of runs', () => {
  it('takes in and lets go one by one, and takes in a range in either direction', () => {
    const runs = ['a', 'b', 'c', 'd'].map((id) => run(id));
    const [a, , c] = runs as [RunSummary, RunSummary, RunSummary];
    expect([...toggled(pick(a, c), a).keys()]).toEqual(['c']);
    expect([...withRange(pick(a), runs, 'd', 'b').keys()]).toEqual(['a', 'b', 'c', 'd']);
    expect([...withRange(pick(a), runs, 'gone', 'b').keys()]).toEqual(['a']);
  });

  it('knows the runs as they stand now, also those that are in no row any more', () => {
    const selection = pick(run('a'), run('b'));
    const after = renewed(selection, new Map([['a', run('a', 'running')]]));
    expect([after.get('a')?.status, after.get('b')?.status]).toEqual(['running', 'failed']);
    expect(renewed(selection, new Map())).toBe(selection);
  });

  it('says what they have in common, and no more than that', () => {
    expect(
      alikeWords(pick(run('a', 'failed', 's'), run('b', 'failed', 's'), run('c', 'failed', 's'))),
    ).toEqual({
      words: 'all failed in',
      state: 's',
    });
    expect(alikeWords(pick(run('a', 'failed', 's'), run('b', 'failed', 't')))).toEqual({
      words: 'both failed',
    });
    expect(alikeWords(pick(run('a', 'failed', 's'), run('b', 'failed')))).toEqual({ words: 'both failed' });
    expect(alikeWords(pick(run('a'), run('b', 'waiting'), run('c')))).toEqual({
      words: '2 failed, 1 waiting',
    });
  });

  it('tells who can be cancelled, and why the others cannot', () => {
    const runs = [run('a'), run('b', 'completed', undefined, 'it is over')];
    expect(cancellable(runs)).toEqual({ can: [runs[0]], cannot: [{ run: runs[1], why: 'it is over' }] });
    expect(noneCancellable(runs)).toBeUndefined();
    expect(noneCancellable(runs.slice(1))).toBe('it is over');
    expect(noneCancellable([...runs.slice(1), run('c', 'unknown', undefined, 'a copy')])).toMatch(/2 runs/);
  });
});
