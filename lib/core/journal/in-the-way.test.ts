import { describe, expect, it } from 'vitest';
import { refOf, TestLineage, testHash } from '../../testing/random-journal';
import { testIntent } from '../../testing/test-call';
import { runId, seq, stepKey } from '../events/ids';
import type { Intent, NewEvent } from '../events/run-event';
import type { EffectRecord } from '../projections/records';
import { assertDefined } from '../shared/assert';

const key = stepKey('work#1/pay#1');
const statuses = ['intended', 'confirmed', 'failed', 'in-doubt', 'compensated'] as const;
const effects = ['external', 'idempotent'] as const;
type Kind = (typeof effects)[number];

const send = (
  lineage: TestLineage,
  over: Partial<Intent> = {},
  effect: Kind = 'external',
  attempt = 1,
): NewEvent => ({
  kind: 'step.started',
  stepKey: key,
  name: 'pay',
  step: 'tool',
  effect,
  attempt,
  inputDigest: over.argsDigest ?? testHash('100'),
  input: refOf(1),
  intent: testIntent(lineage, { idempotencyKey: 'k1', argsDigest: testHash('100'), ...over }),
});

/** A run in `work`, beside a row of the occurrence that it or another run of the lineage owns. */
function beside(status: EffectRecord['status'], effect: Kind, owner: 'itself' | 'another run'): TestLineage {
  const lineage = new TestLineage();
  lineage.worker([{ kind: 'state.entered', key: 'work#1', state: 'work', visit: 1 }]);
  lineage.worker([send(lineage, {}, effect)]);
  const row = assertDefined(lineage.ledger()[0], 'the intent has a row');
  lineage.effects.set(`1 ${key}`, {
    ...row,
    status,
    ...(owner === 'another run' && { runId: runId('run_other'), intentSeq: seq(77) }),
  });
  return lineage;
}
const asked = (lineage: TestLineage, over: Partial<Intent>, effect: Kind): string => {
  const taken = lineage.worker([send(lineage, over, effect, 2)]);
  const problem = lineage.refused.at(-1);
  if (taken || problem === undefined) return 'taken';
  return problem.kind === 'effect-exists' ? `exists: ${problem.status}` : problem.kind;
};

describe.each(['itself', 'another run'] as const)('an occurrence of %s', (owner) => {
  describe.each(effects)('%s', (effect) => {
    it.each(statuses)('that is %s never takes other arguments under its generation', (status) => {
      const lineage = beside(status, effect, owner);
      expect(asked(lineage, { argsDigest: testHash('133'), idempotencyKey: 'k2' }, effect)).toBe(
        `exists: ${status}`,
      );
      expect(lineage.ledger()[0]).toMatchObject({ status, intent: { argsDigest: testHash('100') } });
    });

    it.each(statuses)(
      'that is %s is sent again only where it surely did not happen, or may be repeated',
      (status) => {
        const again =
          status === 'failed' || (status === 'intended' && effect === 'idempotent' && owner === 'itself');
        expect(asked(beside(status, effect, owner), {}, effect)).toBe(again ? 'taken' : `exists: ${status}`);
      },
    );

    it.each(statuses)(
      'that is %s lets another generation through only where nothing of it is open or happened',
      (status) => {
        const free = status === 'failed' || status === 'compensated';
        expect(
          asked(beside(status, effect, owner), { generation: 2, argsDigest: testHash('133') }, effect),
        ).toBe(free ? 'taken' : `exists: ${status}`);
      },
    );
  });
});

describe('an open idempotent call', () => {
  it.each([
    ['under another key', { idempotencyKey: 'k2' }, 'idempotent'],
    ['as an external one', {}, 'external'],
  ] as const)('is not repeated %s', (_how, over, effect) => {
    expect(asked(beside('intended', 'idempotent', 'itself'), over, effect)).toBe('exists: intended');
  });
});

describe('a run', () => {
  const flying = () => {
    const lineage = new TestLineage();
    lineage.worker([{ kind: 'state.entered', key: 'work#1', state: 'work', visit: 1 }, send(lineage)]);
    return lineage;
  };
  const rest = {
    'run.waiting': { kind: 'run.waiting', on: [{ stepKey: key, for: 'in-doubt' }] },
    'run.paused': { kind: 'run.paused' },
  } as const satisfies Record<string, NewEvent>;
  const timedOut: NewEvent = {
    kind: 'step.failed',
    stepKey: key,
    attempt: 1,
    failure: 'timeout',
    error: { type: 'E', message: 'm' },
    final: false,
  };

  it.each(Object.values(rest))('does not come to rest over an external call in flight ($kind)', (event) => {
    const lineage = flying();
    expect(lineage.worker([event])).toBe(false);
    expect(lineage.refused.at(-1)).toMatchObject({ kind: 'refused-event', index: 0, event: event.kind });
    expect(lineage.worker([timedOut, event])).toBe(true);
  });

  it.each(Object.values(rest))('does over one that a stop left in doubt ($kind)', (event) => {
    const lineage = flying();
    lineage.now += 5_000;
    lineage.console([{ kind: 'run.interrupted', cause: 'lease-lapsed' }]);
    lineage.claim();
    expect(lineage.worker([event])).toBe(true);
  });

  it('takes from its holder what a probe found, and no late word: that comes as evidence, after its time', () => {
    const lineage = flying();
    lineage.worker([timedOut]);
    const word = (source: 'probe' | 'late-worker'): NewEvent => ({
      kind: 'effect.verified',
      stepKey: key,
      intentSeq: assertDefined(lineage.ledger()[0], 'a row').intentSeq,
      outcome: 'did-not-happen',
      source,
    });
    expect(lineage.worker([word('late-worker')])).toBe(false);
    expect(lineage.refused.at(-1)).toMatchObject({ kind: 'refused-event', event: 'effect.verified' });
    expect(lineage.worker([word('probe')])).toBe(true);
    expect(lineage.of().events.at(-1)).toMatchObject({ outcome: 'unknown' });
  });
});
