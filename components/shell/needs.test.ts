import { describe, expect, it } from 'vitest';
import { byNeed, nextNeed } from './needs';

type Run = Parameters<typeof byNeed>[0][number];
const action = { possible: true, reason: null };
const blocked = { possible: false, reason: 'The run is cancelled already.' };
const question = (until: string | null) =>
  ({ questionId: 'q', status: 'open', inForce: true, until }) as unknown as Run['questions'][number];

const run = (id: string, more: Partial<Run> = {}): Run =>
  ({
    id,
    status: 'interrupted',
    questions: [],
    effectsInDoubt: 0,
    actions: { resume: action },
    next: null,
    ...more,
  }) as unknown as Run;

const ids = (runs: readonly Run[]) => byNeed(runs).map(({ runId }) => runId);

describe('what needs a person most', () => {
  it('is in doubt, then asked with the nearest deadline, then waiting for anything else, then interrupted, then paused', () => {
    expect(
      ids([
        run('paused', { status: 'paused' }),
        run('interrupted'),
        run('blocked', { status: 'waiting' }),
        run('asks', { status: 'waiting', questions: [question(null)] }),
        run('asks until 18:00', { status: 'waiting', questions: [question('2026-11-29T18:00:00Z')] }),
        run('asks until 17:00', { status: 'waiting', questions: [question('2026-11-29T17:00:00Z')] }),
        run('doubt', { status: 'cancelled', effectsInDoubt: 1 }),
      ]),
    ).toEqual(['doubt', 'asks until 17:00', 'asks until 18:00', 'asks', 'blocked', 'interrupted', 'paused']);
  });

  it('stopped last, among those of one kind', () => {
    expect(ids([run('newest'), run('older'), run('oldest')])).toEqual(['newest', 'older', 'oldest']);
  });

  it('leaves out none of those that the list holds', () => {
    const old = { questionId: 'q', status: 'open', inForce: false, until: null } as never;
    expect(
      byNeed([
        run('left behind', { status: 'waiting', questions: [old] }),
        run('ends', { status: 'failed' }),
      ]),
    ).toHaveLength(2);
  });

  it('is dealt with in its plan, or at its question, or on its page where it cannot be resumed', () => {
    expect(
      byNeed([
        run('a', { effectsInDoubt: 1 }),
        run('b', { status: 'cancelled', effectsInDoubt: 1, actions: { resume: blocked } as Run['actions'] }),
        run('c', { status: 'waiting', questions: [question(null)] }),
        run('d', { next: { action: 'resume', from: 'cp_3', sentence: '' } }),
      ]).map(({ href }) => href),
    ).toEqual(['/runs/a/plan?mode=resume', '/runs/b', '/runs/c', '/runs/d/plan?mode=resume&from=cp_3']);
  });
});

it('the next one is the one after the run that is looked at, and after the last the first', () => {
  const needs = byNeed([run('a'), run('b')]);
  expect(nextNeed(needs, undefined)?.runId).toBe('a');
  expect(nextNeed(needs, 'elsewhere')?.runId).toBe('a');
  expect(nextNeed(needs, 'a')?.runId).toBe('b');
  expect(nextNeed(needs, 'b')?.runId).toBe('a');
  expect(nextNeed([], 'a')).toBeUndefined();
});
