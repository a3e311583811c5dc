import { describe, expect, it } from 'vitest';
import { TestLineage, testHash } from '../../testing/random-journal';
import { epochMs, seq, stepKey } from '../events/ids';
import type { NewEvent } from '../events/run-event';

const key = stepKey('work#1/refund#1');
const sent: NewEvent = {
  kind: 'step.started',
  stepKey: key,
  name: 'refund',
  step: 'tool',
  effect: 'external',
  attempt: 1,
  inputDigest: testHash(key),
  intent: {
    idempotencyKey: 'k',
    generation: 1,
    argsDigest: testHash(key),
    sendBy: epochMs(9_000),
    timeoutMs: 5_000,
    settlesWithinMs: 60_000,
    keyValidForMs: 86_400_000,
    guarded: true,
    verifiable: true,
  },
};
const timedOut: NewEvent = {
  kind: 'step.failed',
  stepKey: key,
  attempt: 1,
  failure: 'timeout',
  error: { type: 'Timeout', message: 'no answer' },
  final: false,
};
const parked: NewEvent = { kind: 'run.waiting', on: [{ stepKey: key, for: 'in-doubt' }] };

describe('a run that parks over a call in doubt', () => {
  function inDoubt(): TestLineage {
    const lineage = new TestLineage();
    lineage.worker([{ kind: 'state.entered', key: 'work#1', state: 'work', visit: 1 }, sent, timedOut]);
    return lineage;
  }

  it('waits for it', () => {
    const lineage = inDoubt();
    lineage.worker([parked]);
    const { state } = lineage.of().run;
    expect(state.open[key]).toMatchObject({ status: 'in-doubt', waitsFor: 'in-doubt' });
    expect(state.waitingOn).toEqual([{ stepKey: key, for: 'in-doubt' }]);
  });

  it.each(['happened', 'did-not-happen'] as const)(
    'does not where a person had decided it while the worker parked: %s',
    (outcome) => {
      const lineage = inDoubt();
      const intentSeq = seq(3);
      const decision = { outcome, intentSeq };
      const commandId = lineage.nextCommand();
      lineage.console([
        { kind: 'effect.decided', stepKey: key, decision, actor: 'ann', reason: '', commandId },
      ]);
      lineage.worker([parked]);
      const { run, steps } = lineage.of();
      expect(run.state.status).toBe('waiting');
      expect(run.state.open[key]).toMatchObject({ status: 'waiting', settled: outcome });
      expect(run.state.open[key]?.waitsFor).toBeUndefined();
      expect(run.state.waitingOn).toEqual([]);
      expect(steps.get(`0 ${key}`)?.status).toBe('waiting');
    },
  );
});
