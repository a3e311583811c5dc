import { describe, expect, it } from 'vitest';
import { refOf, TestLineage } from '../../testing/random-journal';
import { testCall } from '../../testing/test-call';
import { epochMs, type Seq } from '../events/ids';
import type { AttemptFailure, NewEvent } from '../events/run-event';
import { assertDefined } from '../shared/assert';
import { doubtsOf, isInDoubt, keyIsValid, mayHaveHappenedTwice } from './ledger';
import type { EffectRecord } from './records';

/* Attempts at one idempotent call have one key: what any of them came to is what became of the call. */

const call = testCall('note');
const { key, fails, row } = call;
const VALID_MS = 3_600_000;
const DAY_MS = 86_400_000;

const send = (lineage: TestLineage, attempt: number, effect: 'idempotent' | 'external'): NewEvent =>
  call.send(lineage, attempt, effect, { keyValidForMs: VALID_MS });
const rowOf = (lineage: TestLineage): EffectRecord => assertDefined(row(lineage), 'the call has a row');
const late = (
  intentSeq: Seq,
  outcome: 'happened' | 'did-not-happen' | 'unknown',
  result = true,
): NewEvent => ({
  kind: 'effect.verified',
  stepKey: key,
  intentSeq,
  outcome,
  source: 'late-worker',
  receipt: 're_late',
  ...(result && { result: refOf('late') }),
});

/** Two attempts at the call, a second apart. */
function twice(first: AttemptFailure, second?: AttemptFailure) {
  const lineage = new TestLineage();
  lineage.worker([{ kind: 'state.entered', key: 'work#1', state: 'work', visit: 1 }]);
  expect(lineage.worker([send(lineage, 1, 'idempotent')])).toBe(true);
  const { intentSeq } = rowOf(lineage);
  lineage.worker([fails(first, 1)]);
  lineage.now += 1_000;
  expect(lineage.worker([send(lineage, 2, 'idempotent')])).toBe(true);
  if (second !== undefined) lineage.worker([fails(second, 2)]);
  return { lineage, first: intentSeq, second: rowOf(lineage).intentSeq };
}

describe('late word about an earlier attempt at an idempotent call', () => {
  const stands = [
    ['timeout', undefined],
    ['timeout', 'timeout'],
    ['timeout', 'rejected'],
    ['timeout', 'not-sent'],
    ['rejected', undefined],
    ['rejected', 'rejected'],
  ] as const;

  it.each(stands)('that it happened confirms the call: first %s, then %s', (one, other) => {
    const { lineage, first } = twice(one, other);
    lineage.console([late(first, 'happened')]);
    expect(rowOf(lineage)).toMatchObject({
      status: 'confirmed',
      confirmedBy: 'late-worker',
      runId: 'run_root',
      intentSeq: first,
      receipt: 're_late',
      result: refOf('late'),
    });
    expect(mayHaveHappenedTwice(rowOf(lineage))).toBe(false);
    expect(lineage.worker([send(lineage, 3, 'idempotent')])).toBe(false);
    expect(lineage.refused.at(-1)).toMatchObject({ kind: 'effect-exists', status: 'confirmed' });
  });

  it.each(stands)(
    'without what it answered leaves the answer to a retry: first %s, then %s',
    (one, other) => {
      const { lineage, first } = twice(one, other);
      lineage.console([late(first, 'happened', false)]);
      const row = rowOf(lineage);
      expect(row).toMatchObject({ status: 'intended', evidence: [{ intentSeq: first, receipt: 're_late' }] });
      expect(mayHaveHappenedTwice(row)).toBe(false);
      expect(lineage.worker([send(lineage, 3, 'idempotent')])).toBe(true);
    },
  );

  it.each(['did-not-happen', 'unknown'] as const)('says nothing of the later one: %s', (outcome) => {
    const { lineage, first } = twice('timeout');
    const before = rowOf(lineage);
    lineage.console([late(first, outcome)]);
    expect(rowOf(lineage)).toEqual(before);
  });

  it('does not take the place of what the later one answered', () => {
    const { lineage, first, second } = twice('timeout');
    const done = { kind: 'step.completed', stepKey: key, attempt: 2, recorded: true } as const;
    lineage.worker([{ ...done, result: refOf('paid') }]);
    lineage.console([late(first, 'happened')]);
    expect(rowOf(lineage)).toMatchObject({
      status: 'confirmed',
      confirmedBy: 'outcome',
      intentSeq: second,
      result: refOf('paid'),
    });
  });

  it('says what a later one answered that could not record it', () => {
    const { lineage, first } = twice('timeout');
    const done = { kind: 'step.completed', stepKey: key, attempt: 2, recorded: false } as const;
    lineage.worker([{ ...done, problem: '$.a: a Socket' }]);
    lineage.console([late(first, 'happened')]);
    expect(rowOf(lineage)).toMatchObject({ status: 'confirmed', result: refOf('late') });
  });
});

describe('the time for which the key is valid', () => {
  it.each(['idempotent', 'external'] as const)(
    'counts from the first attempt that may have left: %s, surely not sent, then sent a day later',
    (effect) => {
      const lineage = new TestLineage();
      lineage.worker([{ kind: 'state.entered', key: 'work#1', state: 'work', visit: 1 }]);
      lineage.worker([send(lineage, 1, effect), fails('not-sent', 1)]);
      expect(rowOf(lineage)).toMatchObject({ status: 'failed', executions: 0 });
      lineage.now += DAY_MS;
      lineage.claim();
      expect(lineage.worker([send(lineage, 2, effect)])).toBe(true);
      const row = rowOf(lineage);
      const at = epochMs(lineage.now);
      expect(row).toMatchObject({ status: 'intended', firstIntentAt: row.intentAt, executions: 1 });
      expect(keyIsValid(row, at)).toBe(true);
      expect(isInDoubt(row, at)).toBe(false);
      expect(doubtsOf(row.runId, lineage.ledger(), at)).toEqual([]);
    },
  );

  it.each([['rejected'], ['timeout', 'not-sent']] as const)(
    'counts from the first where that one may have reached downstream: %s %s',
    (...failures) => {
      const lineage = new TestLineage();
      lineage.worker([{ kind: 'state.entered', key: 'work#1', state: 'work', visit: 1 }]);
      for (const [n, failure] of failures.entries())
        lineage.worker([send(lineage, n + 1, 'idempotent'), fails(failure, n + 1)]);
      const { firstIntentAt } = rowOf(lineage);
      lineage.now += 1_000;
      expect(lineage.worker([send(lineage, 9, 'idempotent')])).toBe(true);
      expect(rowOf(lineage).firstIntentAt).toBe(firstIntentAt);
    },
  );
});
