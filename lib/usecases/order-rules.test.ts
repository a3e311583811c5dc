import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { machineDigestOf } from '@/lib/core/machine/drift';
import { ApiClient, claim, deskDigest, deskMachine, hash, TestWorker, until } from '@/lib/testing/api-client';
import { clockedConsole, LEASE_MS } from '@/lib/testing/clocked-console';
import { memoryStore } from '@/lib/testing/memory-store';
import { startTestConsole } from '@/lib/testing/test-console';

const LOOKUP = 'plan#1/lookup#1';
const REFUND = 'plan#1/create_refund#1';
const QUESTION = 'plan#1/approve#1';

type Event = Record<string, unknown> & { readonly kind: string };
type Ask = Record<string, unknown>;

const { api, console, now, pass } = clockedConsole();

const pathOf = (runId: string) => `/api/v1/runs/${encodeURIComponent(runId)}`;
const runOf = async ({ path }: Pick<TestWorker, 'path'>) => (await api.get(path)).body;
const eventsOf = async ({ path }: Pick<TestWorker, 'path'>): Promise<readonly Event[]> =>
  (await api.get(`${path}/events?after=0`)).body.items;
const boom: Event = { kind: 'run.failed', cause: 'error', error: { type: 'Error', message: 'boom' } };
const checkpoint: Event = {
  kind: 'checkpoint.saved',
  trigger: 'manual',
  visit: 'plan#1',
  name: '',
  entrySeq: 0,
  othersSeq: 0,
};

async function begun(...more: readonly Event[]) {
  const worker = await TestWorker.create(api);
  await worker.write(worker.enter('plan'), worker.read(LOOKUP), worker.done(LOOKUP), ...more);
  return worker;
}
async function failed(...more: readonly Event[]) {
  const worker = await begun(...more, boom);
  await worker.release('done');
  return worker;
}
/** A refund that its worker reported as in doubt; the run waits for it. */
async function inDoubt() {
  const worker = await begun();
  const intentSeq = await worker.write(worker.external(REFUND, undefined, { sendBy: now() + 500 }));
  const ended = { attempt: 1, failure: 'timeout', error: { type: 'Timeout', message: 'no' }, final: true };
  await worker.write({ kind: 'step.failed', stepKey: REFUND, ...ended });
  await worker.write({ kind: 'run.waiting', on: [{ stepKey: REFUND, for: 'in-doubt' }] });
  await worker.release('waiting');
  return { worker, intentSeq };
}
async function ordered(runId: string, ask: Ask) {
  const plan = await api.plan(runId, ask);
  expect(plan.status).toBe(200);
  return api.command(runId, { ...ask, planDigest: plan.body.digest });
}
/** A desk that declares one more state. */
async function otherDesk(): Promise<string> {
  const review = { transitions: [], tools: [], final: true };
  const machine = { ...deskMachine, states: { ...deskMachine.states, review } };
  const digest = machineDigestOf(machine, hash);
  await api.put(`/api/v1/machines/${digest}`, machine);
  return digest;
}

describe('a decision that a plan brings', () => {
  const happened = (intentSeq: number, id: string) => ({
    [REFUND]: { intentSeq, outcome: 'happened', result: { value: { id } } },
  });

  it.each(['happened', 'did-not-happen'] as const)(
    'is told whose it was where somebody took one meanwhile, the same or another: %s',
    async (outcome) => {
      const ours = (intentSeq: number) =>
        outcome === 'happened' ? happened(intentSeq, 'A') : { [REFUND]: { intentSeq, outcome } };
      for (const theirs of [ours, (intentSeq: number) => happened(intentSeq, 'B')]) {
        const { worker, intentSeq } = await inDoubt();
        const ask = { mode: 'resume', decisions: ours(intentSeq) };
        const plan = await api.plan(worker.runId, ask);
        expect(
          await api.command(worker.runId, { mode: 'decide', decisions: theirs(intentSeq) }),
        ).toMatchObject({ status: 202 });
        expect(await api.command(worker.runId, { ...ask, planDigest: plan.body.digest })).toMatchObject({
          status: 409,
          body: { type: 'urn:rerail:problem:already-answered', by: expect.any(String) },
        });
        const decided = (await eventsOf(worker)).filter(({ kind }) => kind === 'effect.decided');
        expect(decided).toHaveLength(1);
        expect(await runOf(worker)).toMatchObject({ status: 'waiting', pending: null });
      }
    },
  );

  it('holds at the claim of its own order', async () => {
    for (const decisions of [
      (intentSeq: number) => happened(intentSeq, 'A'),
      (intentSeq: number) => ({ [REFUND]: { intentSeq, outcome: 'did-not-happen' } }),
    ]) {
      const { worker, intentSeq } = await inDoubt();
      const given = await ordered(worker.runId, { mode: 'resume', decisions: decisions(intentSeq) });
      expect(given.status).toBe(202);
      expect(await claim(api)).toMatchObject({
        status: 200,
        body: { runId: worker.runId, command: { commandId: given.body.commandId } },
      });
    }
  });
});

