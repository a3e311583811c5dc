import { describe, expect, it } from 'vitest';
import { refOf, TestLineage, testHash, testMachine } from '../../testing/random-journal';
import { epoch, epochMs, leaseId, machineDigest, runId, seq, sha256, stepKey, workerId } from '../events/ids';
import type { NewEvent } from '../events/run-event';
import { machineDigestOf } from '../machine/drift';
import { type AppendContext, appendBatch } from './append-batch';
import { claimFor, judge, takeClaim } from './lease';

const message: NewEvent = { kind: 'message.appended', role: 'user', message: refOf('hi') };
const contextOf = (lineage: TestLineage, over: Partial<AppendContext> = {}): AppendContext => ({
  now: epochMs(lineage.now),
  run: lineage.of().run,
  effects: lineage.ledger(),
  steps: [...lineage.of().steps.values()],
  batch: undefined,
  others: [],
  missingPayloads: [],
  ...over,
});
const ask = (batch = 1, at = epoch(1), events: readonly NewEvent[] = [message]) => ({
  epoch: at,
  batch,
  seenSeq: seq(1),
  events,
});

describe('appending a batch', () => {
  it('gives the first answer to the same batch again, and refuses another one under its number', () => {
    const lineage = new TestLineage();
    const first = appendBatch(contextOf(lineage), ask(), testHash);
    if (!first.ok || !first.value.change) throw new Error('refused');
    expect(first.value.answer).toEqual({ firstSeq: 2, headSeq: 2, others: [] });
    lineage.keep(first.value.change);
    const stored = contextOf(lineage, { batch: first.value.change.batch });
    expect(appendBatch(stored, ask(), testHash)).toEqual({
      ok: true,
      value: { answer: { firstSeq: 2, headSeq: 2, others: [] }, change: undefined },
    });
    expect(
      appendBatch(
        stored,
        ask(1, epoch(1), [{ kind: 'message.appended', role: 'user', message: refOf('ho') }]),
        testHash,
      ),
    ).toMatchObject({ problem: { kind: 'batch-differs' } });
  });

  it('says which: stale epoch, gap, unknown payloads, a kind that is not a worker’s, a mirror, no such run', () => {
    const lineage = new TestLineage();
    const kindOf = (context: AppendContext, asked = ask()) => {
      const result = appendBatch(context, asked, testHash);
      return result.ok ? 'stored' : result.problem;
    };
    expect(kindOf(contextOf(lineage), ask(1, epoch(9)))).toEqual({ kind: 'stale-epoch', epoch: 1 });
    expect(kindOf(contextOf(lineage), ask(3))).toEqual({ kind: 'batch-gap', expected: 1 });
    expect(kindOf(contextOf(lineage, { missingPayloads: [sha256('ab')] }))).toEqual({
      kind: 'unknown-payloads',
      payloads: ['ab'],
    });
    expect(
      kindOf(contextOf(lineage), ask(1, epoch(1), [{ kind: 'run.queued', reason: 'answer' }])),
    ).toMatchObject({ kind: 'refused-event', index: 0 });
    expect(kindOf(contextOf(lineage, { run: { ...lineage.of().run, home: 'mirror' } }))).toEqual({
      kind: 'mirror',
    });
    expect(kindOf(contextOf(lineage, { run: undefined }))).toEqual({ kind: 'not-found' });
    const { lease: _lease, ...released } = lineage.of().run;
    expect(kindOf(contextOf(lineage, { run: released }))).toMatchObject({ kind: 'not-held' });
  });

  it('takes nothing from a holder whose run waits for its next claim', () => {
    const lineage = new TestLineage();
    const { run } = lineage.of();
    const queued = { ...run, state: { ...run.state, status: 'queued' as const } };
    expect(appendBatch(contextOf(lineage, { run: queued }), ask(), testHash)).toMatchObject({
      problem: { kind: 'not-held', status: 'queued' },
    });
  });

  it('stamps what a holder sends by the store’s clock, whatever the batch says', () => {
    const lineage = new TestLineage();
    const sent = { ...message, at: epochMs(1) };
    expect(appendBatch(contextOf(lineage), ask(1, epoch(1), [sent]), testHash)).toMatchObject({
      ok: true,
      value: { change: { events: [{ kind: 'message.appended', at: lineage.now }] } },
    });
  });

  it('refuses an effect without an intent, and anything after the end of the run', () => {
    const lineage = new TestLineage();
    const bare: NewEvent = {
      kind: 'step.started',
      stepKey: stepKey('work#1/pay#1'),
      name: 'pay',
      step: 'tool',
      effect: 'external',
      attempt: 1,
      inputDigest: testHash('a'),
    };
    expect(appendBatch(contextOf(lineage), ask(1, epoch(1), [bare]), testHash)).toMatchObject({
      problem: { kind: 'refused-event' },
    });
    expect(
      appendBatch(contextOf(lineage), ask(1, epoch(1), [{ kind: 'run.completed' }, message]), testHash),
    ).toMatchObject({ problem: { kind: 'refused-event', index: 1 } });
  });

  it('refuses to end a scope over an effect that is open below it, and takes the end once the outcome is there', () => {
    const key = stepKey('work#1/fan#1:a/pay#1');
    const visit = { key: 'work#1', state: 'work', visit: 1 };
    const started = (effect: 'external' | 'idempotent'): NewEvent => ({
      kind: 'step.started',
      stepKey: key,
      name: 'pay',
      step: 'tool',
      effect,
      attempt: 1,
      inputDigest: testHash('a'),
      intent: {
        idempotencyKey: 'k',
        generation: 1,
        argsDigest: testHash('a'),
        sendBy: epochMs(1_000),
        timeoutMs: 1,
        settlesWithinMs: 1,
        keyValidForMs: 60_000,
        guarded: true,
        verifiable: true,
      },
    });
    const ends: readonly NewEvent[] = [
      { kind: 'run.completed' },
      { kind: 'state.left', ...visit, to: 'done' },
      { kind: 'scope.left', scope: 'work#1/fan#1:a' },
    ];
    const failed: NewEvent = {
      kind: 'step.failed',
      stepKey: key,
      attempt: 1,
      failure: 'timeout',
      error: { type: 'E', message: 'm' },
      final: false,
    };
    const done: NewEvent = { kind: 'step.completed', stepKey: key, attempt: 1, recorded: true };
    const sibling: NewEvent = { kind: 'scope.left', scope: 'work#1/fan#1:b' };
    for (const effect of ['external', 'idempotent'] as const) {
      const lineage = new TestLineage();
      lineage.worker([{ kind: 'state.entered', ...visit }]);
      for (const end of ends) {
        const together = (events: readonly NewEvent[]) =>
          appendBatch(contextOf(lineage), ask(2, epoch(1), events), testHash);
        expect(together([started(effect), end])).toMatchObject({
          problem: { kind: 'refused-event', index: 1, event: end.kind },
        });
        expect(together([started(effect), failed, end])).toMatchObject({
          problem: { kind: 'refused-event', index: 2 },
        });
        expect(together([started(effect), sibling, done, end])).toMatchObject({ ok: true });
      }
      lineage.worker([started(effect)]);
      for (const end of ends)
        expect(appendBatch(contextOf(lineage), ask(3, epoch(1), [end]), testHash)).toMatchObject({
          problem: { kind: 'refused-event', index: 0 },
        });
      expect(
        appendBatch(contextOf(lineage), ask(3, epoch(1), [done, ends[1] as NewEvent]), testHash),
      ).toMatchObject({ ok: true });
      const replay = {
        ...lineage.of().run,
        parent: { runId: runId('p'), seq: seq(1), mode: 'replay' as const },
      };
      expect(
        appendBatch(contextOf(lineage, { run: replay }), ask(3, epoch(1), [started(effect)]), testHash),
      ).toMatchObject({ problem: { kind: 'refused-event', index: 0 } });
    }
  });

  it('asks for the whole ledger where a stop touches rows that were not read', () => {
    const lineage = new TestLineage();
    const intent = {
      idempotencyKey: 'k',
      generation: 1,
      argsDigest: testHash('a'),
      sendBy: epochMs(lineage.now),
      timeoutMs: 1,
      settlesWithinMs: 1,
      keyValidForMs: 1,
      guarded: true,
      verifiable: true,
    };
    lineage.worker([
      {
        kind: 'step.started',
        stepKey: stepKey('work#1/pay#1'),
        name: 'pay',
        step: 'tool',
        effect: 'external',
        attempt: 1,
        inputDigest: testHash('a'),
        intent,
      },
    ]);
    const stop: NewEvent = { kind: 'run.failed', cause: 'error', error: { type: 'E', message: 'm' } };
    expect(
      appendBatch(contextOf(lineage, { effects: [] }), ask(2, epoch(1), [stop]), testHash),
    ).toMatchObject({ problem: { kind: 'needs-ledger' } });
    expect(appendBatch(contextOf(lineage), ask(2, epoch(1), [stop]), testHash)).toMatchObject({
      ok: true,
      value: { change: { effects: [{ status: 'in-doubt' }] } },
    });
  });
});

