import { describe, expect, it } from 'vitest';
import { claim, TestWorker } from '@/lib/testing/api-client';
import { clockedConsole, LEASE_MS } from '@/lib/testing/clocked-console';

/* An order ends once, whoever comes back late; and what was accepted with a plan goes on with that plan or not at all. */

const LOOKUP = 'plan#1/lookup#1';
const QUESTION = 'plan#1/approve#1';
const REFUND = 'refund#1/create_refund#1';

const { api, pass } = clockedConsole();

type Ref = Pick<TestWorker, 'path'>;
// A test reads answers by their documented shape; a wrong one fails its expectation.
// biome-ignore lint/suspicious/noExplicitAny: see above
type Event = any;
const runOf = async ({ path }: Ref) => (await api.get(path)).body;
const eventsOf = async ({ path }: Ref): Promise<readonly Event[]> =>
  (await api.get(`${path}/events?after=0`)).body.items;
const endsOf = async (ref: Ref, commandId: string): Promise<readonly Event[]> =>
  (await eventsOf(ref)).filter((event) => event.kind === 'command.ended' && event.commandId === commandId);
const boom = { kind: 'run.failed', cause: 'error', error: { type: 'Error', message: 'boom' } } as const;
const done = (commandId: string) => ({ kind: 'command.ended', commandId, outcome: 'done' }) as const;

async function begun(): Promise<TestWorker> {
  const worker = await TestWorker.create(api);
  await worker.write(worker.enter('plan'), worker.read(LOOKUP), worker.done(LOOKUP), {
    kind: 'checkpoint.saved',
    trigger: 'manual',
    name: '',
    visit: 'plan#1',
    entrySeq: 0,
    othersSeq: 0,
  });
  return worker;
}
async function ordered(runId: string, mode: string, from = 'latest') {
  const plan = await api.plan(runId, { mode, from });
  const given = await api.command(runId, { mode, from, planDigest: plan.body.digest });
  expect(given.status, JSON.stringify(given.body)).toBe(202);
  return { commandId: given.body.commandId as string, runId: given.body.runId as string };
}

const modes = ['resume', 'rewind', 'fork'] as const;
/** An order that a worker was given and has not gone live with. */
async function takenUp(mode: (typeof modes)[number]) {
  const worker = await begun();
  await worker.write(boom);
  await worker.release('done');
  const { commandId, runId } = await ordered(worker.runId, mode);
  const claimed = await claim(api);
  expect(claimed.body).toMatchObject({ runId, reason: mode, command: { commandId } });
  const holder = TestWorker.of(api, claimed.body, 'w2');
  return { holder, commandId, digest: claimed.body.plan.digest as string };
}
/** Its lease lapses, and that is seen. */
async function lapse(holder: TestWorker, commandId: string): Promise<void> {
  pass(LEASE_MS);
  expect(await runOf(holder)).toMatchObject({ status: 'interrupted', pending: null });
  expect(await endsOf(holder, commandId)).toMatchObject([
    { outcome: 'withdrawn', detail: 'Its worker was lost.' },
  ]);
}
const takesUp = (commandId: string) => ({ kind: 'run.resumed', revived: true, commandId });

describe.each(modes)('an order (%s) whose worker was thought lost and comes back', (mode) => {
  it('is taken up again by a heartbeat, and ends when it is carried out', async () => {
    const { holder, commandId } = await takenUp(mode);
    await lapse(holder, commandId);
    const { others } = (await holder.heartbeat()).body;
    expect(others.at(-1)).toMatchObject(takesUp(commandId));
    expect(await runOf(holder)).toMatchObject({ status: 'running', pending: { commandId, mode } });
    expect(await api.command(holder.runId, { mode: 'pause' })).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('being taken up') },
    });
    await holder.write(done(commandId));
    expect(await runOf(holder)).toMatchObject({ status: 'running', pending: null });
    expect((await endsOf(holder, commandId)).at(-1)).toMatchObject({ outcome: 'done' });
    expect((await endsOf(holder, commandId)).at(-1).late).toBeUndefined();
  });

  it('is taken up again by what its worker appends, its end among it', async () => {
    const { holder, commandId } = await takenUp(mode);
    await lapse(holder, commandId);
    const reply = await holder.append(done(commandId), holder.leave('plan', 1, 'refund'));
    expect(reply.status).toBe(200);
    const { firstSeq } = reply.body;
    const [revived, end, left] = (await eventsOf(holder)).filter(({ seq }) => seq >= firstSeq - 1);
    expect([revived, end, left]).toMatchObject([
      takesUp(commandId),
      { ...done(commandId), seq: firstSeq },
      { kind: 'state.left', seq: firstSeq + 1 },
    ]);
    expect(end.late).toBeUndefined();
    expect(await runOf(holder)).toMatchObject({ status: 'running', pending: null });
  });

  it('is withdrawn again where it is lost again, however often', async () => {
    const { holder, commandId } = await takenUp(mode);
    for (const times of [1, 2]) {
      pass(LEASE_MS);
      expect(await runOf(holder)).toMatchObject({ status: 'interrupted', pending: null });
      expect(await endsOf(holder, commandId)).toHaveLength(times);
      expect((await holder.heartbeat()).status).toBe(200);
    }
    await holder.write(done(commandId));
    expect(await runOf(holder)).toMatchObject({ pending: null });
  });

  it('is handed over with its plan', async () => {
    const { holder, commandId, digest } = await takenUp(mode);
    await lapse(holder, commandId);
    expect((await holder.heartbeat()).status).toBe(200);
    expect((await holder.release('hand-over')).status).toBe(200);
    expect(await runOf(holder)).toMatchObject({ status: 'queued', pending: { commandId, mode } });
    expect(await claim(api, { workerId: 'w3' })).toMatchObject({
      status: 200,
      body: { runId: holder.runId, reason: mode, command: { commandId }, plan: { digest } },
    });
  });

  it('stays withdrawn where the hand-over is the first that is heard of it: nobody goes on without a plan', async () => {
    const { holder, commandId } = await takenUp(mode);
    await lapse(holder, commandId);
    expect((await holder.release('hand-over')).status).toBe(200);
    expect(await runOf(holder)).toMatchObject({ status: 'interrupted', pending: null });
    expect(await endsOf(holder, commandId)).toHaveLength(1);
    expect((await claim(api, { workerId: 'w3', waitMs: 0 })).status).toBe(204);
  });

  it('is refused to it once another order was accepted, which ends by itself', async () => {
    const { holder, commandId } = await takenUp(mode);
    await lapse(holder, commandId);
    const next = await ordered(holder.runId, 'resume');
    expect((await holder.heartbeat()).status).toBe(409);
    expect((await holder.append(done(commandId))).status).toBe(409);
    expect((await holder.release('hand-over')).status).toBe(409);
    expect(await endsOf(holder, commandId)).toHaveLength(1);
    expect(await runOf(holder)).toMatchObject({ status: 'queued', pending: { commandId: next.commandId } });
  });
});

