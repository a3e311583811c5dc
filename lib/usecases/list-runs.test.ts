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