describe('a trace without a machine', () => {
  const trace = readFileSync('lib/ingest/langgraph/fixtures/retry-and-second-turn.json', 'utf8');

  it('is not forked: nobody can say which code would go on, whether or not a worker is connected', async () => {
    const { body } = await api.post('/api/v1/traces', trace);
    const id: string = body.runs[0].id;
    const run = (await api.get(pathOf(id))).body;
    expect(run).toMatchObject({ machineDigest: null, actions: { fork: { possible: false } } });
    const ask = { mode: 'fork', from: 'start' };
    for (const kind of ['no-worker', 'drift']) {
      const plan = await api.plan(id, ask);
      expect(plan.body.obstacles).toContainEqual(expect.objectContaining({ kind }));
      expect(await api.command(id, { ...ask, planDigest: plan.body.digest })).toMatchObject({
        status: 422,
        body: { type: 'urn:rerail:problem:blocked' },
      });
      const machine = { ...deskMachine, agent: run.agent };
      const machineDigest = machineDigestOf(machine, hash);
      await api.put(`/api/v1/machines/${machineDigest}`, machine);
      expect(await claim(api, { waitMs: 0, agents: [{ name: run.agent, machineDigest }] })).toMatchObject({
        status: 204,
      });
    }
  });
});

describe('edits of a fork', () => {
  const forkOf = (edits: readonly Ask[]) => ({ mode: 'fork', from: 'latest', edits });
  const set = (worker: TestWorker, name: string, value: unknown): Event => ({
    kind: 'variables.patched',
    key: 'plan#1/$set#1',
    patch: [{ op: 'add', path: `/${name}`, value: worker.value(value) }],
  });

  it('may touch what only a part wrote that a rewind left behind', async () => {
    const worker = await begun(checkpoint);
    await worker.write(set(worker, 'x', 1), boom);
    await worker.release('done');
    const [first] = (await api.get(`${worker.path}/checkpoints`)).body.items;
    const edit = forkOf([{ path: '/variables/x', value: 2 }]);
    expect(await api.plan(worker.runId, edit)).toMatchObject({ status: 422 });
    expect((await ordered(worker.runId, { mode: 'rewind', from: first.id })).status).toBe(202);
    expect(await api.plan(worker.runId, edit)).toMatchObject({ status: 200 });
  });

  it.each([
    ['/variables/nowhere/b/c', 'latest'],
    ['/input/lines/99/x', 'start'],
    ['/variables/text/deeper', 'latest'],
  ])('that lead nowhere are refused by the plan as by the order: %s', async (path, from) => {
    const worker = await TestWorker.create(api);
    await worker.write(set(worker, 'text', 'a'), worker.enter('plan'), boom);
    await worker.release('done');
    const ask = { ...forkOf([{ path, value: 1 }]), from };
    const refused = { status: 422, body: { type: 'urn:rerail:problem:edit-refused', path } };
    expect(await api.plan(worker.runId, ask)).toMatchObject(refused);
    expect(await api.command(worker.runId, { ...ask, planDigest: '0'.repeat(64) })).toMatchObject(refused);
  });
});

