import { describe, expect, it } from 'vitest';
import { refOf, TestLineage } from '../../testing/random-journal';
import { testCall, testIntent } from '../../testing/test-call';
import { commandId, epoch, epochMs, type RunId, runId, seq } from '../events/ids';
import type { Intent, NewEvent, RunEvent } from '../events/run-event';
import { assertDefined } from '../shared/assert';
import { askAgainAt, doubtsOf, isInDoubt, keyIsValid, ledgerChanges, ledgerOf } from './ledger';
import type { EffectRecord } from './records';
import { emptyState } from './run-state';

const call = testCall('pay');
const { key, fails, row } = call;
const intent = (lineage: TestLineage): Intent =>
  testIntent(lineage, { settlesWithinMs: 300, keyValidForMs: 60_000 });
const send = (lineage: TestLineage, attempt = 1, effect: 'external' | 'idempotent' = 'external'): NewEvent =>
  call.send(lineage, attempt, effect, intent(lineage));
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

const doubtsIn = (lineage: TestLineage) =>
  doubtsOf(lineage.of().run.runId, lineage.ledger(), epochMs(lineage.now));

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
    expect(lineage.refused.at(-1)).toMatchObject({ kind: 'effect-exists', status: 'in-doubt' });
  });

  it('takes back at a revival the doubt that only the stop had raised', () => {
    const lineage = sent();
    lapse(lineage);
    expect(row(lineage)).toMatchObject({ status: 'in-doubt', doubtBy: 'stop' });
    lineage.worker([completes()]);
    expect(lineage.of().events.at(-2)).toMatchObject({ kind: 'run.resumed', revived: true, by: 'console' });
    expect(row(lineage)).toMatchObject({ status: 'confirmed', confirmedBy: 'outcome', receipt: 're_1' });
    expect(doubtsIn(lineage)).toEqual([]);
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

  it('counts the time to settle by the store’s clock too: a worker whose clock runs behind says nothing sooner', () => {
    const lineage = new TestLineage();
    const behind = send(lineage);
    lineage.worker([
      { kind: 'state.entered', key: 'work#1', state: 'work', visit: 1 },
      {
        ...behind,
        at: epochMs(1),
        intent: { ...intent(lineage), sendBy: epochMs(1), leavesBy: epochMs(1) },
      } as NewEvent,
    ]);
    const placedAt = lineage.of().run.updatedAt;
    const leaseMs = assertDefined(lineage.of().run.lease, 'it is held').leaseMs;
    const known = assertDefined(row(lineage), 'it was sent');
    expect(known).toMatchObject({ intentAt: placedAt, intent: { leavesBy: placedAt + leaseMs } });
    expect(askAgainAt(known)).toBe(placedAt + leaseMs + 500);
    lineage.worker([fails('timeout')]);
    const probe: NewEvent = {
      kind: 'effect.verified',
      stepKey: key,
      intentSeq: known.intentSeq,
      outcome: 'did-not-happen',
      source: 'probe',
    };
    // A batch takes 5 ms to come in.
    lineage.now = placedAt + leaseMs + 494;
    lineage.worker([probe]);
    expect(row(lineage)?.status).toBe('in-doubt');
    lineage.now = placedAt + leaseMs + 495;
    lineage.worker([probe]);
    expect(row(lineage)?.status).toBe('failed');
  });

  it('gives an instant to ask again at, whatever was recorded', () => {
    const known = assertDefined(row(sent()), 'it was sent');
    const { leavesBy: _unknown, ...old } = known.intent;
    expect(askAgainAt({ ...known, intent: old })).toBeGreaterThan(known.intentAt + 10_000);
    const far = { ...known, intent: { ...known.intent, sendBy: epochMs(8_640_000_000_000_000) } };
    expect(new Date(askAgainAt(far)).toISOString()).toBe('+275760-09-13T00:00:00.000Z');
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

  describe('a row', () => {
    const other = runId('run_other');
    const stamp = { seq: seq(90), at: epochMs(1), epoch: epoch(1), by: 'worker', version: 1 } as const;
    const changes = (row: EffectRecord, event: NewEvent, by: RunId = other) =>
      ledgerChanges(
        ledgerOf([row]),
        row.root,
        { ...event, ...stamp, runId: by } as RunEvent,
        emptyState('random-agent'),
      );
    const known = (lineage: TestLineage) => assertDefined(row(lineage), 'it was sent');
    const sentByOther = { runId: other, intentSeq: 90, status: 'intended', executions: 1 };

    it.each(['confirmed', 'compensated'] as const)(
      'that is %s stays so whatever is intended later',
      (status) => {
        const lineage = sent();
        const settled: EffectRecord = { ...known(lineage), status };
        expect(changes(settled, send(lineage, 2))).toEqual([
          { ...settled, beside: [expect.objectContaining(sentByOther)] },
        ]);
        expect(changes(settled, send(lineage, 2), settled.runId)).toEqual([]);
      },
    );

    it.each(['intended', 'in-doubt'] as const)('that is %s stays with the run that owns it', (status) => {
      const lineage = sent();
      const open: EffectRecord = { ...known(lineage), status };
      expect(changes(open, send(lineage, 2))).toEqual([
        { ...open, beside: [expect.objectContaining(sentByOther)] },
      ]);
      expect(changes(open, send(lineage, 2), open.runId)).toMatchObject([
        { status: 'intended', intentSeq: 90 },
      ]);
    });

    it('that surely did not happen goes to the run that intends it anew', () => {
      const lineage = sent();
      expect(changes({ ...known(lineage), status: 'failed' }, send(lineage, 2))).toMatchObject([
        { runId: other, status: 'intended' },
      ]);
    });

    it.each(['probe', 'late-worker'] as const)(
      'is not settled by what a %s said of the same seq in another run',
      (source) => {
        const doubt: EffectRecord = { ...known(sent()), status: 'in-doubt' };
        const answer: NewEvent = {
          kind: 'effect.verified',
          stepKey: key,
          intentSeq: doubt.intentSeq,
          outcome: 'happened',
          source,
          result: refOf('paid'),
        };
        expect(changes(doubt, answer)).toEqual([]);
        expect(changes(doubt, answer, doubt.runId)).toMatchObject([{ status: 'confirmed' }]);
      },
    );

    it('is settled by a decision in its own run before another run’s of the same seq', () => {
      const doubt: EffectRecord = { ...known(sent()), status: 'in-doubt' };
      const twin: EffectRecord = { ...doubt, generation: 2, runId: other };
      const decision: NewEvent = {
        kind: 'effect.decided',
        stepKey: key,
        decision: { intentSeq: doubt.intentSeq, outcome: 'did-not-happen' },
        actor: 'op',
        reason: '',
        commandId: commandId('c'),
      };
      const by = (by: RunId) =>
        ledgerChanges(
          ledgerOf([doubt, twin]),
          doubt.root,
          { ...decision, ...stamp, runId: by } as RunEvent,
          emptyState('random-agent'),
        );
      expect(by(doubt.runId)).toMatchObject([{ generation: 1, status: 'failed' }]);
      expect(by(other)).toMatchObject([{ generation: 2, status: 'failed' }]);
      expect(changes(doubt, decision)).toMatchObject([{ generation: 1, status: 'failed' }]);
    });
  });

  it('passes over inherited intents, and a fork may not send what the lineage has open or confirmed (promise 1)', () => {
    const lineage = sent();
    lapse(lineage);
    const before = JSON.stringify(lineage.ledger());
    const fork = lineage.fork(runId('run_fork'), lineage.of().run.headSeq);
    expect(JSON.stringify(lineage.ledger())).toBe(before);
    expect(doubtsOf(fork.run.runId, lineage.ledger(), epochMs(lineage.now))).toEqual([]);
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
