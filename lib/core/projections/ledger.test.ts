import { describe, expect, it } from 'vitest';
import { refOf, TestLineage, testHash } from '../../testing/random-journal';
import { epochMs, runId, seq, stepKey } from '../events/ids';
import type { AttemptFailure, Intent, NewEvent } from '../events/run-event';
import { askAgainAt, isInDoubt, keyIsValid } from './ledger';
import type { EffectRecord } from './records';

const key = stepKey('work#1/pay#1');
const row = (lineage: TestLineage): EffectRecord | undefined =>
  lineage.ledger().find((one) => one.stepKey === key);

function intent(lineage: TestLineage): Intent {
  return {
    idempotencyKey: 'k',
    generation: 1,
    argsDigest: testHash('a'),
    sendBy: epochMs(lineage.now + 500),
    timeoutMs: 200,
    settlesWithinMs: 300,
    keyValidForMs: 60_000,
    guarded: true,
    verifiable: true,
  };
}
const send = (
  lineage: TestLineage,
  attempt = 1,
  effect: 'external' | 'idempotent' = 'external',
): NewEvent => ({
  kind: 'step.started',
  stepKey: key,
  name: 'pay',
  step: 'tool',
  effect,
  attempt,
  inputDigest: testHash('a'),
  input: refOf('a'),
  intent: intent(lineage),
});
const fails = (failure: AttemptFailure, attempt = 1, final = false): NewEvent => ({
  kind: 'step.failed',
  stepKey: key,
  attempt,
  failure,
  error: { type: 'E', message: failure },
  final,
});
const completes = (attempt = 1): NewEvent => ({
  kind: 'step.completed',
  stepKey: key,
  attempt,
  recorded: true,
  result: refOf('paid'),
  receipt: 're_1',
});

function sent(effect: 'external' | 'idempotent' = 'external'): TestLineage {
  const lineage = new TestLineage();
  lineage.worker([
    { kind: 'state.entered', key: 'work#1', state: 'work', visit: 1 },
    send(lineage, 1, effect),
  ]);
  return lineage;
}
const lapse = (lineage: TestLineage) => {
  lineage.now += 5_000;
  lineage.console([{ kind: 'run.interrupted', cause: 'lease-lapsed' }]);
};
const decide = (lineage: TestLineage, outcome: 'happened' | 'did-not-happen' | 'hold') =>
  lineage.console([
    {
      kind: 'effect.decided',
      stepKey: key,
      decision: {
        intentSeq: row(lineage)?.intentSeq ?? seq(0),
        outcome,
        ...(outcome === 'happened' && { result: refOf('paid') }),
      },
      actor: 'op',
      reason: '',
      commandId: lineage.nextCommand(),
    },
  ]);

