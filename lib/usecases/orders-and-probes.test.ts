import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { commandId, runId, seq, stepKey } from '@/lib/core/events/ids';
import { extend } from '@/lib/core/journal/extend';
import { machineDigestOf } from '@/lib/core/machine/drift';
import type { Machine } from '@/lib/core/machine/machine';
import { assertDefined } from '@/lib/core/shared/assert';
import { ApiClient, claim, deskDigest, deskMachine, hash, TestWorker } from '@/lib/testing/api-client';
import { clockedConsole, LEASE_MS } from '@/lib/testing/clocked-console';
import { memoryStore } from '@/lib/testing/memory-store';
import { startTestConsole } from '@/lib/testing/test-console';
import type { Store, WriteAsk } from './ports';

const LOOKUP = 'plan#1/lookup#1';
const REFUND = 'plan#1/create_refund#1';
const QUESTION = 'plan#1/approve#1';

const { api, console, now, pass } = clockedConsole();
let store: Store;
/** Runs once, directly before the first commit whose answer key begins so. */
let before: { readonly key: string; readonly act: () => Promise<unknown> } | undefined;

beforeEach(() => {
  before = undefined;
  ({ store } = console());
  const commit = store.commit.bind(store);
  const raced: Pick<Store, 'commit'> = {
    commit: async <Value, Problem>(ask: WriteAsk<Value, Problem>) => {
      if (before !== undefined && ask.answerKey?.startsWith(before.key)) {
        const { act } = before;
        before = undefined;
        await act();
      }
      return commit(ask);
    },
  };
  Object.assign(store, raced);
});

const runOf = async (worker: TestWorker) => (await api.get(worker.path)).body;
const eventsOf = async (worker: TestWorker) => (await api.get(`${worker.path}/events?after=0`)).body.items;

async function begun(...more: readonly (Record<string, unknown> & { readonly kind: string })[]) {
  const worker = await TestWorker.create(api);
  await worker.write(worker.enter('plan'), worker.read(LOOKUP), worker.done(LOOKUP), ...more);
  return worker;
}

/** A refund that its worker reported as in doubt; the run waits for it, unless it goes on otherwise. */
async function inDoubt(...more: readonly (Record<string, unknown> & { readonly kind: string })[]) {
  const worker = await begun();
  const intentSeq = await worker.write(worker.external(REFUND, undefined, { sendBy: now() + 500 }));
  await worker.write(
    {
      kind: 'step.failed',
      stepKey: REFUND,
      attempt: 1,
      failure: 'timeout',
      error: { type: 'Timeout', message: 'no answer' },
      final: true,
    },
    ...more,
  );
  return { worker, intentSeq };
}
const waitsOn = (stepKey: string, what: string) => ({
  kind: 'run.waiting',
  on: [{ stepKey, for: what }],
});

async function ordered(runId: string, ask: Record<string, unknown>) {
  const plan = await api.plan(runId, ask);
  return api.command(runId, { ...ask, planDigest: plan.body.digest });
}
const verify = (runId: string) => api.command(runId, { mode: 'verify', stepKey: REFUND });
const decide = (runId: string, intentSeq: number) =>
  api.command(runId, {
    mode: 'decide',
    decisions: { [REFUND]: { intentSeq, outcome: 'did-not-happen' } },
  });

describe('a decision on what is decided already', () => {
  it('is told who decided, however much was decided before', async () => {
    const { worker, intentSeq } = await inDoubt(waitsOn(REFUND, 'in-doubt'));
    await store.commit<undefined, never>({
      runId: runId(worker.runId),
      decide: ({ run, now: at }) => {
        const base = assertDefined(run, 'it was created');
        const held = Array.from({ length: 10_001 }, (_, n) => ({
          kind: 'effect.decided' as const,
          stepKey: stepKey('plan#1/other#1'),
          decision: { intentSeq: seq(n + 1), outcome: 'hold' as const },
          actor: 'op',
          reason: '',
          commandId: commandId(`hold-${n}`),
        }));
        const change = extend(base, [], held, { at, epoch: base.epoch, by: 'console' });
        return { ok: true, value: { value: undefined, change: { ...change, payloads: [] } } };
      },
    });
    expect((await decide(worker.runId, intentSeq)).status).toBe(202);
    expect(await decide(worker.runId, intentSeq)).toMatchObject({
      status: 409,
      body: { by: expect.any(String), detail: expect.stringContaining(`decided ${REFUND} already`) },
    });
  });

  it('is told that it is known where no person decided it: who put it on hold did not', async () => {
    const { worker, intentSeq } = await inDoubt();
    const decisions = { [REFUND]: { intentSeq, outcome: 'hold' } };
    expect((await api.command(worker.runId, { mode: 'decide', decisions })).status).toBe(202);
    await worker.write(worker.done(REFUND));
    expect(await decide(worker.runId, intentSeq)).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('is known: confirmed') },
    });
  });
});

