import { expect, it } from 'vitest';
import { ApiClient, TestWorker } from '@/lib/testing/api-client';
import { memoryStore } from '@/lib/testing/memory-store';
import { startTestConsole } from '@/lib/testing/test-console';

it('a full disk is told as such, and what is sent again once there is room is taken', async () => {
  const store = memoryStore();
  const console = await startTestConsole({ store, leaseMs: 60_000 });
  try {
    const worker = await TestWorker.create(new ApiClient(console.url));
    const commit = store.commit.bind(store);
    const batch = worker.batch([worker.enter('plan')]);
    const append = () => worker.api.post(`${worker.path}/events`, batch);
    const full = Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' });
    Object.assign(store, { commit: () => Promise.reject(full) });
    const refused = await append();
    expect(refused).toMatchObject({
      status: 507,
      body: { type: 'urn:rerail:problem:storage-full', detail: expect.stringContaining('no room') },
    });
    expect(refused.headers.get('content-type')).toBe('application/problem+json');
    Object.assign(store, { commit });
    expect(await append()).toMatchObject({ status: 200, body: { firstSeq: 2 } });
  } finally {
    await console.close();
  }
});
