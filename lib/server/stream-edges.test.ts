import { afterAll, beforeAll, expect, it } from 'vitest';
import { ApiClient, TestWorker } from '@/lib/testing/api-client';
import { memoryStore } from '@/lib/testing/memory-store';
import { startTestConsole, type TestConsole } from '@/lib/testing/test-console';

let running: TestConsole;
let id: string;
beforeAll(async () => {
  running = await startTestConsole({ store: memoryStore(), leaseMs: 60_000 });
  const worker = await TestWorker.create(new ApiClient(running.url));
  await worker.write(worker.enter('plan'));
  id = worker.runId;
});
afterAll(async () => running.close());

/** The stream's beginning, as far as it matches. */
async function beginning(query: string, headers: Record<string, string>, whole: RegExp): Promise<string> {
  const stop = new AbortController();
  const answer = await fetch(`${running.url}/api/v1/stream?${query}`, { headers, signal: stop.signal });
  let text = '';
  const reader = answer.body?.getReader();
  const utf8 = new TextDecoder();
  while (reader !== undefined && !whole.test(text)) {
    const part = await reader.read();
    if (part.done) break;
    text += utf8.decode(part.value);
  }
  stop.abort();
  return text;
}

it.each([
  ['', {}, '0'],
  ['run=ID', {}, '2'],
  ['run=ID&after=1', {}, '1'],
  ['run=ID&after=0', { 'last-event-id': '1' }, '1'],
  ['run=ID&after=1', { 'last-event-id': '' }, '1'],
])('says where it begins before its first message: %s %o', async (query, headers, from) => {
  const text = await beginning(query.replace('ID', id), headers as Record<string, string>, /\n\n/);
  expect(text).toMatch(new RegExp(`^retry: 1000\nid: ${from}\n: connected\n\n`));
});

it.each(['3', '99', '2147483648', '99999999999', '9'.repeat(400)])(
  'says reset to a listener that claims to be at %s',
  async (lastId) => {
    const text = await beginning(`run=${id}&after=0`, { 'last-event-id': lastId }, /\ndata: .*\n\n/);
    expect(text).toContain('id: 2\nevent: reset\n');
  },
);

it.each(['x', '-1', '1e1', '1.', '1.-1', '1.5.2'])(
  'refuses the Last-Event-ID %s, which no stream gave',
  async (lastId) => {
    const answer = await fetch(`${running.url}/api/v1/stream?run=${id}`, {
      headers: { 'last-event-id': lastId },
    });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ errors: [{ path: 'Last-Event-ID' }] });
  },
);