describe('a run created', () => {
  it('by another worker under names that read the same side by side is another run', async () => {
    await TestWorker.create(api, { workerId: 'a:b', runId: 'c' });
    const other = await TestWorker.create(api, { workerId: 'a', runId: 'b:c' });
    expect(other.runId).toBe('b:c');
  });
});

describe('pause and cancel on a held run', () => {
  it('a pause does not displace a cancel: it is refused, in words, and the run is cancelled', async () => {
    const worker = await begun();
    expect((await api.command(worker.runId, { mode: 'cancel' })).status).toBe(202);
    expect((await runOf(worker)).actions.pause).toEqual({
      possible: false,
      reason: expect.stringContaining('cancel'),
    });
    expect(await api.command(worker.runId, { mode: 'pause' })).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('cancel') },
    });
    await worker.release('done');
    expect(await runOf(worker)).toMatchObject({ status: 'cancelled', pending: null });
  });

  it('a cancel ends the pause that it displaces', async () => {
    const worker = await begun();
    const paused = await api.command(worker.runId, { mode: 'pause' });
    const cancelled = await api.command(worker.runId, { mode: 'cancel' });
    expect(await eventsOf(worker)).toContainEqual(
      expect.objectContaining({
        kind: 'command.ended',
        commandId: paused.body.commandId,
        outcome: 'withdrawn',
      }),
    );
    expect((await runOf(worker)).pending).toMatchObject({ commandId: cancelled.body.commandId });
  });

  it('a second pause is refused: the holder carries out the first', async () => {
    const worker = await begun();
    const first = await api.command(worker.runId, { mode: 'pause' });
    expect(await api.command(worker.runId, { mode: 'pause' })).toMatchObject({ status: 409 });
    expect((await runOf(worker)).pending).toMatchObject({ commandId: first.body.commandId });
  });
});

describe('a rewind that is refused at its claim', () => {
  it('lets nobody of the line that it left behind write again', async () => {
    const worker = await begun();
    const toCheckpoint = (await api.get(`${worker.path}/checkpoints`)).body.items;
    pass(LEASE_MS);
    expect(await runOf(worker)).toMatchObject({ status: 'interrupted' });
    const order = { mode: 'rewind', from: toCheckpoint[0]?.id ?? 'start' };
    const given = await ordered(worker.runId, order);
    expect(given.status).toBe(202);
    // Its accepted plan is lost, so that it cannot be carried out.
    const answer = store.answer.bind(store);
    Object.assign(store, {
      answer: async (key: string) => (key.startsWith('command:') ? undefined : answer(key)),
    });
    expect(await claim(api, { waitMs: 0 })).toMatchObject({ status: 204 });
    expect(await runOf(worker)).toMatchObject({ status: 'interrupted', pending: null });
    expect(await eventsOf(worker)).toContainEqual(
      expect.objectContaining({
        kind: 'command.ended',
        commandId: given.body.commandId,
        outcome: 'refused',
      }),
    );
    expect(await worker.append(worker.leave('plan', 1, 'refund'))).toMatchObject({
      status: 409,
      body: { type: 'urn:rerail:problem:stale-epoch' },
    });
    expect(await worker.heartbeat()).toMatchObject({ status: 409 });
    expect(await runOf(worker)).toMatchObject({ status: 'interrupted' });
  });
});

