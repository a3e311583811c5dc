import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { seq } from '../core/events/ids';
import { systemClock } from './clock';
import { HttpClient } from './http-client';
import { HttpJournal } from './http-journal';
import type { Held } from './journal-port';

test('a heartbeat that a kept-alive connection swallows is sent again on another, well within the lease', async () => {
  const connections = new Set<unknown>();
  let swallowed = 0;
  const server = createServer((request, response) => {
    const isFirst = connections.size === 0 || connections.has(request.socket);
    connections.add(request.socket);
    // The connection works once, and then whatever comes on it goes nowhere.
    if (isFirst && request.url?.endsWith('/heartbeat') === true) swallowed++;
    else response.end(JSON.stringify({ leaseMs: 3_000, others: [] }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const client = new HttpClient({
    base: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
    token: undefined,
    clock: systemClock,
    warn: () => undefined,
  });
  try {
    await client.ask({ method: 'GET', path: '/opens-the-connection' });
    const held = { leaseId: 'l', runId: 'r', epoch: 1, leaseMs: 3_000, headSeq: 1 } as unknown as Held;
    const from = performance.now();
    const answer = await new HttpJournal(client).heartbeat(held, seq(1), new AbortController().signal);
    expect(answer).toEqual({ leaseMs: 3_000, others: [] });
    expect(swallowed).toBe(1);
    expect(performance.now() - from).toBeLessThan(held.leaseMs);
  } finally {
    client.close();
    server.close();
  }
});
