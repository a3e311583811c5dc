import { describe, expect, it } from 'vitest';
import { refOf, TestLineage } from '../../testing/random-journal';
import { testCall } from '../../testing/test-call';
import { epochMs, type Seq, seq, stepKey } from '../events/ids';
import type { NewEvent } from '../events/run-event';
import { assertDefined } from '../shared/assert';
import { doubtsOf, isResultUnknown, mayHaveHappenedTwice } from './ledger';
import type { EffectRecord } from './records';
import { phaseOf } from './run-status';

const { key, send, fails, row } = testCall('pay');
type Kind = 'external' | 'idempotent';

const completes = (recorded: boolean, attempt = 1): NewEvent => ({
  kind: 'step.completed',
  stepKey: key,
  attempt,
  recorded,
  receipt: 're_1',
  ...(recorded ? { result: refOf('paid') } : { problem: '$.a: a Socket' }),
});
const rowOf = (lineage: TestLineage): EffectRecord => assertDefined(row(lineage), 'the occurrence has a row');
const word = (
  at: Seq,
  outcome: 'happened' | 'did-not-happen' | 'unknown',
  source: 'probe' | 'late-worker',
  withResult: boolean,
): NewEvent => ({
  kind: 'effect.verified',
  stepKey: key,
  intentSeq: at,
  outcome,
  source,
  receipt: 're_late',
  ...(withResult && { result: refOf('late') }),
});
const decide = (lineage: TestLineage, outcome: 'happened' | 'did-not-happen', at: Seq, result = true): void =>
  lineage.console([
    {
      kind: 'effect.decided',
      stepKey: key,
      decision: {
        intentSeq: at,
        outcome,
        ...(outcome === 'happened' && result && { result: refOf('said') }),
      },
      actor: 'op',
      reason: '',
      commandId: lineage.nextCommand(),
    },
  ]);
function sent(effect: Kind): TestLineage {
  const lineage = new TestLineage();
  lineage.worker([
    { kind: 'state.entered', key: 'work#1', state: 'work', visit: 1 },
    send(lineage, 1, effect),
  ]);
  return lineage;
}
const lapse = (lineage: TestLineage): void => {
  lineage.now += 5_000;
  lineage.console([{ kind: 'run.interrupted', cause: 'lease-lapsed' }]);
};
/** How an intent stands when word of it comes. */
const standings = {
  'in flight': () => {},
  'in doubt by a time-out': (lineage: TestLineage) => void lineage.worker([fails('timeout')]),
  'in doubt by a stop': lapse,
  'decided not to have happened': (lineage: TestLineage) => {
    lapse(lineage);
    decide(lineage, 'did-not-happen', rowOf(lineage).intentSeq);
  },
} as const;
const cases = Object.entries(standings).flatMap(([name, stand]) =>
  (['external', 'idempotent'] as const).flatMap((effect) =>
    (['probe', 'late-worker'] as const).map((source) => ({ name, stand, effect, source })),
  ),
);

describe('word that it happened', () => {
  it.each(cases)(
    'of a call ($effect) that is $name, by a $source: without a result it confirms nothing, nor lets it be taken for unsent',
    ({ stand, effect, source }) => {
      const lineage = sent(effect);
      stand(lineage);
      const { intentSeq } = rowOf(lineage);
      const { status } = rowOf(lineage);
      lineage.console([word(intentSeq, 'happened', source, false)]);
      const row = rowOf(lineage);
      expect(row.status).toBe(
        status === 'failed' ? (effect === 'external' ? 'in-doubt' : 'intended') : status,
      );
      expect(row.evidence).toMatchObject([{ intentSeq, source, receipt: 're_late' }]);
      expect(mayHaveHappenedTwice(row)).toBe(false);
      // A person who is asked what it answered settles it.
      if (row.status === 'in-doubt') {
        expect(phaseOf(lineage.of().run.state, [row])).toBe('waiting_human');
        decide(lineage, 'happened', intentSeq);
        expect(rowOf(lineage)).toMatchObject({ status: 'confirmed', result: refOf('said') });
      }
    },
  );

  it.each(cases)(
    'of a call ($effect) that is $name, by a $source: with its result it confirms',
    ({ stand, effect, source }) => {
      const lineage = sent(effect);
      stand(lineage);
      lineage.console([word(rowOf(lineage).intentSeq, 'happened', source, true)]);
      expect(rowOf(lineage)).toMatchObject({
        status: 'confirmed',
        confirmedBy: source,
        result: refOf('late'),
      });
      expect(isResultUnknown(rowOf(lineage))).toBe(false);
    },
  );

  const next = {
    'in flight': [],
    'in doubt': [fails('timeout', 2)],
    confirmed: [completes(true, 2)],
    failed: [fails('rejected', 2)],
  } as const;
  it.each(
    Object.entries(next).flatMap(([name, events]) =>
      [true, false].map((withResult) => ({ name, events, withResult })),
    ),
  )(
    'of an earlier intent, the newest being $name (result: $withResult), is kept with its receipt and raises the alarm',
    ({ name, events, withResult }) => {
      const lineage = sent('external');
      lapse(lineage);
      const first = rowOf(lineage).intentSeq;
      decide(lineage, 'did-not-happen', first);
      lineage.claim();
      lineage.worker([send(lineage, 2, 'external'), ...events]);
      expect(rowOf(lineage).intentSeq).not.toBe(first);
      const before = rowOf(lineage);
      lineage.console([word(first, 'happened', 'late-worker', withResult)]);
      const row = rowOf(lineage);
      if (name === 'failed') {
        // The newest one surely did nothing: this is what became of the occurrence, and it is never sent again.
        expect(row).toMatchObject({ intentSeq: first, status: withResult ? 'confirmed' : 'in-doubt' });
        expect(lineage.worker([send(lineage, 3, 'external')])).toBe(false);
        expect(mayHaveHappenedTwice(row)).toBe(false);
      } else {
        expect(row).toMatchObject({ ...before, evidence: [{ intentSeq: first, receipt: 're_late' }] });
        expect(mayHaveHappenedTwice(row)).toBe(true);
      }
    },
  );
});

