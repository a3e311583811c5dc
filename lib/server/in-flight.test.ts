import { expect, it } from 'vitest';
import { ApiClient, claim, TestWorker, until } from '@/lib/testing/api-client';
import { sqliteDatabase } from '@/lib/testing/databases';
import { startTestConsole } from '@/lib/testing/test-console';

it('ends with long polls, streams and appends open: they are answered, and the store is closed after them', async () => {
  const database = sqliteDatabase();
  const console = await startTestConsole({ databaseUrl: database.url });
  const failures: unknown[] = [];
  console.deps.log.error = (...said: readonly unknown[]) => {
    failures.push(said);
  };
  const api = new ApiClient(console.url);
  const worker = await TestWorker.create(api);
  const streams = await Promise.all(
    ['', `?run=${worker.runId}&after=0`].map((query) => fetch(`${console.url}/api/v1/stream${query}`)),
  );
  const polls = ['w7', 'w8'].map((workerId) => claim(api, { workerId, waitMs: 30_000 }));
  await until(
    () => api.get('/api/v1/workers'),
    ({ body }) => body.items.length >= 2,
  );
  const append = worker.append(worker.enter('plan'));
  await append;
  const began = performance.now();
  await console.close();
  // Nothing had to be waited out.
  expect(performance.now() - began).toBeLessThan(1_400);
  expect((await Promise.all(polls)).map(({ status }) => status)).toEqual([204, 204]);
  expect(await streams[1]?.text()).toContain('state.entered');
  expect(failures).toEqual([]);
  await database.remove();
});
