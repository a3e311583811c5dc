import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type EpochMs, epochMs } from '@/lib/core/events/ids';
import { ApiClient, claim, TestWorker } from '@/lib/testing/api-client';
import { memoryStore } from '@/lib/testing/memory-store';
import { startTestConsole, type TestConsole } from '@/lib/testing/test-console';

/*
 * A run is at home at one console, where its refund is in doubt. Another console has a copy, decided there that it did not
 * happen, and a fork of it sent the refund itself. The fork's journal comes back to the first console.
 */

const LEASE_MS = 60_000;
const REFUND = 'refund#1/create_refund#1';

let now: EpochMs;
let consoles: readonly TestConsole[];
let home: ApiClient;
let other: ApiClient;
beforeEach(async () => {
  now = epochMs(Date.UTC(2026, 0, 1));
  const start = () => startTestConsole({ store: memoryStore({ now: () => now }), leaseMs: LEASE_MS });
  consoles = [await start(), await start()];
  [home, other] = consoles.map(({ url }) => new ApiClient(url)) as [ApiClient, ApiClient];
});
afterEach(async () => {
  for (const console of consoles) await console.close();
});

const pathOf = (runId: string) => `/api/v1/runs/${encodeURIComponent(runId)}`;
const effectOf = async (api: ApiClient, runId: string) =>
  (await api.get(`${pathOf(runId)}/effects`)).body.items.find(
    ({ stepKey }: { stepKey: string }) => stepKey === REFUND,
  );
async function carry(from: ApiClient, to: ApiClient, runId: string) {
  const file = await (await fetch(`${from.url}${pathOf(runId)}/export`)).text();
  const uploaded = await to.post('/api/v1/traces', file);
  expect([200, 201], JSON.stringify(uploaded.body)).toContain(uploaded.status);
}
async function ordered(api: ApiClient, runId: string, ask: Record<string, unknown>) {
  const plan = await api.plan(runId, ask);
  const given = await api.command(runId, { ...ask, planDigest: plan.body.digest });
  expect(given.status, JSON.stringify(given.body)).toBe(202);
  return given.body.runId as string;
}
async function decide(api: ApiClient, runId: string, outcome: 'happened' | 'did-not-happen') {
  const { intentSeq } = await effectOf(api, runId);
  const result = outcome === 'happened' ? { result: { value: { id: 'said' } } } : {};
  const decisions = { [REFUND]: { intentSeq, outcome, ...result } };
  const given = await api.command(runId, { mode: 'decide', decisions });
  expect(given.status, JSON.stringify(given.body)).toBe(202);
}
const paid = (worker: TestWorker) => ({ ...worker.done(REFUND, { id: 're_2' }), receipt: 're_2' });

/** The run at home, its refund in doubt; and the fork at the other console, which has just sent it. */
async function forkedElsewhere(): Promise<{ readonly runId: string; readonly fork: TestWorker }> {
  const worker = await TestWorker.create(home);
  await worker.write(
    worker.enter('plan'),
    worker.leave('plan', 1, 'refund'),
    worker.enter('refund', 1, 'plan'),
    {
      kind: 'checkpoint.saved',
      trigger: 'manual',
      name: '',
      visit: 'refund#1',
      entrySeq: 0,
      othersSeq: 0,
    },
  );
  await worker.write(worker.external(REFUND));
  now = epochMs(now + LEASE_MS);
  expect((await home.get(worker.path)).body).toMatchObject({ status: 'interrupted', effectsInDoubt: 1 });
  await carry(home, other, worker.runId);
  const [checkpoint] = (await other.get(`${worker.path}/checkpoints`)).body.items;
  // A worker with the agent is known, so that there is a machine to plan for.
  expect((await claim(other, { waitMs: 0 })).status).toBe(204);
  const fork = await ordered(other, worker.runId, { mode: 'fork', from: checkpoint.id });
  const claimed = await claim(other);
  expect(claimed.body).toMatchObject({ reason: 'fork', runId: fork });
  const forked = TestWorker.of(other, claimed.body, 'w2');
  await decide(other, fork, 'did-not-happen');
  await forked.write(forked.external(REFUND));
  return { runId: worker.runId, fork: forked };
}

async function resumed(runId: string): Promise<TestWorker> {
  await ordered(home, runId, { mode: 'resume' });
  const claimed = await claim(home);
  expect(claimed.body).toMatchObject({ reason: 'resume', runId });
  return TestWorker.of(home, claimed.body, 'w3');
}

