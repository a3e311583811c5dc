import { afterAll, beforeAll, expect, it } from 'vitest';
import { startWorker } from '@/lib/sdk/worker';
import { memoryStore } from '@/lib/testing/memory-store';
import { startTestConsole, type TestConsole } from '@/lib/testing/test-console';
import { LockedGate } from './gate';
import { SessionCookies } from './session-cookie';
import { TokenBook } from './tokens';

const TOKEN = 'the-token-of-the-environment';
let console_: TestConsole;
beforeAll(async () => {
  console_ = await startTestConsole({
    store: memoryStore(),
    gate: new LockedGate({
      tokens: new TokenBook({ token: TOKEN, file: undefined }, () => undefined),
      cookies: new SessionCookies(Buffer.alloc(32, 7)),
      hosts: new Set(),
      sessionMs: 3_600_000,
    }),
  });
});
afterAll(() => console_.close());

const agents = [new URL('../testing/sdk-desk.mjs', import.meta.url)];

it('a worker of the SDK is heard by its token, and told at once where it has none', async () => {
  const settings = { console: console_.url, agents, workerId: 'with-token', handleSignals: false };
  await expect(startWorker(settings)).rejects.toThrow(/401 .*asks for a token/);
  await expect(startWorker({ ...settings, token: `${TOKEN}x` })).rejects.toThrow(
    /401 .*does not know the token/,
  );
  const worker = await startWorker({ ...settings, token: TOKEN });
  try {
    const workers = await fetch(`${console_.url}/api/v1/workers`, {
      headers: { authorization: `Bearer ${TOKEN}` },
    });
    expect(await workers.json()).toMatchObject({ items: [{ workerId: 'with-token' }] });
  } finally {
    await worker.stop();
  }
});

it('a worker that could not start leaves nothing behind in its process', async () => {
  const signals = ['SIGTERM', 'SIGINT'] as const;
  const listening = () => signals.map((signal) => process.listenerCount(signal));
  const before = listening();
  await expect(startWorker({ console: console_.url, agents, workerId: 'never' })).rejects.toThrow(/401/);
  const nowhere = new URL('../testing/no-such-agent.mjs', import.meta.url);
  await expect(startWorker({ console: console_.url, agents: [nowhere] })).rejects.toThrow();
  expect(listening()).toEqual(before);
});
