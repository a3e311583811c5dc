import { describe, expect, it } from 'vitest';
import { needsIn, nextNeed } from './needs';

type Run = Parameters<typeof needsIn>[0][number];
const action = { possible: true, reason: null };
const blocked = { possible: false, reason: 'The run is cancelled already.' };
const question = (until: string | null) =>
  ({ questionId: 'q', status: 'open', inForce: true, until }) as unknown as Run['questions'][number];

const run = (id: string, more: Partial<Run> = {}): Run =>
  ({
    id,
    status: 'interrupted',
    home: 'here',
    lineage: { root: id, parent: null, children: [], childCount: 0 },
    holder: null,
    pending: null,
    questions: [],
    effectsInDoubt: 0,
    failure: null,
    actions: { resume: action },
    next: null,
    updatedAt: '2026-11-29T01:00:00Z',
    ...more,
  }) as unknown as Run;

const ids = (runs: readonly Run[]) => needsIn(runs).map(({ runId }) => runId);

describe('what needs a person', () => {
  it('is in doubt first, then asked with the nearest deadline, then failed, interrupted, paused', () => {
    expect(
      ids([
        run('paused', { status: 'paused' }),
        run('interrupted'),
        run('failed', { status: 'failed' }),
        run('asks', { status: 'waiting', questions: [question(null)] }),
        run('asks until 18:00', { status: 'waiting', questions: [question('2026-11-29T18:00:00Z')] }),
        run('asks until 17:00', { status: 'waiting', questions: [question('2026-11-29T17:00:00Z')] }),
        run('doubt', { effectsInDoubt: 1 }),
      ]),
    ).toEqual(['doubt', 'asks until 17:00', 'asks until 18:00', 'asks', 'failed', 'interrupted', 'paused']);
  });

  it('stopped last, among those of one kind', () => {
    expect(ids([run('newest'), run('older'), run('oldest')])).toEqual(['newest', 'older', 'oldest']);
  });

  it('is no copy, nothing that an order was given for, no replay that stopped, and nothing that waits for a timer', () => {
    const parent = { runId: 'p', seq: 1, mode: 'replay' } as never;
    expect(
      ids([
        run('copy', { home: 'mirror', effectsInDoubt: 1 }),
        run('ordered', { pending: { commandId: 'c', mode: 'resume', actor: 'a' }, effectsInDoubt: 1 }),
        run('replay', {
          status: 'failed',
          lineage: { root: 'p', parent, children: [], childCount: 0 } as unknown as Run['lineage'],
        }),
        run('timer', { status: 'waiting' }),
        run('cancelled', { status: 'cancelled' }),
      ]),
    ).toEqual([]);
  });

  it('is dealt with in its plan, or at its question, or on its page where it cannot be resumed', () => {
    expect(
      needsIn([
        run('a', { effectsInDoubt: 1 }),
        run('b', { status: 'cancelled', effectsInDoubt: 1, actions: { resume: blocked } as Run['actions'] }),
        run('c', { status: 'waiting', questions: [question(null)] }),
        run('d', { next: { action: 'resume', from: 'cp_3', sentence: '' } }),
      ]).map(({ href }) => href),
    ).toEqual(['/runs/a/plan?mode=resume', '/runs/b', '/runs/c', '/runs/d/plan?mode=resume&from=cp_3']);
  });
});

it('the next one is the one after the run that is looked at, and after the last the first', () => {
  const needs = needsIn([run('a'), run('b')]);
  expect(nextNeed(needs, undefined)?.runId).toBe('a');
  expect(nextNeed(needs, 'elsewhere')?.runId).toBe('a');
  expect(nextNeed(needs, 'a')?.runId).toBe('b');
  expect(nextNeed(needs, 'b')?.runId).toBe('a');
  expect(nextNeed([], 'a')).toBeUndefined();
});