describe('edits of one fork that build on each other', () => {
  it('are refused where an earlier one took away what a later one leads through', async () => {
    const worker = await TestWorker.create(api);
    const recorded = {
      kind: 'variables.patched',
      key: 'plan#1/$set#1',
      patch: [{ op: 'add', path: '/a', value: worker.value({ x: 1, b: 2 }) }],
    };
    await worker.write(recorded, worker.enter('plan'), boom);
    await worker.release('done');
    const edits = [
      { path: '/variables/a', value: null },
      { path: '/variables/a/b', value: 5 },
    ];
    expect(await api.plan(worker.runId, { mode: 'fork', from: 'latest', edits })).toMatchObject({
      status: 422,
      body: { type: 'urn:rerail:problem:edit-refused', path: '/variables/a/b' },
    });
  });
});

describe('what a rewind kept', () => {
  it('is listed in every later plan, and needs no second word to stay in force', async () => {
    const worker = await begun(checkpoint, checkpoint);
    await worker.write(worker.external(REFUND, undefined, { sendBy: now() + 500 }));
    await worker.write(worker.done(REFUND), boom);
    await worker.release('done');
    const [older, newer] = (await api.get(`${worker.path}/checkpoints`)).body.items.sort(
      (a: { n: number }, b: { n: number }) => a.n - b.n,
    );
    const keep = { options: { keep: [REFUND] } };
    expect((await ordered(worker.runId, { mode: 'rewind', from: newer.id, ...keep })).status).toBe(202);
    const next = TestWorker.of(api, (await claim(api)).body, 'w2');
    await next.write(boom);
    await next.release('done');
    for (const ask of [{ mode: 'resume' }, { mode: 'fork' }, { mode: 'rewind', from: older.id }])
      expect((await api.plan(worker.runId, ask)).body, ask.mode).toMatchObject({
        leftBehind: { effects: [{ stepKey: REFUND, status: 'confirmed', fate: 'kept' }] },
      });
    expect((await ordered(worker.runId, { mode: 'rewind', from: older.id })).status).toBe(202);
    expect((await eventsOf(worker)).findLast(({ kind }) => kind === 'run.rewound')).toMatchObject({
      kept: [REFUND],
    });
  });

  it('names effects that there are', async () => {
    const worker = await failed(checkpoint);
    expect(
      await api.plan(worker.runId, { mode: 'rewind', options: { keep: ['plan#1/none#1'] } }),
    ).toMatchObject({
      status: 422,
      body: { option: 'keep', detail: expect.stringContaining('plan#1/none#1') },
    });
  });
});

describe('an order that its worker did not live to carry out', () => {
  const ended = (commandId: string) => ({
    kind: 'command.ended',
    commandId,
    outcome: 'withdrawn',
    detail: 'Its worker was lost.',
  });

  it.each(['resume', 'rewind', 'fork'])('ends with the lapse: %s', async (mode) => {
    const worker = await failed(checkpoint);
    const given = await ordered(worker.runId, { mode, from: 'latest' });
    const path = pathOf(given.body.runId);
    // Nobody has taken it up: it stays an order, however long that takes.
    pass(3 * LEASE_MS);
    expect(await runOf({ path })).toMatchObject({ status: 'queued', pending: { mode } });
    expect(await claim(api)).toMatchObject({ status: 200, body: { reason: mode } });
    expect((await runOf({ path })).pending).toMatchObject({ mode });
    pass(LEASE_MS);
    expect(await runOf({ path })).toMatchObject({
      status: 'interrupted',
      pending: null,
      actions: { resume: { possible: true }, rewind: { possible: true } },
      next: { action: 'resume' },
    });
    expect((await eventsOf({ path })).slice(-2)).toMatchObject([
      { kind: 'run.interrupted', cause: 'lease-lapsed' },
      ended(given.body.commandId),
    ]);
    const { items } = (await api.get('/api/v1/runs')).body;
    expect(items.find(({ id }: { id: string }) => pathOf(id) === path)).toMatchObject({ pending: null });
  });

  it('ends with the lapse: pause, of a run that runs and of one that waits', async () => {
    for (const waits of [false, true]) {
      const worker = await begun();
      const given = await api.command(worker.runId, { mode: 'pause' });
      if (waits) {
        await worker.write(worker.start(QUESTION, { step: 'human' }), worker.ask(QUESTION));
        await worker.write({ kind: 'run.waiting', on: [{ stepKey: QUESTION, for: 'question' }] });
      }
      pass(LEASE_MS);
      expect(await runOf(worker)).toMatchObject({ status: waits ? 'waiting' : 'interrupted', pending: null });
      expect(await eventsOf(worker)).toContainEqual(expect.objectContaining(ended(given.body.commandId)));
    }
  });

  it('a cancel of a run that waits is carried out', async () => {
    const worker = await begun();
    await worker.write(worker.start(QUESTION, { step: 'human' }), worker.ask(QUESTION));
    await worker.write({ kind: 'run.waiting', on: [{ stepKey: QUESTION, for: 'question' }] });
    await api.command(worker.runId, { mode: 'cancel' });
    pass(LEASE_MS);
    expect(await runOf(worker)).toMatchObject({ status: 'cancelled', pending: null });
  });

  it('a cancel ends the order that is being taken up, and a second one is refused', async () => {
    const worker = await failed();
    const resumed = await ordered(worker.runId, { mode: 'resume' });
    await claim(api);
    expect(await api.command(worker.runId, { mode: 'pause' })).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('being taken up') },
    });
    const first = await api.command(worker.runId, { mode: 'cancel' });
    expect(first.status).toBe(202);
    expect(await eventsOf(worker)).toContainEqual(
      expect.objectContaining({
        kind: 'command.ended',
        commandId: resumed.body.commandId,
        outcome: 'withdrawn',
      }),
    );
    expect(await api.command(worker.runId, { mode: 'cancel' })).toMatchObject({ status: 409 });
    expect((await runOf(worker)).pending).toMatchObject({ commandId: first.body.commandId });
  });
});

