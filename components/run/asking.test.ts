import { describe, expect, it } from 'vitest';
import type { EffectRow, RunSummary } from '@/lib/client/api-types';
import type { Verification } from '@/lib/client/order-events';
import { answeredWords, askingReason, decidedWords, keyedDoubt, questionWords } from './asking';

const at = Date.parse('2026-11-29T02:28:02Z');
const waits = { actor: 'anna', at } as NonNullable<Verification['waits']>;
const ended = { outcome: 'refused', detail: 'no worker has the probe' } as NonNullable<Verification['ended']>;

describe('what became of asking downstream, in words', () => {
  it('names who asked, when, and who is to answer', () => {
    expect(questionWords({ waits, ended: undefined }, true, 'utc')).toBe(
      'Asked by anna, 2026-11-29 02:28:02 UTC. A worker with this tool’s probe answers it; the answer is shown here.',
    );
    expect(questionWords({ waits, ended: undefined }, undefined, 'utc')).toMatch(/A worker with/);
    expect(questionWords({ waits, ended: undefined }, false, 'utc')).toMatch(/No worker .* is connected/);
  });

  it('names how a question ended without an answer', () => {
    expect(questionWords({ waits: undefined, ended }, true, 'utc')).toBe(
      'The question to downstream was refused: no worker has the probe',
    );
    expect(questionWords({ waits: undefined, ended: undefined }, true, 'utc')).toBe(undefined);
  });

  it('tells a probe from a late worker', () => {
    const answer = (source: string) => ({ source, at }) as NonNullable<Verification['answer']>;
    expect(answeredWords(answer('probe'), 'utc')).toBe('Asked downstream, 2026-11-29 02:28:02 UTC');
    expect(answeredWords(answer('late-worker'), 'utc')).toBe('A late worker told, 2026-11-29 02:28:02 UTC');
  });
});

it('a person’s word is told as theirs, with when and why', () => {
  const decided = {
    actor: 'anna',
    at,
    reason: 'seen in their list',
    decision: { outcome: 'happened' },
  } as NonNullable<Verification['decided']>;
  const not = { ...decided, decision: { outcome: 'did-not-happen' } } as typeof decided;
  expect(decidedWords(not, 'utc')).toContain('anna said that it did not happen, ');
  expect(decidedWords(decided, 'utc')).toBe(
    'anna said that it happened, 2026-11-29 02:28:02 UTC: seen in their list',
  );
  expect(decidedWords({ ...decided, reason: '' }, 'utc')).toBe(
    'anna said that it happened, 2026-11-29 02:28:02 UTC.',
  );
});

describe('the effect that the key asks about', () => {
  const row = (name: string, verifiable: boolean, status = 'in-doubt') =>
    ({ name, verifiable, status }) as EffectRow;
  const [blind, first, second, known] = [
    row('blind', false),
    row('first', true),
    row('second', true),
    row('known', true, 'confirmed'),
  ] as const;

  it('is the first that can be asked about, or the one where the person is', () => {
    expect(keyedDoubt([known, blind, first, second])).toBe(first);
    expect(keyedDoubt([blind, first, second], (each) => each === second)).toBe(second);
    expect(keyedDoubt([blind, first, second], (each) => each === blind)).toBe(first);
  });

  it('is the first in doubt where none can be, whose button says why', () => {
    expect(keyedDoubt([known, blind])).toBe(blind);
    expect(keyedDoubt([known])).toBeUndefined();
  });
});

describe('why downstream cannot be asked', () => {
  const run = (possible: boolean) =>
    ({
      id: 'r1',
      actions: { verify: { possible, reason: possible ? null : 'This is a copy' } },
    }) as RunSummary;
  const effect = { runId: 'r1', status: 'in-doubt', verifiable: true } as EffectRow;

  it.each([
    ['nothing is in the way', run(true), effect, undefined, false, undefined],
    [
      'it is settled',
      run(true),
      { ...effect, status: 'confirmed' },
      undefined,
      false,
      'Its outcome is known',
    ],
    [
      'there is no probe',
      run(true),
      { ...effect, verifiable: false },
      undefined,
      false,
      'This tool has no probe',
    ],
    ['the run does not allow it', run(false), effect, undefined, false, 'This is a copy'],
    // Whether the other run allows it, its own console says.
    ['another run sent it', run(false), { ...effect, runId: 'r2' }, undefined, false, undefined],
    ['an order is on its way', run(true), effect, 'Accepted', true, 'Accepted'],
    ['it was asked', run(true), effect, undefined, true, 'Asked; waits for the answer'],
  ] as const)('where %s', (_, of, row, lock, asked, reason) => {
    expect(askingReason(of, row as EffectRow, lock, asked)).toBe(reason);
  });
});
