import { NextRequest } from 'next/server';
import { afterEach, expect, it, vi } from 'vitest';
import { proxy } from '@/proxy';
import { readEnv } from './env';
import { safetyHeaders } from './guards';
import { PEER_HEADER } from './peer-header';

/* What stands before the routes under `next start` alone, where the console's own server does not. */

afterEach(() => {
  vi.unstubAllEnvs();
  vi.resetModules();
});

it.each([
  {},
  { RERAIL_MAX_UPLOAD_BYTES: '1073741824' },
  { RERAIL_MAX_BODY_BYTES: '1073741824' },
  { RERAIL_MAX_UPLOAD_BYTES: '2048', RERAIL_MAX_BODY_BYTES: '2048' },
  { RERAIL_MAX_UPLOAD_BYTES: '' },
])('reads longer bodies than the API takes, so that none is cut off unseen (%o)', async (env) => {
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  const { default: config } = await import('@/next.config');
  const { upload, maxBodyBytes } = readEnv(env);
  expect(config.experimental.proxyClientMaxBodySize).toBeGreaterThan(
    Math.max(upload.bodyBytes, maxBodyBytes),
  );
});

const ask = (method: string, path: string, headers: Record<string, string> = {}) =>
  proxy(
    new NextRequest(`http://127.0.0.1:3000${path}`, {
      method,
      headers: { host: '127.0.0.1:3000', [PEER_HEADER]: '127.0.0.1', ...headers },
    }),
  );

it.each([
  ['GET', '/runs/r1'],
  ['GET', '/_next/static/chunk.js'],
  ['GET', '/api/v1/runs?limit=1'],
  ['HEAD', '/api/v1/runs'],
  ['POST', '/api/v1/traces'],
])('lets %s %s on, with the safety headers', (method, path) => {
  const answer = ask(method, path);
  expect(answer.headers.get('x-middleware-next')).toBe('1');
  expect(Object.fromEntries(answer.headers)).toMatchObject(safetyHeaders);
});

it.each([
  ['GET', '/api/v1/nothing', 404, null],
  ['GET', '/api', 404, null],
  ['GET', '/v1/nothing', 404, null],
  ['DELETE', '/api/v1/runs', 405, 'GET, HEAD, POST'],
  ['OPTIONS', '/api/v1/traces', 405, 'POST'],
])('answers %s %s itself, with %i as a problem', async (method, path, status, allow) => {
  const answer = ask(method, path);
  expect([answer.status, answer.headers.get('allow')]).toEqual([status, allow]);
  expect(answer.headers.get('content-type')).toBe('application/problem+json');
  expect(Object.fromEntries(answer.headers)).toMatchObject(safetyHeaders);
  expect(await answer.json()).toMatchObject({ status });
});

it('refuses another site’s page', () => {
  expect(ask('GET', '/api/v1/runs', { origin: 'http://evil.example' }).status).toBe(403);
});