describe('a call that answered what could not be recorded', () => {
  it.each(['external', 'idempotent'] as const)(
    'is confirmed, its result unknown, until a person gives it (%s)',
    (effect) => {
      const lineage = sent(effect);
      lineage.worker([completes(false)]);
      expect(rowOf(lineage)).toMatchObject({ status: 'confirmed', receipt: 're_1' });
      expect(isResultUnknown(rowOf(lineage))).toBe(true);
      expect(doubtsOf(lineage.root, lineage.ledger(), epochMs(lineage.now))).toEqual([]);
      const { intentSeq } = rowOf(lineage);
      for (const [outcome, result] of [
        ['did-not-happen', false],
        ['happened', false],
      ] as const) {
        decide(lineage, outcome, intentSeq, result);
        expect(isResultUnknown(rowOf(lineage)), outcome).toBe(true);
      }
      lineage.console([word(intentSeq, 'did-not-happen', 'probe', false)]);
      expect(isResultUnknown(rowOf(lineage))).toBe(true);
      decide(lineage, 'happened', intentSeq);
      expect(rowOf(lineage)).toMatchObject({
        status: 'confirmed',
        confirmedBy: 'decision',
        result: refOf('said'),
        receipt: 're_1',
      });
    },
  );
});

describe('a decision', () => {
  it.each(['happened', 'did-not-happen'] as const)(
    'that it %s ends what a waiting run asks of a person',
    (outcome) => {
      const lineage = sent('external');
      lineage.worker([fails('timeout'), { kind: 'run.waiting', on: [{ stepKey: key, for: 'in-doubt' }] }]);
      lineage.release();
      const state = () => lineage.of().run.state;
      const doubts = () => doubtsOf(lineage.root, lineage.ledger(), epochMs(lineage.now));
      expect([phaseOf(state(), doubts()), phaseOf(state())]).toEqual(['waiting_human', 'waiting_human']);
      decide(lineage, outcome, rowOf(lineage).intentSeq);
      expect([phaseOf(state(), doubts()), phaseOf(state())]).toEqual(['waiting_result', 'waiting_result']);
      expect(state().waitingOn).toEqual([]);
    },
  );
});

describe('a revival', () => {
  it('takes back no doubt of an epoch before it: that call is nobody’s any more', () => {
    const lineage = sent('external');
    lapse(lineage);
    lineage.claim();
    lapse(lineage);
    lineage.worker([{ kind: 'message.appended', role: 'user', message: refOf(1) }]);
    expect(lineage.of().events.at(-2)).toMatchObject({ kind: 'run.resumed', revived: true });
    expect(rowOf(lineage).status).toBe('in-doubt');
  });
});

describe('a row', () => {
  it('keeps the first intent’s time through every repetition: the validity of its key counts from there', () => {
    const lineage = sent('idempotent');
    const { firstIntentAt } = rowOf(lineage);
    for (const attempt of [2, 3]) {
      lineage.now += 1_000;
      lineage.worker([fails('timeout', attempt - 1), send(lineage, attempt, 'idempotent')]);
    }
    expect(rowOf(lineage)).toMatchObject({ firstIntentAt, attempt: 3 });
    expect(rowOf(lineage).intentAt).toBeGreaterThan(firstIntentAt);
  });

  it('without a start completes no step', () => {
    const lineage = new TestLineage();
    lineage.worker([completes(true)]);
    expect(lineage.of().run.state.counts.steps).toBe(0);
  });
});

it('keeps variables and steps under names that every object has', () => {
  const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty'];
  const lineage = new TestLineage();
  lineage.worker([
    { kind: 'state.entered', key: 'constructor#1', state: 'constructor', visit: 1 },
    ...names.map(
      (name): NewEvent => ({
        kind: 'variables.patched',
        patch: [{ op: 'add', path: `/${name}`, value: refOf(name) }],
      }),
    ),
  ]);
  const { state } = lineage.of().run;
  expect(Object.entries(state.variables)).toEqual(names.map((name) => [name, refOf(name)]));
  expect(state.visits['constructor']).toMatchObject({ count: 1 });
  lineage.worker(
    names.flatMap((name): readonly NewEvent[] => [
      { kind: 'step.completed', stepKey: stepKey(name), attempt: 1, recorded: true },
      {
        kind: 'step.failed',
        stepKey: stepKey(name),
        attempt: 1,
        failure: 'error',
        error: { type: 'E', message: 'm' },
        final: true,
      },
    ]),
  );
  expect(lineage.of().run.state.seq).toBe(seq(lineage.of().events.length));
  expect(lineage.of().run.state.counts.steps).toBe(0);
});