describe('a pause', () => {
  it('whose worker was thought lost is taken up again, and carried out once', async () => {
    const worker = await begun();
    const { commandId } = (await api.command(worker.runId, { mode: 'pause' })).body;
    await lapse(worker, commandId);
    expect((await worker.heartbeat()).status).toBe(200);
    expect(await runOf(worker)).toMatchObject({ status: 'running', pending: { commandId } });
    await worker.write({ kind: 'run.paused' }, done(commandId));
    expect(await runOf(worker)).toMatchObject({ status: 'paused', pending: null });
    expect((await endsOf(worker, commandId)).map(({ outcome, late }) => [outcome, late])).toEqual([
      ['withdrawn', undefined],
      ['done', undefined],
    ]);
  });

  it('that was withdrawn from a run that waits is nobody’s any more: the run goes on waiting', async () => {
    const worker = await begun();
    const { commandId } = (await api.command(worker.runId, { mode: 'pause' })).body;
    await worker.write(worker.start(QUESTION, { step: 'human' }), worker.ask(QUESTION));
    await worker.write({ kind: 'run.waiting', on: [{ stepKey: QUESTION, for: 'question' }] });
    pass(LEASE_MS);
    expect(await runOf(worker)).toMatchObject({ status: 'waiting', pending: null });
    expect((await worker.append({ kind: 'run.paused' }, done(commandId))).status).toBe(409);
    expect((await worker.heartbeat()).status).toBe(409);
    expect(await runOf(worker)).toMatchObject({ status: 'waiting', pending: null });
    expect(await endsOf(worker, commandId)).toHaveLength(1);
  });
});

describe('the end of an order that a worker tells', () => {
  it.each(['done', 'withdrawn'])(
    'after the console ended it (%s) is kept in the batch and changes nothing: marked late, whatever comes with it has its place',
    async (outcome) => {
      const { holder, commandId } = await takenUp('resume');
      const cancel = (await api.command(holder.runId, { mode: 'cancel' })).body;
      const reply = await holder.append(
        { kind: 'command.ended', commandId, outcome },
        holder.leave('plan', 1, 'refund'),
      );
      expect(reply.status).toBe(200);
      const { firstSeq } = reply.body;
      expect((await eventsOf(holder)).filter(({ seq }) => seq >= firstSeq)).toMatchObject([
        { kind: 'command.ended', outcome, late: true },
        { kind: 'state.left', seq: firstSeq + 1 },
      ]);
      expect((await endsOf(holder, commandId)).map((end) => [end.outcome, end.late])).toEqual([
        ['withdrawn', undefined],
        [outcome, true],
      ]);
      await holder.release('done');
      expect(await runOf(holder)).toMatchObject({ status: 'cancelled', pending: null });
      expect((await endsOf(holder, cancel.commandId)).map((end) => [end.outcome, end.late])).toEqual([
        ['done', undefined],
      ]);
    },
  );

  it('twice in one batch is one end', async () => {
    const { holder, commandId } = await takenUp('resume');
    await holder.write(done(commandId), { ...done(commandId), outcome: 'refused' });
    expect((await endsOf(holder, commandId)).map((end) => [end.outcome, end.late])).toEqual([
      ['done', undefined],
      ['refused', true],
    ]);
  });

  it('is not the worker’s to call late', async () => {
    const { holder, commandId } = await takenUp('resume');
    const reply = await holder.append({ ...done(commandId), late: true });
    expect(reply.status).toBe(200);
    expect((await endsOf(holder, commandId))[0].late).toBeUndefined();
    expect(await runOf(holder)).toMatchObject({ pending: null });
  });

  it('of a probe that a decision made needless is late, too', async () => {
    const worker = await begun();
    await worker.write(worker.leave('plan', 1, 'refund'), worker.enter('refund', 1, 'plan'));
    const intentSeq = await worker.write(worker.external(REFUND));
    await worker.write({
      kind: 'step.failed',
      stepKey: REFUND,
      attempt: 1,
      failure: 'timeout',
      error: { type: 'Timeout', message: 'no answer' },
      final: false,
    });
    const asked = await api.command(worker.runId, { mode: 'verify', stepKey: REFUND });
    expect(asked.status).toBe(202);
    const decisions = { [REFUND]: { intentSeq, outcome: 'happened', result: { value: { id: 're_1' } } } };
    expect((await api.command(worker.runId, { mode: 'decide', decisions })).status).toBe(202);
    await worker.write(done(asked.body.commandId));
    expect((await endsOf(worker, asked.body.commandId)).map((end) => [end.outcome, end.late])).toEqual([
      ['withdrawn', undefined],
      ['done', true],
    ]);
  });
});

