import { NextRequest } from 'next/server';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { proxy } from '@/proxy';
import { readEnv } from './env';
import { closeGate, gate } from './gate-of';
import { safetyHeaders } from './guards';
import { PEER_HEADER } from './peer-header';

/* What stands before the routes under `next start` alone, where the console's own server does not. */

beforeEach(closeGate);
afterEach(() => {
  vi.unstubAllEnvs();
  vi.resetModules();
  closeGate();
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

/** The request headers that Next is told to hand on. */
const handedOn = (answer: Response, name: string) => answer.headers.get(`x-middleware-request-${name}`);

describe('a page', () => {
  it('has a policy of its own, whose nonce the layout and Next are told, whatever the client sends', () => {
    const [one, other] = [ask('GET', '/runs', { 'x-nonce': 'forged' }), ask('GET', '/runs')];
    const policy = one.headers.get('content-security-policy') ?? '';
    const nonce = /'nonce-([^']+)'/.exec(policy)?.[1];
    expect(Buffer.from(nonce ?? '', 'base64').byteLength).toBe(16);
    expect(handedOn(one, 'x-nonce')).toBe(nonce);
    expect(handedOn(one, 'content-security-policy')).toBe(policy);
    expect(other.headers.get('content-security-policy')).not.toBe(policy);
  });

  it('is only looked at', () => {
    for (const method of ['POST', 'PUT', 'DELETE']) expect(ask(method, '/runs').status).toBe(405);
  });
});

describe('with tokens', () => {
  const TOKEN = 'the-token-of-the-environment';
  beforeEach(() => {
    vi.stubEnv('RERAIL_TOKEN', TOKEN);
    vi.stubEnv('RERAIL_SESSION_SECRET', 'ab'.repeat(32));
    vi.stubEnv('RERAIL_HOSTS', 'rerail.example');
  });

  it('a page leads whoever is not signed in to the sign-in, and back', () => {
    const answer = ask('GET', '/runs/r1?seq=4');
    expect(answer.status).toBe(307);
    // Next makes it relative where it is of the same host; the journey `sign-in` sees to that.
    const { pathname, search } = new URL(answer.headers.get('location') ?? '');
    expect(pathname + search).toBe('/sign-in?next=%2Fruns%2Fr1%3Fseq%3D4');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(Object.fromEntries(answer.headers)).toMatchObject(safetyHeaders);
  });

  it.each(['/sign-in', '/sign-in?next=%2Fruns', '/_next/static/chunk.js', '/icon.svg'])(
    'anybody gets %s',
    (path) => {
      expect(ask('GET', path).headers.get('x-middleware-next')).toBe('1');
    },
  );

  it.each([
    '/_next/image?url=%2Ficon.svg',
    '/sign-in/',
    '/sign-in-x',
    '/_next/static',
    '/SIGN-IN',
    '/shared',
  ])('nobody else gets %s', (path) => {
    expect(ask('GET', path).headers.get('x-middleware-next')).toBeNull();
  });

  it('a page is shown to a session and to a program, and a wrong token is told so', () => {
    const signedIn = gate().signIn({ name: 'Ada', token: TOKEN, peer: '127.0.0.1', secure: false });
    if (!signedIn.ok) throw new Error(signedIn.problem.kind);
    const cookie = signedIn.value.setCookie.split(';')[0] ?? '';
    for (const headers of [{ cookie }, { authorization: `Bearer ${TOKEN}` }])
      expect(ask('GET', '/runs', headers as Record<string, string>).headers.get('x-middleware-next')).toBe(
        '1',
      );
    expect(ask('GET', '/runs', { authorization: 'Bearer not-a-token-of-it' }).status).toBe(401);
  });

  it('a request may come from any address, under a name that the console was given', () => {
    const from = { [PEER_HEADER]: '203.0.113.7', host: 'rerail.example' };
    expect(ask('GET', '/sign-in', from).headers.get('x-middleware-next')).toBe('1');
    expect(ask('GET', '/sign-in', { ...from, host: 'evil.example' }).status).toBe(403);
  });

  it('the API is left to its routes, which ask for themselves', () => {
    expect(ask('GET', '/api/v1/runs').headers.get('x-middleware-next')).toBe('1');
  });
});
