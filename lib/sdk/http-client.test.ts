import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { systemClock } from './clock';
import { GivenUp, HttpClient } from './http-client';

const nodeWarnings: string[] = [];
const note = (warning: Error) => void nodeWarnings.push(warning.message);
const open: (Server | HttpClient)[] = [];
afterEach(() => {
  process.off('warning', note);
  for (const one of open.splice(0)) one.close();
});

async function clientOf(listener: RequestListener) {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const warnings: string[] = [];
  const client = new HttpClient({
    base: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
    token: 'secret',
    clock: systemClock,
    warn: (warning) => warnings.push(warning),
  });
  open.push(client, server);
  return { client, warnings };
}

test('asks for many payloads at once, as a replay does, without a warning from Node', async () => {
  process.on('warning', note);
  const waiting: (() => void)[] = [];
  const { client } = await clientOf((request, response) => {
    waiting.push(() => response.end(`${request.method} ${request.url} ${request.headers.authorization}`));
    if (waiting.length === 40) for (const answer of waiting) answer();
  });
  const paths = Array.from({ length: 40 }, (_, i) => `/api/v1/payloads/${i}?x=%20`);
  const answers = await Promise.all(paths.map((path) => client.ask({ method: 'GET', path })));
  expect(answers).toEqual(paths.map((path) => ({ status: 200, text: `GET ${path} Bearer secret` })));
  // Node tells its warnings in a later tick.
  await new Promise((resolve) => setImmediate(resolve));
  expect(nodeWarnings).toEqual([]);
});

test('gives up the one call whose signal is aborted; closed, all that are under way or waiting to try again', async () => {
  let asked = 0;
  let onAsked: () => void = () => undefined;
  const { client, warnings } = await clientOf((request, response) => {
    asked++;
    if (request.url === '/busy') response.writeHead(503).end();
    onAsked();
  });
  const reached = (count: number) =>
    new Promise<void>((resolve) => {
      onAsked = () => {
        if (asked >= count) resolve();
      };
      onAsked();
    });
  const abort = new AbortController();
  const one = client.ask({ method: 'POST', path: '/held', body: '{}', signal: abort.signal });
  const other = client.ask({ method: 'GET', path: '/held' });
  const again = client.ask({ method: 'GET', path: '/busy' });
  for (const call of [one, other, again]) call.catch(() => undefined);
  await reached(4);
  abort.abort();
  await expect(one).rejects.toThrow(GivenUp);
  client.close();
  await expect(other).rejects.toThrow(GivenUp);
  await expect(again).rejects.toThrow(GivenUp);
  await expect(client.ask({ method: 'GET', path: '/held' })).rejects.toThrow(GivenUp);
  expect(warnings).toEqual([expect.stringContaining('it answered 503')]);
});
