import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { assertDefined } from '@/lib/core/shared/assert';
import { memoryStore } from '@/lib/testing/memory-store';
import { startTestConsole, type TestConsole } from '@/lib/testing/test-console';
import { listener } from './listener';
import { router } from './router';
import { routes } from './routes';

/** A request with headers that `fetch` would not send. */
function raw(
  url: string,
  headers: Record<string, string>,
): Promise<{ status: number | undefined; type: string | undefined; body: string }> {
  return new Promise((resolve, reject) => {
    const req = request(url, { headers, agent: false }, (res) => {
      let body = '';
      res.setEncoding('utf8');
      res.on('data', (chunk: string) => {
        body += chunk;
      });
      res.on('end', () => resolve({ status: res.statusCode, type: res.headers['content-type'], body }));
    });
    req.on('error', reject);
    req.end();
  });
}

describe('the HTTP edge', () => {
  let running: TestConsole | undefined;
  const url = () => assertDefined(running, 'started').url;
  const deps = () => assertDefined(running, 'started').deps;
  beforeAll(async () => {
    running = await startTestConsole({ store: memoryStore() });
  });
  afterAll(async () => running?.close());

  it('answers 403 problem+json to a foreign Host and to another site’s page', async () => {
    const foreign = await raw(`${url()}/api/v1/runs`, { host: 'evil.example' });
    expect(foreign).toMatchObject({ status: 403, type: 'application/problem+json' });
    expect(JSON.parse(foreign.body)).toMatchObject({ type: 'urn:rerail:problem:foreign-host', status: 403 });
    expect(await raw(`${url()}/api/v1/runs`, { origin: 'http://evil.example' })).toMatchObject({
      status: 403,
    });
    expect(await raw(`${url()}/api/v1/runs`, { 'sec-fetch-site': 'cross-site' })).toMatchObject({
      status: 403,
    });
    expect(
      await raw(`${url()}/api/v1/runs`, { origin: url(), 'sec-fetch-site': 'same-origin' }),
    ).toMatchObject({ status: 200 });
  });

  it('answers 404 and 405 as problems, with what is allowed', async () => {
    const missing = await fetch(`${url()}/api/v1/nothing`);
    expect([missing.status, missing.headers.get('content-type')]).toEqual([404, 'application/problem+json']);
    const wrong = await fetch(`${url()}/api/v1/workers/claim`);
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'POST']);
  });

  it('answers HEAD like GET, without the body', async () => {
    const head = await fetch(`${url()}/api/v1/runs`, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
  });

  it('sends no answer that could be framed or sniffed', async () => {
    const { headers } = await fetch(`${url()}/api/v1/runs`);
    expect(Object.fromEntries(headers)).toMatchObject({
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'cache-control': 'no-store',
    });
  });

  it('refuses a query that is not documented as a list, with its name', async () => {
    const reply = await fetch(`${url()}/api/v1/runs?limit=1&limit=2`);
    expect(await reply.json()).toMatchObject({ status: 400, errors: [{ path: 'query.limit' }] });
    const status = await fetch(`${url()}/api/v1/runs?status=exploded`);
    expect(status.status).toBe(400);
  });

  it('answers 403 to a caller at another address than loopback, whatever it claims', async () => {
    const outside = Object.values(networkInterfaces())
      .flat()
      .find((one) => one !== undefined && !one.internal && one.family === 'IPv4');
    if (outside === undefined) {
      console.warn('not tested: a caller from outside (this machine has no address but loopback)');
      return;
    }
    const server = createServer(
      listener({ route: router(routes), pages: undefined, deps: deps(), onError: () => undefined }),
    );
    server.listen(0, '0.0.0.0');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, `${outside.address}:${port}`]) {
      const refused = await raw(`http://${outside.address}:${port}/api/v1/runs`, {
        host,
        'x-forwarded-for': '127.0.0.1',
        'x-real-ip': '127.0.0.1',
      });
      expect(refused).toMatchObject({ status: 403, type: 'application/problem+json' });
      expect(JSON.parse(refused.body)).toMatchObject({ type: 'urn:rerail:problem:foreign-address' });
    }
    expect(await raw(`http://127.0.0.1:${port}/api/v1/runs`, {})).toMatchObject({ status: 200 });
    server.closeAllConnections();
    server.close();
  });
});