describe('a claim', () => {
  it('passes by a run that cannot be read, and gives out the next one', async () => {
    const broken = await begun({ kind: 'run.failed', cause: 'error', error: { type: 'E', message: 'x' } });
    await broken.release('done');
    expect((await ordered(broken.runId, { mode: 'resume' })).status).toBe(202);
    pass(1);
    const next = await begun();
    await next.release('hand-over');
    const answer = store.answer.bind(store);
    Object.assign(store, {
      answer: async (key: string) => {
        if (key.startsWith('command:')) throw new Error('cannot be read');
        return answer(key);
      },
    });
    expect(await claim(api, { waitMs: 0 })).toMatchObject({ status: 200, body: { runId: next.runId } });
  });

  it('carries the order as its body alone, without its place in the journal', async () => {
    const worker = await begun({ kind: 'run.failed', cause: 'error', error: { type: 'E', message: 'x' } });
    await worker.release('done');
    const given = await ordered(worker.runId, { mode: 'resume' });
    const { body } = await claim(api);
    expect(body.command).toMatchObject({ commandId: given.body.commandId, mode: 'resume' });
    for (const place of ['seq', 'at', 'epoch', 'by', 'version', 'runId'])
      expect(body.command).not.toHaveProperty(place);
  });

  it('of a resume is not given where the ledger moved after its plan was looked at', async () => {
    const { worker, intentSeq } = await inDoubt(waitsOn(REFUND, 'in-doubt'));
    await worker.release('waiting');
    expect((await decide(worker.runId, intentSeq)).status).toBe(202);
    expect((await ordered(worker.runId, { mode: 'resume' })).status).toBe(202);
    // Only the ledger moves: by another run of the lineage.
    const version = store.ledgerVersion.bind(store);
    let asked = 0;
    Object.assign(store, {
      ledgerVersion: async (root: Parameters<typeof version>[0]) =>
        (await version(root)) - (asked++ === 0 ? 1 : 0),
    });
    expect(await claim(api, { waitMs: 0 })).toMatchObject({ status: 204 });
    expect(await runOf(worker)).toMatchObject({ status: 'queued' });
    expect(await claim(api, { waitMs: 0 })).toMatchObject({ status: 200 });
  });
});

describe('while a probe holds the run', () => {
  it('an answer queues the run that waits for it', async () => {
    const worker = await begun();
    const asked = worker.ask(QUESTION);
    await worker.write(worker.external(REFUND, undefined, { sendBy: now() + 500 }));
    await worker.write(
      {
        kind: 'step.failed',
        stepKey: REFUND,
        attempt: 1,
        failure: 'timeout',
        error: { type: 'T', message: 'n' },
        final: true,
      },
      worker.start(QUESTION, { step: 'human' }),
      asked,
    );
    await worker.write({
      kind: 'run.waiting',
      on: [
        { stepKey: QUESTION, for: 'question' },
        { stepKey: REFUND, for: 'in-doubt' },
      ],
    });
    await worker.release('waiting');
    expect((await verify(worker.runId)).status).toBe(202);
    const probe = await claim(api);
    expect(probe.body).toMatchObject({ reason: 'verify' });
    const answered = await api.command(worker.runId, {
      mode: 'answer',
      questionId: QUESTION,
      questionDigest: asked['questionDigest'],
      value: true,
    });
    expect(answered.status).toBe(202);
    expect(await runOf(worker)).toMatchObject({ status: 'queued' });
    await TestWorker.of(api, probe.body, 'w2').release('done');
    expect((await claim(api)).body).toMatchObject({ reason: 'answer' });
  });

  it('a run whose holder died is said to be interrupted, not running', async () => {
    const { worker } = await inDoubt();
    expect((await verify(worker.runId)).status).toBe(202);
    pass(LEASE_MS);
    const probe = await claim(api);
    expect(probe.body).toMatchObject({ reason: 'verify' });
    expect((await eventsOf(worker)).map(({ kind }: { kind: string }) => kind)).toContain('run.interrupted');
    expect(await runOf(worker)).toMatchObject({ status: 'interrupted' });
  });

  it('a decision does not fence it: its answer is still taken', async () => {
    const worker = await begun();
    const intentSeq = await worker.write(worker.external(REFUND, undefined, { sendBy: now() + 500 }));
    pass(LEASE_MS);
    expect(await runOf(worker)).toMatchObject({ status: 'interrupted' });
    expect((await verify(worker.runId)).status).toBe(202);
    const claimed = await claim(api);
    expect(claimed.body).toMatchObject({ reason: 'verify' });
    expect((await decide(worker.runId, intentSeq)).status).toBe(202);
    const probe = TestWorker.of(api, claimed.body, 'w2');
    expect(await probe.heartbeat()).toMatchObject({ status: 200 });
  });
});

