import { expect, it } from 'vitest';
import { type EpochMs, epochMs } from '@/lib/core/events/ids';
import { ApiClient, TestWorker } from '@/lib/testing/api-client';
import { memoryStore } from '@/lib/testing/memory-store';
import { startTestConsole } from '@/lib/testing/test-console';

it('a lapsed lease is interrupted in list, filter, page and state before any judge has run', async () => {
  let now: EpochMs = epochMs(Date.UTC(2026, 0, 1));
  const store = memoryStore({ now: () => now });
  const console = await startTestConsole({ store, leaseMs: 60_000 });
  const api = new ApiClient(console.url);
  const worker = await TestWorker.create(api);
  const listed = async (query: string) =>
    (await api.get(`/api/v1/runs${query}`)).body.items.map(
      (run: { id: string; status: string }) => run.status,
    );
  expect(await listed('?status=running')).toEqual(['running']);
  now = epochMs(now + 60_000);
  // The judge's own write is held back: what is read is what the rows and the clock say.
  const commit = store.commit.bind(store);
  store.commit = (async () => ({ ok: true, value: false })) as typeof commit;
  expect(await listed('')).toEqual(['interrupted']);
  expect(await listed('?status=interrupted')).toEqual(['interrupted']);
  expect(await listed('?status=running')).toEqual([]);
  expect((await api.get(worker.path)).body.status).toBe('interrupted');
  expect((await api.get(`${worker.path}/state`)).body.status).toBe('interrupted');
  store.commit = commit;
  await console.close();
});

it('a page is in the order of what it shows, when a lapse moves a run to another place', async () => {
  let now: EpochMs = epochMs(Date.UTC(2026, 0, 1));
  const store = memoryStore({ now: () => now });
  const console = await startTestConsole({ store, leaseMs: 60_000 });
  const api = new ApiClient(console.url);
  const lapsing = await TestWorker.create(api);
  const others: string[] = [];
  for (let n = 1; n <= 4; n += 1) {
    now = epochMs(now + 10_000);
    const other = await TestWorker.create(api);
    await other.write({ kind: 'run.completed' });
    others.unshift(other.runId);
  }
  now = epochMs(now + 60_000);
  const { body } = await api.get('/api/v1/runs?limit=5');
  expect(body.items.map((run: { id: string }) => run.id)).toEqual([lapsing.runId, ...others]);
  const walked: string[] = [];
  let cursor = '';
  for (let page = 0; page < 9; page += 1) {
    const { body: next } = await api.get(`/api/v1/runs?limit=2${cursor}`);
    walked.push(...next.items.map((run: { id: string }) => run.id));
    if (next.nextCursor === null) break;
    cursor = `&cursor=${next.nextCursor}`;
  }
  expect(walked).toEqual([lapsing.runId, ...others]);
  await console.close();
});

it('a run whose lapse is found on a later page is given there, and once', async () => {
  let now: EpochMs = epochMs(Date.UTC(2026, 0, 1));
  const store = memoryStore({ now: () => now });
  const console = await startTestConsole({ store, leaseMs: 60_000 });
  const api = new ApiClient(console.url);
  const lapsing = await TestWorker.create(api);
  const others: string[] = [];
  for (let n = 1; n <= 4; n += 1) {
    now = epochMs(now + 10_000);
    const other = await TestWorker.create(api);
    await other.write({ kind: 'run.completed' });
    others.unshift(other.runId);
  }
  now = epochMs(now + 60_000);
  for (const order of ['desc', 'asc']) {
    const walked: string[] = [];
    let cursor = '';
    for (let page = 0; page < 9; page += 1) {
      const { body } = await api.get(`/api/v1/runs?limit=2&sort=created&order=${order}${cursor}`);
      walked.push(...body.items.map((run: { id: string }) => run.id));
      if (body.nextCursor === null) break;
      cursor = `&cursor=${body.nextCursor}`;
    }
    const down = [...others, lapsing.runId];
    expect(walked).toEqual(order === 'desc' ? down : down.toReversed());
  }
  await console.close();
});