describe('an order that is open when its holder gives the run back', () => {
  it('is handed over with its plan, though an effect stands open that the order decided on', async () => {
    const worker = await begun();
    await worker.write(worker.leave('plan', 1, 'refund'), worker.enter('refund', 1, 'plan'));
    const intentSeq = await worker.write(worker.external(REFUND));
    pass(LEASE_MS);
    expect(await runOf(worker)).toMatchObject({ status: 'interrupted', effectsInDoubt: 1 });
    const decisions = { [REFUND]: { intentSeq, outcome: 'happened', result: { value: { id: 're_1' } } } };
    const ask = { mode: 'resume', from: 'latest', decisions };
    const plan = (await api.plan(worker.runId, ask)).body;
    const given = await api.command(worker.runId, { ...ask, planDigest: plan.digest });
    expect(given.status, JSON.stringify(given.body)).toBe(202);
    const { commandId } = given.body;
    const first = TestWorker.of(api, (await claim(api)).body, 'w2');
    expect((await first.release('hand-over')).status).toBe(200);
    expect(await runOf(worker)).toMatchObject({ status: 'queued', pending: { commandId } });
    expect((await claim(api, { workerId: 'w3' })).body).toMatchObject({
      reason: 'resume',
      command: { commandId },
      plan: { digest: plan.digest },
    });
  });

  it.each(['done', 'waiting', 'paused'])('ends with it, however it is given back: %s', async (outcome) => {
    const { holder, commandId } = await takenUp('resume');
    await holder.release(outcome);
    expect(await runOf(holder)).toMatchObject({ status: 'interrupted', pending: null });
    expect(await endsOf(holder, commandId)).toMatchObject([{ outcome: 'withdrawn' }]);
  });

  it('ends where the run failed before it went live', async () => {
    const { holder, commandId } = await takenUp('resume');
    await holder.write(boom);
    await holder.release('done');
    expect(await runOf(holder)).toMatchObject({ status: 'failed', pending: null });
    expect(await endsOf(holder, commandId)).toMatchObject([{ outcome: 'withdrawn' }]);
  });

  it.each([
    ['a cancel ends where the run ended first', 'cancel', { kind: 'run.completed' }, 'completed'],
    ['a pause ends where the run ended first', 'pause', { kind: 'run.completed' }, 'completed'],
    ['a pause is done where the run was paused', 'pause', { kind: 'run.paused' }, 'paused'],
  ] as const)('%s: given back, or its holder dead', async (_what, mode, end, status) => {
    for (const isBack of [true, false]) {
      const worker = await begun();
      const { commandId } = (await api.command(worker.runId, { mode })).body;
      await worker.write(end);
      if (isBack) await worker.release('done');
      else pass(LEASE_MS);
      expect(await runOf(worker)).toMatchObject({ status, pending: null });
      expect(await endsOf(worker, commandId)).toMatchObject([
        { outcome: status === 'paused' ? 'done' : 'withdrawn' },
      ]);
    }
  });

  it('a replay that is given back before its record is out ends, too', async () => {
    const worker = await begun();
    await worker.write({ kind: 'run.completed' });
    await worker.release('done');
    expect((await claim(api, { waitMs: 0 })).status).toBe(204);
    const { commandId, runId } = await ordered(worker.runId, 'replay', 'start');
    const replay = TestWorker.of(api, (await claim(api)).body, 'w2');
    expect(replay.runId).toBe(runId);
    await replay.release('hand-over');
    expect(await runOf(replay)).toMatchObject({ status: 'interrupted', pending: null });
    expect(await endsOf(replay, commandId)).toMatchObject([{ outcome: 'withdrawn' }]);
  });
});