it('a rewind that is refused at its claim is what interrupted the run, not its worker', async () => {
  const { worker, intentSeq } = await inDoubt();
  const decisions = { [REFUND]: { intentSeq, outcome: 'did-not-happen' } };
  expect((await api.command(worker.runId, { mode: 'decide', decisions })).status).toBe(202);
  expect((await ordered(worker.runId, { mode: 'rewind', from: 'start' })).status).toBe(202);
  // The late word of the worker that sent it.
  expect(
    await api.post(`${worker.path}/evidence`, {
      epoch: worker.epoch,
      intentSeq,
      outcome: 'happened',
      result: { value: { id: 're_1' } },
    }),
  ).toMatchObject({ status: 200 });
  expect(await claim(api, { waitMs: 0 })).toMatchObject({ status: 204 });
  expect(await runOf(worker)).toMatchObject({
    status: 'interrupted',
    interruption: { cause: 'order-refused', workerId: null },
    pending: null,
  });
});

describe('a question', () => {
  const asked = async (then: (worker: TestWorker) => Promise<unknown>) => {
    const worker = await begun();
    const question = worker.ask(QUESTION);
    await worker.write(worker.start(QUESTION, { step: 'human' }), question);
    await then(worker);
    const answer = () =>
      api.command(worker.runId, {
        mode: 'answer',
        questionId: QUESTION,
        questionDigest: question['questionDigest'],
        value: true,
      });
    return { worker, answer };
  };

  it.each<readonly [string, (worker: TestWorker) => Promise<unknown>, string | undefined]>([
    ['failed', async (worker) => void (await worker.write(boom)), 'resume'],
    [
      'cancelled',
      async (worker) => {
        await api.command(worker.runId, { mode: 'cancel' });
        await worker.release('done');
      },
      undefined,
    ],
  ])('of a run that is %s is not answered: nothing would come of it', async (status, then, next) => {
    const { worker, answer } = await asked(then);
    pass(LEASE_MS);
    const run = await runOf(worker);
    expect(run).toMatchObject({ status, actions: { answer: { possible: false } } });
    expect(run.next?.action).toBe(next);
    expect(await answer()).toMatchObject({ status: 409, body: { detail: run.actions.answer.reason } });
    expect(await runOf(worker)).toMatchObject({ headSeq: run.headSeq });
  });

  it('of a run that is interrupted may be answered, and its resume gives the answer to the code', async () => {
    const { worker, answer } = await asked(async () => pass(LEASE_MS));
    expect(await runOf(worker)).toMatchObject({
      status: 'interrupted',
      actions: { answer: { possible: true } },
      next: { action: 'resume' },
    });
    expect((await answer()).status).toBe(202);
    expect((await api.plan(worker.runId, { mode: 'resume' })).body.steps.at(-1)).toMatchObject({
      key: QUESTION,
      reason: expect.stringContaining('the answer is given to the code'),
    });
    expect((await ordered(worker.runId, { mode: 'resume' })).status).toBe(202);
  });
});