describe('effect ledger', () => {
  it.each(['timeout', 'unavailable', 'error'] as const)(
    'holds an external call that ended in %s to be in doubt (S05)',
    (failure) => {
      const lineage = sent();
      lineage.worker([fails(failure)]);
      expect(row(lineage)).toMatchObject({ status: 'in-doubt', doubtBy: 'worker' });
      expect(lineage.worker([send(lineage, 2)])).toBe(false);
      expect(lineage.refused.at(-1)).toMatchObject({ kind: 'effect-exists', status: 'in-doubt' });
    },
  );

  it.each(['rejected', 'not-sent'] as const)(
    'knows that a call which was %s did not happen, and lets it be sent again',
    (failure) => {
      const lineage = sent();
      lineage.worker([fails(failure)]);
      expect(row(lineage)).toMatchObject({ status: 'failed', executions: failure === 'not-sent' ? 0 : 1 });
      expect(lineage.worker([send(lineage, 2)])).toBe(true);
    },
  );

  it('leaves an idempotent call in doubt after a refusal that followed an attempt in doubt: a refusal settles its own attempt only', () => {
    const lineage = sent('idempotent');
    lineage.worker([fails('timeout'), send(lineage, 2, 'idempotent'), fails('rejected', 2)]);
    expect(row(lineage)).toMatchObject({ status: 'intended', doubtBefore: true });
    const known = row(lineage);
    expect(known && keyIsValid(known, epochMs(lineage.now))).toBe(true);
    expect(known && isInDoubt(known, epochMs(lineage.now))).toBe(false);
    expect(known && isInDoubt(known, epochMs(lineage.now + 61_000))).toBe(true);
  });

  it('refuses to repeat an idempotent call once its key is no longer valid', () => {
    const lineage = sent('idempotent');
    lineage.now += 61_000;
    expect(lineage.worker([send(lineage, 2, 'idempotent')])).toBe(false);
    expect(lineage.refused.at(-1)).toMatchObject({ kind: 'effect-exists', status: 'intended' });
  });

  it('takes back at a revival the doubt that only the stop had raised', () => {
    const lineage = sent();
    lapse(lineage);
    expect(row(lineage)).toMatchObject({ status: 'in-doubt', doubtBy: 'stop' });
    lineage.worker([completes()]);
    expect(lineage.of().events.at(-2)).toMatchObject({ kind: 'run.resumed', revived: true, by: 'console' });
    expect(row(lineage)).toMatchObject({ status: 'confirmed', confirmedBy: 'outcome', receipt: 're_1' });
    expect(lineage.of().run.inDoubt).toBe(0);
  });

  it('keeps at a revival the doubt that the worker had reported, and what was decided meanwhile', () => {
    const reported = sent();
    reported.worker([fails('timeout')]);
    lapse(reported);
    reported.worker([{ kind: 'message.appended', role: 'user', message: refOf(1) }]);
    expect(row(reported)?.status).toBe('in-doubt');
    const decided = sent();
    lapse(decided);
    decide(decided, 'did-not-happen');
    decided.worker([{ kind: 'message.appended', role: 'user', message: refOf(1) }]);
    expect(row(decided)?.status).toBe('failed');
    expect(decided.of().run.state.open[key]?.settled).toBe('did-not-happen');
  });

  it('stays in doubt on hold, and is confirmed with its result by a decision that it happened', () => {
    const lineage = sent();
    lapse(lineage);
    decide(lineage, 'hold');
    expect(row(lineage)).toMatchObject({ status: 'in-doubt', held: true });
    decide(lineage, 'happened');
    expect(row(lineage)).toMatchObject({
      status: 'confirmed',
      confirmedBy: 'decision',
      result: refOf('paid'),
    });
    decide(lineage, 'did-not-happen');
    expect(row(lineage)?.status).toBe('confirmed');
  });

  it('takes a probe’s "not found" for unknown until the call had time to settle', () => {
    const lineage = sent();
    lineage.worker([fails('timeout')]);
    const intentSeq = row(lineage)?.intentSeq ?? seq(0);
    const probe: NewEvent = {
      kind: 'effect.verified',
      stepKey: key,
      intentSeq,
      outcome: 'did-not-happen',
      source: 'probe',
    };
    lineage.worker([probe]);
    expect(lineage.of().events.at(-1)).toMatchObject({ outcome: 'unknown' });
    expect(row(lineage)?.status).toBe('in-doubt');
    const known = row(lineage);
    lineage.now = known ? askAgainAt(known) : 0;
    lineage.worker([probe]);
    expect(row(lineage)?.status).toBe('failed');
  });

  it('binds an answer to one intent: evidence about an older one changes nothing', () => {
    const lineage = sent();
    const old = row(lineage)?.intentSeq ?? seq(0);
    lineage.worker([fails('rejected'), send(lineage, 2)]);
    lineage.console([
      { kind: 'effect.verified', stepKey: key, intentSeq: old, outcome: 'happened', source: 'late-worker' },
    ]);
    expect(row(lineage)?.status).toBe('intended');
  });

  it('passes over inherited intents, and a fork may not send what the lineage has open or confirmed (promise 1)', () => {
    const lineage = sent();
    lapse(lineage);
    const before = JSON.stringify(lineage.ledger());
    const fork = lineage.fork(runId('run_fork'), lineage.of().run.headSeq);
    expect(JSON.stringify(lineage.ledger())).toBe(before);
    expect(fork.run.inDoubt).toBe(0);
    lineage.claim(runId('run_fork'));
    expect(lineage.worker([send(lineage, 2)], runId('run_fork'))).toBe(false);
    expect(lineage.refused.at(-1)).toMatchObject({
      kind: 'effect-exists',
      runId: 'run_root',
      status: 'in-doubt',
    });
    decide(lineage, 'happened');
    expect(lineage.worker([send(lineage, 2)], runId('run_fork'))).toBe(false);
    expect(lineage.refused.at(-1)).toMatchObject({ kind: 'effect-exists', status: 'confirmed' });
  });
});