describe('a decision', () => {
  it('fences the holder that did not report the doubt', async () => {
    const worker = await begun();
    const intentSeq = await worker.write(worker.external(REFUND, undefined, { sendBy: now() + 500 }));
    pass(LEASE_MS);
    expect(await runOf(worker)).toMatchObject({ status: 'interrupted' });
    expect((await decide(worker.runId, intentSeq)).status).toBe(202);
    expect(await worker.heartbeat()).toMatchObject({ status: 409 });
  });

  it('is not written into a copy', async () => {
    const { worker, intentSeq } = await inDoubt(waitsOn(REFUND, 'in-doubt'));
    await worker.release('waiting');
    const file = await (await fetch(`${console().url}${worker.path}/export`)).text();
    const elsewhere = await startTestConsole({ store: memoryStore({ now }), leaseMs: LEASE_MS });
    try {
      const there = new ApiClient(elsewhere.url);
      expect((await there.post('/api/v1/traces', file)).status).toBe(201);
      const head = (await there.get(worker.path)).body.headSeq;
      expect(
        await there.command(worker.runId, {
          mode: 'decide',
          decisions: { [REFUND]: { intentSeq, outcome: 'did-not-happen' } },
        }),
      ).toMatchObject({ status: 409, body: { type: 'urn:rerail:problem:mirror' } });
      expect((await there.get(worker.path)).body.headSeq).toBe(head);
    } finally {
      await elsewhere.close();
    }
  });
});

describe('a fork', () => {
  it('is planned again where the ledger moved while it was accepted', async () => {
    const { worker, intentSeq } = await inDoubt(waitsOn(REFUND, 'in-doubt'));
    await worker.release('waiting');
    expect((await decide(worker.runId, intentSeq)).status).toBe(202);
    const ask = { mode: 'fork', from: 'latest' };
    const plan = await api.plan(worker.runId, ask);
    before = {
      key: 'command:',
      act: () =>
        api.post(`${worker.path}/evidence`, {
          epoch: worker.epoch,
          intentSeq,
          outcome: 'happened',
          result: { value: { id: 're_1' } },
          receipt: 're_1',
        }),
    };
    expect(await api.command(worker.runId, { ...ask, planDigest: plan.body.digest })).toMatchObject({
      status: 409,
      body: { type: 'urn:rerail:problem:stale-plan' },
    });
  });
});

describe('a probe by a worker with newer code', () => {
  const digestOf = (machine: Machine) => machineDigestOf(machine, hash);
  async function askedBy(machine: Machine) {
    const { worker } = await inDoubt(waitsOn(REFUND, 'in-doubt'));
    await worker.release('waiting');
    expect((await verify(worker.runId)).status).toBe(202);
    const machineDigest = digestOf(machine);
    expect(machineDigest).not.toBe(deskDigest);
    await api.put(`/api/v1/machines/${machineDigest}`, machine);
    return api.post('/api/v1/workers/claim', {
      claimId: randomUUID(),
      workerId: 'w2',
      agents: [{ name: 'desk', machineDigest }],
      waitMs: 0,
    });
  }
  const { create_refund, ...others } = deskMachine.tools;
  if (create_refund === undefined) throw new Error('the desk refunds');

  it('is given where its machine has the probe', async () => {
    const newer = { ...deskMachine, tools: { ...others, create_refund: { ...create_refund, retries: 2 } } };
    expect(await askedBy(newer)).toMatchObject({ status: 200, body: { reason: 'verify' } });
  });

  it('is not given where it has none', async () => {
    const without = {
      ...deskMachine,
      tools: { ...others, create_refund: { ...create_refund, verify: false } },
    };
    expect(await askedBy(without)).toMatchObject({ status: 204 });
  });
});

it('what comes after the run was given back is told as a stale epoch, the one refusal that means stop', async () => {
  const worker = await begun({ kind: 'run.completed' });
  await worker.release('done');
  expect(await worker.append(worker.leave('plan', 1, 'refund'))).toMatchObject({
    status: 409,
    body: { type: 'urn:rerail:problem:stale-epoch' },
  });
});