describe('a queued run', () => {
  const other = async (workerId: string) =>
    claim(api, { waitMs: 0, workerId, agents: [{ name: 'desk', machineDigest: await otherDesk() }] });

  it('says why nobody takes it up: no worker, workers with other machines by name, or nothing', async () => {
    const worker = await begun();
    await worker.release('hand-over');
    const unclaimed = async () => (await runOf(worker)).unclaimed;
    expect(await unclaimed()).toEqual({
      kind: 'no-worker',
      sentence: 'No worker that has the agent desk is connected.',
    });
    await claim(api, {
      waitMs: 0,
      workerId: 'w-else',
      agents: [{ name: 'else', machineDigest: deskDigest }],
    });
    expect(await unclaimed()).toMatchObject({ kind: 'no-worker' });
    expect(await other('w-new')).toMatchObject({ status: 204 });
    const { kind, sentence } = await unclaimed();
    expect(kind).toBe('other-machine');
    expect(sentence).toContain(deskDigest.slice(0, 8));
    expect(sentence).toContain(`w-new has ${(await otherDesk()).slice(0, 8)}`);
    const { items } = (await api.get('/api/v1/runs')).body;
    expect(items[0].unclaimed).toEqual({ kind, sentence });
    expect((await claim(api, { waitMs: 0 })).body).toMatchObject({ runId: worker.runId });
    expect(await unclaimed()).toBeNull();
  });
});

it('gives a worker whose lease lapsed nothing on a poll that was open meanwhile: it may be frozen', async () => {
  const worker = await TestWorker.create(api, { workerId: 'w-frozen' });
  await worker.write(worker.enter('plan'), worker.read(LOOKUP));
  const polling = claim(api, { workerId: 'w-frozen', waitMs: 20_000 });
  // The poll is open: its worker was seen.
  await until(
    () => api.get('/api/v1/workers'),
    ({ body }) => body.items.length === 1,
  );
  pass(LEASE_MS);
  expect(await runOf(worker)).toMatchObject({ status: 'interrupted' });
  expect((await ordered(worker.runId, { mode: 'resume' })).status).toBe(202);
  expect(await polling).toMatchObject({ status: 204 });
  // Asking again shows that it lives.
  expect(await claim(api, { workerId: 'w-frozen', waitMs: 0 })).toMatchObject({
    status: 200,
    // The order ended the epoch that lapsed, the claim began the next one.
    body: { runId: worker.runId, reason: 'resume', epoch: 3 },
  });
});

describe('an effect whose run has its home elsewhere', () => {
  it('is decided by hand where it is forked, and asked about at its home', async () => {
    const { worker, intentSeq } = await inDoubt();
    const file = await (await fetch(`${console().url}${worker.path}/export`)).text();
    const elsewhere = await startTestConsole({ store: memoryStore({ now }), leaseMs: LEASE_MS });
    try {
      const there = new ApiClient(elsewhere.url);
      expect((await there.post('/api/v1/traces', file)).status).toBe(201);
      const ask = { mode: 'fork', from: 'start' };
      const plan = await there.plan(worker.runId, ask);
      const fork = await there.command(worker.runId, { ...ask, planDigest: plan.body.digest });
      expect(fork.status).toBe(202);
      const verify = { mode: 'verify', stepKey: REFUND };
      // Neither is the copy's own to take.
      expect(await there.command(worker.runId, verify)).toMatchObject({
        status: 409,
        body: { type: 'urn:rerail:problem:mirror' },
      });
      const refused = await there.command(fork.body.runId, { ...verify, commandId: randomUUID() });
      expect(refused).toMatchObject({ status: 409, body: { type: 'urn:rerail:problem:not-possible' } });
      expect(refused.body.detail).toContain(`Run ${worker.runId}`);
      expect(refused.body.detail).toContain('or decide what happened');
      expect(
        await there.command(fork.body.runId, {
          mode: 'decide',
          decisions: { [REFUND]: { intentSeq, outcome: 'did-not-happen' } },
        }),
      ).toMatchObject({ status: 202 });
    } finally {
      await elsewhere.close();
    }
  });
});
