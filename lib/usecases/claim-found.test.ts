import { expect, it } from 'vitest';
import { ApiClient, claim, TestWorker } from '@/lib/testing/api-client';
import { describeOnPostgres, sqliteDatabase } from '@/lib/testing/databases';
import { startTestConsole, type TestConsole } from '@/lib/testing/test-console';
import type { Store } from './ports';

const REFUND = 'refund#1/create_refund#1';
const LEASE_MS = 60_000;

/** A run that waits with a refund in doubt, and is held by nobody. */
async function inDoubt(api: ApiClient): Promise<TestWorker> {
  const worker = await TestWorker.create(api);
  await worker.write(
    worker.enter('plan'),
    worker.leave('plan', 1, 'refund'),
    worker.enter('refund', 1, 'plan'),
  );
  await worker.write(worker.external(REFUND, undefined, { sendBy: Date.now() - 5_000 }));
  await worker.write(
    {
      kind: 'step.failed',
      stepKey: REFUND,
      attempt: 1,
      failure: 'timeout',
      error: { type: 'Timeout', message: 'no answer' },
      final: true,
    },
    { kind: 'run.waiting', on: [{ stepKey: REFUND, for: 'in-doubt' }] },
  );
  await worker.release('waiting');
  return worker;
}
const verify = async (api: ApiClient, { runId }: TestWorker) =>
  expect((await api.command(runId, { mode: 'verify', stepKey: REFUND })).status).toBe(202);

it('a probe that was asked for before the console started is given out, of a run that is not queued', async () => {
  const database = sqliteDatabase();
  const before = await startTestConsole({ databaseUrl: database.url, leaseMs: LEASE_MS });
  const worker = await inDoubt(new ApiClient(before.url));
  await verify(new ApiClient(before.url), worker);
  await before.close();
  const after = await startTestConsole({ databaseUrl: database.url, leaseMs: LEASE_MS });
  expect(await claim(new ApiClient(after.url), { waitMs: 0 })).toMatchObject({
    status: 200,
    body: { runId: worker.runId, reason: 'verify' },
  });
  expect(await claim(new ApiClient(after.url), { waitMs: 0 })).toMatchObject({ status: 204 });
  await after.close();
  await database.remove();
});

/** A worker that waits at `other` is given the probe and the order that a person gives at `api`, as soon as that is done. */
async function ordersWake(api: ApiClient, other: TestConsole): Promise<void> {
  const far = new ApiClient(other.url);
  const worker = await inDoubt(api);
  const probe = await waits(other, far, () => verify(api, worker));
  expect(probe).toMatchObject({ status: 200, body: { runId: worker.runId, reason: 'verify' } });
  const prober = TestWorker.of(far, probe.body, 'w2');
  const intent = (await api.get(`${worker.path}/effects`)).body.items[0];
  await prober.write(
    {
      kind: 'effect.verified',
      stepKey: REFUND,
      intentSeq: intent.intentSeq,
      outcome: 'happened',
      result: prober.value({ id: 're_1' }),
      source: 'probe',
    },
    { kind: 'command.ended', commandId: probe.body.command.commandId, outcome: 'done' },
  );
  const order = async () => {
    const plan = await api.plan(worker.runId, { mode: 'resume' });
    const given = { mode: 'resume', planDigest: plan.body.digest };
    expect((await api.command(worker.runId, given)).status).toBe(202);
  };
  await prober.release('done');
  const resumed = await waits(other, far, order);
  expect(resumed).toMatchObject({ status: 200, body: { runId: worker.runId, reason: 'resume' } });
}

it('a worker that waits hears at once of an order, a probe and a hand-over: no look by the clock is needed', async () => {
  const database = sqliteDatabase();
  const only = await startTestConsole({ databaseUrl: database.url, leaseMs: LEASE_MS });
  const api = new ApiClient(only.url);
  await ordersWake(api, only);
  const worker = await TestWorker.create(api);
  await worker.write(worker.enter('plan'));
  const handed = await waits(only, api, () => worker.release('hand-over'));
  expect(handed).toMatchObject({ status: 200, body: { runId: worker.runId, reason: 'hand-over' } });
  await only.close();
  await database.remove();
}, 60_000);

describeOnPostgres('two consoles', (url) => {
  it('wake a worker that waits at the other one, for an order as for a probe: no look by the clock is needed', async () => {
    const [one, other] = await Promise.all(
      [1, 2].map(() => startTestConsole({ databaseUrl: url(), leaseMs: LEASE_MS })),
    );
    if (one === undefined || other === undefined) throw new Error('two consoles');
    for (let round = 0; round < 3; round++) await ordersWake(new ApiClient(one.url), other);
    await Promise.all([one.close(), other.close()]);
  }, 60_000);
});

/** A claim that has looked and found nothing, at a console that goes by wake-ups alone, while `act` is done elsewhere. */
async function waits({ deps: { engine, store } }: TestConsole, api: ApiClient, act: () => Promise<unknown>) {
  const { waitForWork } = engine;
  const { claimable } = store;
  const looked = new Promise<void>((resolve) => {
    Object.assign(engine, {
      waitForWork: (_ms: number, signal: AbortSignal) => waitForWork(600_000, signal),
    });
    const watched: Pick<Store, 'claimable'> = {
      claimable: async (ask) => {
        const found = await claimable(ask);
        resolve();
        return found;
      },
    };
    Object.assign(store, watched);
  });
  const claimed = claim(api, { waitMs: 30_000 });
  await looked;
  await act();
  const answer = await claimed;
  Object.assign(engine, { waitForWork });
  Object.assign(store, { claimable });
  return answer;
}
