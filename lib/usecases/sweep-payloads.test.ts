import { expect, it } from 'vitest';
import { type EpochMs, epochMs } from '@/lib/core/events/ids';
import { ApiClient, hash, TestWorker } from '@/lib/testing/api-client';
import { memoryStore } from '@/lib/testing/memory-store';
import { startTestConsole } from '@/lib/testing/test-console';
import { sweepPayloads } from './sweep-payloads';

const HOUR = 3_600_000;

it('keeps an unreferenced payload for 24 hours, and one that an event refers to for ever', async () => {
  let now: EpochMs = epochMs(Date.UTC(2026, 0, 1));
  const store = memoryStore({ now: () => now });
  const console = await startTestConsole({ store, leaseMs: 3_600_000 * 100 });
  const api = new ApiClient(console.url);
  const put = async (text: string) => {
    const digest = hash(text);
    const reply = await api.send('PUT', `/api/v1/payloads/${digest}`, text, {
      'content-type': 'application/json',
    });
    expect([200, 201, 204]).toContain(reply.status);
    return digest;
  };
  const worker = await TestWorker.create(api);
  const alone = await put('"nobody refers to me"');
  const used = await put('"an event refers to me"');
  const message = { sha256: used, codec: 'json', bytes: '"an event refers to me"'.length };
  await worker.write(worker.enter('plan'), { kind: 'message.appended', role: 'user', message });
  const there = async (digest: string) => (await api.get(`/api/v1/payloads/${digest}`)).status;

  now = epochMs(now + 24 * HOUR);
  expect(await sweepPayloads(console.deps)).toBe(0);
  expect(await there(alone)).toBe(200);
  now = epochMs(now + 1);
  expect(await sweepPayloads(console.deps)).toBe(1);
  expect([await there(alone), await there(used)]).toEqual([404, 200]);
  const again = { ...message, sha256: alone, bytes: '"nobody refers to me"'.length };
  expect(await worker.append({ kind: 'message.appended', role: 'user', message: again })).toMatchObject({
    status: 422,
    body: { type: 'urn:rerail:problem:unknown-payloads', payloads: [alone] },
  });
  await console.close();
});