describe('what a fork of the lineage sent at another console', () => {
  it.each(['before', 'after'])(
    'and confirmed there is never sent again here: uploaded %s it was decided here',
    async (when) => {
      const { runId, fork } = await forkedElsewhere();
      await fork.write(paid(fork));
      if (when === 'before') {
        await carry(other, home, fork.runId);
        expect(await effectOf(home, runId)).toMatchObject({
          runId,
          status: 'in-doubt',
          evidence: [{ runId: fork.runId, source: 'outcome', receipt: 're_2' }],
          perhapsTwice: true,
        });
        const plan = (await home.plan(runId, { mode: 'resume' })).body;
        expect(plan.steps).toContainEqual(
          expect.objectContaining({
            key: REFUND,
            disposition: 'needs-decision',
            reason: expect.stringContaining(`Run ${fork.runId} intended it as well`),
          }),
        );
      }
      await decide(home, runId, 'did-not-happen');
      if (when === 'after') await carry(other, home, fork.runId);
      expect(await effectOf(home, runId)).toMatchObject({
        runId: fork.runId,
        status: 'confirmed',
        receipt: 're_2',
        perhapsTwice: false,
      });
      expect((await home.get(pathOf(runId))).body.effectsInDoubt).toBe(0);
      const plan = (await home.plan(runId, { mode: 'resume' })).body;
      expect(plan.steps).toContainEqual(expect.objectContaining({ key: REFUND, disposition: 'skip' }));
      const next = await resumed(runId);
      expect(await next.append(next.external(REFUND))).toMatchObject({
        status: 409,
        body: { type: 'urn:rerail:problem:effect-exists', runId: fork.runId },
      });
    },
  );

  it('holds the run here back while it is open there, counted as its doubt, until its journal says more', async () => {
    const { runId, fork } = await forkedElsewhere();
    await carry(other, home, fork.runId);
    await decide(home, runId, 'did-not-happen');
    expect((await home.plan(runId, { mode: 'resume' })).body.steps).toContainEqual(
      expect.objectContaining({ key: REFUND, disposition: 'blocked' }),
    );
    now = epochMs(now + LEASE_MS);
    expect((await other.get(fork.path)).body).toMatchObject({ status: 'interrupted', effectsInDoubt: 1 });
    await carry(other, home, fork.runId);
    expect(await effectOf(home, runId)).toMatchObject({ runId: fork.runId, status: 'in-doubt' });
    expect((await home.get(fork.path)).body.effectsInDoubt).toBe(1);
    await fork.write(paid(fork));
    await carry(other, home, fork.runId);
    expect(await effectOf(home, runId)).toMatchObject({ runId: fork.runId, status: 'confirmed' });
    expect((await home.get(fork.path)).body.effectsInDoubt).toBe(0);
    const at = (await home.get(`${fork.path}/events?after=0`)).body.items.at(-1).seq;
    expect((await home.get(`${fork.path}/effects?at=${at - 1}`)).body.items).toMatchObject([
      { runId: fork.runId },
    ]);
  });

  it('raises the alarm where it was sent again here before anything was heard of it', async () => {
    const { runId, fork } = await forkedElsewhere();
    await fork.write(paid(fork));
    await decide(home, runId, 'did-not-happen');
    const next = await resumed(runId);
    await next.write(next.external(REFUND));
    await next.write({ ...next.done(REFUND), receipt: 're_3' });
    expect(await effectOf(home, runId)).toMatchObject({ perhapsTwice: false });
    await carry(other, home, fork.runId);
    expect(await effectOf(home, runId)).toMatchObject({
      runId,
      status: 'confirmed',
      receipt: 're_3',
      evidence: [{ runId: fork.runId, receipt: 're_2' }],
      perhapsTwice: true,
    });
    const { items } = (await home.get('/api/v1/runs')).body;
    const badges = (id: string) => items.find((run: { id: string }) => run.id === id).badges;
    expect(badges(runId)).toContain('perhaps-twice');
  });

  it('is the same at a third console that has copies of both, whichever comes first', async () => {
    const { runId, fork } = await forkedElsewhere();
    await fork.write(paid(fork));
    const seen: unknown[] = [];
    for (const first of [runId, fork.runId]) {
      const third = await startTestConsole({ store: memoryStore({ now: () => now }) });
      const api = new ApiClient(third.url);
      await carry(other, api, first);
      await carry(other, api, first === runId ? fork.runId : runId);
      seen.push(await effectOf(api, runId));
      await third.close();
    }
    expect(seen[0]).toMatchObject({ runId: fork.runId, status: 'confirmed', executions: 2 });
    expect(seen[1]).toEqual(seen[0]);
  });
});
