import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  type EpochMs,
  epochMs,
  machineDigest,
  type RunId,
  runId,
  seq,
  workerId,
} from '@/lib/core/events/ids';
import type { EffectRecord } from '@/lib/core/projections/records';
import { assertDefined } from '@/lib/core/shared/assert';
import { ApiClient, claim, TestWorker } from '@/lib/testing/api-client';
import { memoryStore } from '@/lib/testing/memory-store';
import { TestLineage } from '@/lib/testing/random-journal';
import { append, newRunRecord, queued } from '@/lib/testing/store-rows';
import { testCall } from '@/lib/testing/test-call';
import { startTestConsole, type TestConsole } from '@/lib/testing/test-console';
import { forgetWorkers } from './forget-workers';
import type { Store } from './ports';

const DAY_MS = 86_400_000;
const LEASE_MS = 60_000;
let now: EpochMs;
let store: Store;
let console: TestConsole;
let api: ApiClient;

beforeEach(async () => {
  now = epochMs(Date.UTC(2026, 0, 1));
  store = memoryStore({ now: () => now });
  console = await startTestConsole({ store, leaseMs: LEASE_MS });
  api = new ApiClient(console.url);
});
afterEach(() => console.close());

/** What the list and the page may not read, however much of it there is. */
const untouched = (...names: readonly ('lineage' | 'effects')[]) => {
  for (const name of names)
    Object.assign(store, {
      [name]: () => Promise.reject(new Error(`${name} is read`)),
    });
};

it('says that a machine was mined where the trace shows one, not of a run that has not begun', async () => {
  const fresh = newRunRecord('not_begun');
  await append(store, 'not_begun', { bodies: [queued], run: fresh });
  const entered = { ...fresh.state, counts: { ...fresh.state.counts, visits: 1 } };
  await append(store, 'undeclared', {
    bodies: [queued],
    run: { ...newRunRecord('undeclared'), state: entered },
  });
  const badges = async (id: string) => (await api.get(`/api/v1/runs/${id}`)).body.badges;
  expect(await badges('not_begun')).not.toContain('mined');
  expect(await badges('undeclared')).toContain('mined');
});

it('a run names its newest children and counts them all, and its lineage is not loaded for that', async () => {
  const worker = await TestWorker.create(api);
  for (let i = 0; i < 120; i++)
    await append(store, `fork_${i}`, {
      bodies: [queued],
      run: {
        ...newRunRecord(`fork_${i}`),
        root: runId(worker.runId),
        parent: { runId: runId(worker.runId), seq: seq(1), mode: i % 2 ? 'fork' : 'replay' },
        createdAt: epochMs(now + i),
      },
    });
  untouched('lineage', 'effects');
  const { lineage } = (await api.get(worker.path)).body;
  expect(lineage.childCount).toBe(120);
  expect(lineage.children).toHaveLength(100);
  expect(lineage.children.at(0)).toEqual({ runId: 'fork_20', mode: 'replay', status: 'interrupted' });
  expect(lineage.children.at(-1)).toEqual({ runId: 'fork_119', mode: 'fork', status: 'interrupted' });
  const { items } = (await api.get('/api/v1/runs?limit=200')).body;
  expect(items.find(({ id }: { id: string }) => id === worker.runId).lineage.childCount).toBe(120);
  expect(items.find(({ id }: { id: string }) => id === 'fork_7').lineage).toMatchObject({
    children: [],
    childCount: 0,
  });
});

it('effects in doubt are counted without the ledger of the lineage', async () => {
  const worker = await TestWorker.create(api);
  await worker.write(worker.enter('plan'), worker.external('plan#1/create_refund#1'));
  now = epochMs(now + LEASE_MS);
  untouched('lineage', 'effects');
  const { items } = (await api.get('/api/v1/runs')).body;
  expect(items).toMatchObject([{ effectsInDoubt: 1, status: 'interrupted' }]);
  expect((await api.get(worker.path)).body).toMatchObject({ effectsInDoubt: 1, next: { action: 'verify' } });
});

it('a late word about a call whose next generation is confirmed is an alarm on its run, whichever runs are looked at', async () => {
  const [first, fork] = [runId('first'), runId('fork')];
  await append(store, first, { bodies: [queued] });
  const parent = { runId: first, seq: seq(1), mode: 'fork' } as const;
  await append(store, fork, { bodies: [queued], run: { ...newRunRecord(fork), root: first, parent } });
  const lineage = new TestLineage(first);
  const { send, row } = testCall('create_refund');
  lineage.worker([send(lineage, 1, 'external')]);
  const sent = assertDefined(row(lineage), 'the call has a row');
  const late = { runId: first, intentSeq: sent.intentSeq, seq: seq(9), source: 'late-worker' } as const;
  const rows: readonly EffectRecord[] = [
    { ...sent, status: 'in-doubt', evidence: [late] },
    { ...sent, runId: fork, generation: 2, status: 'confirmed', confirmedBy: 'outcome' },
  ];
  Object.assign(store, {
    watchedEffects: async (of: readonly RunId[]) => rows.filter((one) => of.includes(one.runId)),
    effects: async () => rows,
  } satisfies Partial<Store>);
  expect((await api.get('/api/v1/runs/first')).body.badges).toContain('perhaps-twice');
  const { items } = (await api.get('/api/v1/runs')).body;
  for (const { badges } of items) expect(badges).toContain('perhaps-twice');
});

it('who is live is asked of those seen lately alone, and the list of workers still has the others', async () => {
  await claim(api, { waitMs: 0, workerId: 'old' });
  const asked: (number | undefined)[] = [];
  const list = store.workers.list.bind(store.workers);
  Object.assign(store.workers, {
    list: (since?: EpochMs) => {
      asked.push(since);
      return list(since);
    },
  });
  now = epochMs(now + DAY_MS);
  const worker = await TestWorker.create(api);
  await api.get(worker.path);
  await api.get('/api/v1/runs');
  await api.plan(worker.runId, { mode: 'fork' });
  expect(asked).toEqual([now - 2 * LEASE_MS, now - 2 * LEASE_MS, now - 2 * LEASE_MS]);
  expect((await api.get('/api/v1/workers')).body.items).toMatchObject([{ workerId: 'old', live: false }]);
});

it('a worker is forgotten once nobody heard of it for 30 days', async () => {
  await claim(api, { waitMs: 0, workerId: 'old' });
  now = epochMs(now + DAY_MS);
  await claim(api, { waitMs: 0, workerId: 'newer' });
  now = epochMs(now + 30 * DAY_MS);
  expect(await forgetWorkers({ store })).toBe(1);
  expect((await api.get('/api/v1/workers')).body.items).toMatchObject([{ workerId: 'newer' }]);
});

it('a worker that only beats is seen by a console that started after its last claim', async () => {
  const worker = await TestWorker.create(api, { workerId: 'w1' });
  // Offered to a console that is gone.
  await store.workers.seen({
    workerId: workerId('w1'),
    agents: [{ name: 'desk', machineDigest: machineDigest('a'.repeat(64)) }],
    firstSeenAt: now,
    seenAt: now,
  });
  now = epochMs(now + LEASE_MS / 2);
  expect((await worker.heartbeat()).status).toBe(200);
  expect((await store.workers.get(workerId('w1')))?.seenAt).toBe(now);
});
