import { describe, expect, it } from 'vitest';
import { claim, TestWorker } from '@/lib/testing/api-client';
import { clockedConsole, LEASE_MS } from '@/lib/testing/clocked-console';

const LOOKUP = 'plan#1/lookup#1';
const REFUND = 'plan#1/create_refund#1';

const { api, pass } = clockedConsole();

/** A worker that did a lookup and was not heard of for longer than its lease. */
async function late(...more: readonly (Record<string, unknown> & { readonly kind: string })[]) {
  const worker = await TestWorker.create(api);
  await worker.write(worker.enter('plan'), worker.read(LOOKUP), worker.done(LOOKUP), ...more);
  pass(LEASE_MS);
  return worker;
}

async function resume(runId: string) {
  const plan = await api.plan(runId, { mode: 'resume' });
  const order = { mode: 'resume', planDigest: plan.body.digest };
  return { plan: plan.body, given: await api.command(runId, order) };
}

describe('a worker that was thought dead, once an order to go on was accepted', () => {
  it('writes nothing more: what the accepted plan was made on is what its claim goes on from', async () => {
    const worker = await late();
    const { plan, given } = await resume(worker.runId);
    expect(given.status).toBe(202);
    const { headSeq } = (await api.get(worker.path)).body;
    const more = [worker.leave('plan', 1, 'refund'), worker.enter('refund', 1, 'plan')];
    expect(await worker.append(...more)).toMatchObject({ status: 409 });
    expect(await worker.heartbeat()).toMatchObject({ status: 409 });
    const claimed = await claim(api);
    // Its own `run.resumed` alone came after the order.
    expect(claimed.body).toMatchObject({
      reason: 'resume',
      headSeq: headSeq + 1,
      plan: { digest: plan.digest },
    });
    const state = (await api.get(`${worker.path}/state`)).body;
    expect(state.visit).toMatchObject({ key: 'plan#1' });
  });

  it('is told to stop by a batch that was stored before the order, too: it may send nothing that it announced there', async () => {
    const worker = await TestWorker.create(api);
    const stored = worker.batch([worker.enter('plan')]);
    const first = await api.post(`${worker.path}/events`, stored);
    expect(first.status).toBe(200);
    pass(LEASE_MS);
    expect((await resume(worker.runId)).given.status).toBe(202);
    expect(await api.post(`${worker.path}/events`, stored)).toMatchObject({
      status: 409,
      body: { type: 'urn:rerail:problem:stale-epoch' },
    });
  });

  it('goes on by itself while nobody has ordered anything: revived in its own epoch', async () => {
    const worker = await late();
    expect((await api.get(worker.path)).body.status).toBe('interrupted');
    expect(
      await worker.append(worker.leave('plan', 1, 'refund'), worker.enter('refund', 1, 'plan')),
    ).toMatchObject({
      status: 200,
    });
    expect((await api.get(`${worker.path}/events?after=0`)).body.items).toContainEqual(
      expect.objectContaining({ kind: 'run.resumed', revived: true }),
    );
  });
});

describe('reading one run whose lease lapsed', () => {
  it('records the lapse first: its effect is in doubt from then on, and that is the next action', async () => {
    const worker = await TestWorker.create(api);
    await worker.write(worker.enter('plan'), worker.external(REFUND));
    expect((await api.get(worker.path)).body).toMatchObject({ status: 'running', effectsInDoubt: 0 });
    pass(LEASE_MS);
    expect((await api.get(worker.path)).body).toMatchObject({
      status: 'interrupted',
      interruption: { cause: 'lease-lapsed', workerId: 'w1' },
      effectsInDoubt: 1,
      next: { action: 'verify' },
    });
    const { items } = (await api.get(`${worker.path}/events?after=0`)).body;
    expect(items.at(-1)).toMatchObject({ kind: 'run.interrupted', by: 'console' });
  });

  it('is the same in list, filter and page, whichever is asked first', async () => {
    const seen: unknown[] = [];
    for (const path of ['/api/v1/runs', '/api/v1/runs?status=interrupted', '']) {
      const worker = await TestWorker.create(api);
      await worker.write(worker.enter('plan'), worker.external(REFUND));
      pass(LEASE_MS);
      const { body } = await api.get(path === '' ? worker.path : path);
      const row = path === '' ? body : body.items.find(({ id }: { id: string }) => id === worker.runId);
      seen.push([row?.status, row?.effectsInDoubt, row?.next?.action]);
    }
    expect(seen).toEqual([
      ['interrupted', 1, 'verify'],
      ['interrupted', 1, 'verify'],
      ['interrupted', 1, 'verify'],
    ]);
  });
});