describe('claims', () => {
  const d = machineDigest('d'.repeat(64));
  const worker = { workerId: workerId('w2'), agents: [{ name: 'random-agent', machineDigest: d }] };
  const queued = () => {
    const lineage = new TestLineage();
    lineage.now += 5_000;
    const command = lineage.nextCommand();
    lineage.console([
      { kind: 'run.interrupted', cause: 'lease-lapsed' },
      { kind: 'command.accepted', commandId: command, mode: 'resume', actor: 'op', reason: '' },
      { kind: 'run.queued', reason: 'command', commandId: command },
    ]);
    return lineage;
  };

  it('give a queued run to a worker with the machine that the plan was made for, under the next epoch, batches from 1', () => {
    const lineage = queued();
    const now = epochMs(lineage.now);
    const claim = claimFor(lineage.of().run, worker, now);
    expect(claim).toEqual({ reason: 'resume', commandId: 'cmd_1' });
    expect(
      claimFor(lineage.of().run, worker, now, { plannedMachine: machineDigest('e'.repeat(64)) }),
    ).toBeUndefined();
    if (!claim) return;
    const taken = takeClaim(lineage.of().run, claim, {
      leaseId: leaseId('l'),
      workerId: worker.workerId,
      now,
      leaseMs: 1_000,
    });
    expect(taken.run).toMatchObject({ epoch: 2, lastBatch: 0, lease: { mode: 'resume', epoch: 2 } });
    expect(taken.event).toEqual({ kind: 'run.resumed', workerId: 'w2', revived: false, commandId: 'cmd_1' });
    expect(claimFor(taken.run, worker, now)).toBeUndefined();
  });

  it('give a probe to a worker while nobody holds the run, and let a resume queue behind it', () => {
    const lineage = new TestLineage();
    lineage.now += 5_000;
    lineage.console([
      { kind: 'run.interrupted', cause: 'lease-lapsed' },
      {
        kind: 'command.accepted',
        commandId: lineage.nextCommand(),
        mode: 'verify',
        actor: 'op',
        reason: '',
        stepKey: stepKey('work#1/pay#1'),
      },
    ]);
    const now = epochMs(lineage.now);
    const claim = claimFor(lineage.of().run, worker, now);
    expect(claim).toEqual({ reason: 'verify', commandId: 'cmd_1', stepKey: 'work#1/pay#1' });
    if (!claim) return;
    const taken = takeClaim(lineage.of().run, claim, {
      leaseId: leaseId('l'),
      workerId: worker.workerId,
      now,
      leaseMs: 1_000,
    });
    expect(taken.event).toBeUndefined();
    expect(appendBatch(contextOf(lineage, { run: taken.run }), ask(1, epoch(2)), testHash)).toMatchObject({
      problem: { kind: 'refused-event' },
    });
  });

  it('judge a running run whose lease lapsed, once', () => {
    const lineage = new TestLineage();
    expect(judge(lineage.of().run, epochMs(lineage.now))).toBeUndefined();
    lineage.now += 5_000;
    const verdict = judge(lineage.of().run, epochMs(lineage.now));
    expect(verdict).toEqual({ kind: 'run.interrupted', cause: 'lease-lapsed', workerId: 'w1' });
    if (verdict) lineage.console([verdict]);
    expect(judge(lineage.of().run, epochMs(lineage.now))).toBeUndefined();
  });

  it.each([
    ['was judged dead', true],
    ['had not been judged yet', false],
  ])('do not judge again whom an append showed to live after its lease lapsed and %s', (_, isJudged) => {
    const lineage = new TestLineage();
    lineage.now += 5_000;
    if (isJudged) lineage.console([{ kind: 'run.interrupted', cause: 'lease-lapsed' }]);
    const appended = appendBatch(contextOf(lineage), ask(1, epoch(1)), testHash);
    if (!appended.ok || appended.value.change === undefined) throw new Error('refused');
    const { run, events } = appended.value.change;
    expect(events.some((event) => event.kind === 'run.resumed' && event.revived)).toBe(isJudged);
    expect(judge(run, epochMs(lineage.now + 1))).toBeUndefined();
    expect(judge(run, epochMs(lineage.now + (run.lease?.leaseMs ?? 0)))).toMatchObject({
      cause: 'lease-lapsed',
    });
  });
});

describe('machine digest', () => {
  it('covers what is declared, not where it comes from nor the order of names', () => {
    const plan = { transitions: ['close', 'work'], tools: ['look'] };
    expect(
      machineDigestOf(
        { ...testMachine, provenance: 'imported', states: { ...testMachine.states, plan } },
        testHash,
      ),
    ).toBe(machineDigestOf(testMachine, testHash));
    expect(machineDigestOf({ ...testMachine, initial: 'work' }, testHash)).not.toBe(
      machineDigestOf(testMachine, testHash),
    );
  });
});
