import { describe, expect, it } from 'vitest';
import type { EffectRow, StepRow } from '@/lib/client/api-types';
import { stepKey } from '@/lib/core/events/ids';
import { effectLine } from './effect-line';

const key = stepKey('refund#1/create_refund#1');
const step = (more: Partial<StepRow>) =>
  ({
    stepKey: key,
    status: 'waiting',
    receipt: null,
    failure: null,
    idempotencyKey: 'k1',
    ...more,
  }) as StepRow;
const row = (more: Partial<EffectRow>) =>
  ({
    stepKey: key,
    idempotencyKey: 'k1',
    receipt: null,
    confirmedBy: null,
    held: false,
    ...more,
  }) as EffectRow;
const words = (of: StepRow, ledger: readonly EffectRow[]) => {
  const { sent, confirmed, done } = effectLine(of, ledger);
  return [sent.word, confirmed.word, done];
};

describe('where an effect stands', () => {
  // The step itself waits in all of them: the run was not resumed yet.
  it.each([
    [{ status: 'in-doubt' }, ['not known', 'no receipt', false]],
    [{ status: 'in-doubt', held: true }, ['not known, held', 'no receipt', false]],
    [
      { status: 'confirmed', confirmedBy: 'probe', receipt: 're_1' },
      ['yes', 're_1, by downstream, asked', true],
    ],
    [
      { status: 'confirmed', confirmedBy: 'decision' },
      ['a person said so', 'no receipt, by a decision', true],
    ],
    [{ status: 'confirmed', confirmedBy: 'outcome', receipt: 're_1' }, ['yes', 're_1', true]],
    [
      { status: 'confirmed', confirmedBy: 'probe', receipt: 're_1', perhapsTwice: true },
      ['yes, perhaps twice', 're_1, by downstream, asked', true],
    ],
    [{ status: 'failed' }, ['it did not happen', 'no receipt', false]],
    [{ status: 'compensated', receipt: 're_1' }, ['yes', 'compensated since', true]],
    [{ status: 'intended' }, ['under way', 'no receipt', false]],
  ] as const)('is what the ledger says: %j', (more, expected) => {
    expect(words(step({}), [row(more)])).toEqual(expected);
  });

  it('is that of its own generation', () => {
    const ledger = [
      row({ status: 'compensated' }),
      row({ status: 'confirmed', confirmedBy: 'outcome', receipt: 're_2', idempotencyKey: 'k2' }),
      row({ status: 'in-doubt', stepKey: stepKey('mail#1/send#1') }),
    ];
    expect(words(step({}), ledger)[1]).toBe('compensated since');
    expect(words(step({ idempotencyKey: 'k2' }), ledger)[1]).toBe('re_2');
  });

  it('is not another call’s where it has sent nothing itself', () => {
    const ledger = [row({ status: 'confirmed', confirmedBy: 'outcome', receipt: 're_1' })];
    for (const status of ['waiting', 'abandoned'] as const)
      expect(words(step({ idempotencyKey: null, status }), ledger)).toEqual([
        'nothing is recorded as sent',
        'no receipt',
        false,
      ]);
  });

  it.each([
    [{ status: 'completed', receipt: 're_1' }, ['yes', 're_1', true]],
    [{ status: 'in-doubt' }, ['not known', 'no receipt', false]],
    [{ status: 'unknown' }, ['not known', 'no receipt', false]],
    [{ status: 'failed', failure: 'rejected' }, ['rejected', 'no receipt', false]],
    [{ status: 'running' }, ['under way', 'no receipt', false]],
  ] as const)('is what the step says where the ledger has nothing of it: %j', (more, expected) => {
    expect(words(step(more), [])).toEqual(expected);
  });
});
