import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiClient, TestWorker } from '@/lib/testing/api-client';
import { memoryStore } from '@/lib/testing/memory-store';
import { startTestConsole, type TestConsole } from '@/lib/testing/test-console';
import { LockedGate } from './gate';
import { routes } from './routes';
import { SessionCookies } from './session-cookie';
import { digestOf, TokenBook } from './tokens';

/* Who may do what, asked over HTTP of a console that has tokens. */

const TOKENS = {
  viewer: 'the-token-of-those-who-look',
  operator: 'the-token-of-those-who-act',
  admin: 'the-token-of-those-who-run-it',
} as const;
type Role = keyof typeof TOKENS;

class Book extends TokenBook {
  constructor() {
    super({ token: undefined, file: undefined }, () => undefined);
  }
  override grants() {
    return Object.entries(TOKENS).map(([role, token]) => ({
      name: `${role}s`,
      role: role as Role,
      digest: digestOf(token),
    }));
  }
}

let console_: TestConsole;
beforeAll(async () => {
  console_ = await startTestConsole({
    store: memoryStore(),
    gate: new LockedGate({
      tokens: new Book(),
      cookies: new SessionCookies(Buffer.alloc(32, 7)),
      hosts: new Set(['rerail.example']),
      sessionMs: 3_600_000,
    }),
  });
});
afterAll(() => console_.close());

const call = (method: string, path: string, headers: Record<string, string> = {}, body?: unknown) =>
  fetch(`${console_.url}${path}`, {
    method,
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
const bearer = (role: Role) => ({ authorization: `Bearer ${TOKENS[role]}` });
const problemOf = async (response: Response) => {
  expect(response.headers.get('content-type')).toBe('application/problem+json');
  return (await response.json()) as Record<string, unknown>;
};
const signIn = (name: string, role: Role, headers: Record<string, string> = {}) =>
  call('POST', '/api/v1/session', headers, { name, token: TOKENS[role] });
async function cookieOf(name: string, role: Role) {
  const response = await signIn(name, role);
  expect(response.status).toBe(200);
  return { cookie: response.headers.get('set-cookie')?.split(';')[0] ?? '' };
}

/** Every method of every route, with something in each free segment. */
const every = routes.flatMap(([path, module]) =>
  Object.keys(module)
    .filter((name) => /^(?:GET|POST|PUT|PATCH|DELETE)$/.test(name))
    .map((method) => [method, path.replaceAll(/\[([^\]]+)\]/g, 'x')] as const),
);
/** What anybody may ask for: signing in, and what a link itself opens. */
const open = (path: string) => path === '/api/v1/session' || path.startsWith('/api/v1/shared/');
/** Exporters are told a `google.rpc.Status`. */
const isReceiver = (path: string) => path === '/v1/traces';

describe('a console with tokens', () => {
  it.each(every.filter(([, path]) => !open(path)))(
    'answers %s %s with 401 to whoever shows none',
    async (method, path) => {
      const response = await call(method, path);
      expect(response.status).toBe(401);
      expect(response.headers.get('www-authenticate')).toBe('Bearer realm="rerail"');
      if (isReceiver(path)) return expect(await response.json()).toMatchObject({ code: 16 });
      expect(await problemOf(response)).toMatchObject({
        type: 'urn:rerail:problem:not-signed-in',
        status: 401,
      });
    },
  );

  it('says so of a wrong one, and never takes one from the address', async () => {
    const wrong = await call('GET', '/api/v1/runs', { authorization: 'Bearer not-a-token-of-this-console' });
    expect(wrong.headers.get('www-authenticate')).toContain('error="invalid_token"');
    expect(await problemOf(wrong)).toMatchObject({ type: 'urn:rerail:problem:bad-token' });
    for (const name of ['token', 'access_token', 'authorization', 'bearer'])
      expect((await call('GET', `/api/v1/runs?${name}=${TOKENS.admin}`)).status).toBe(401);
    expect((await call('GET', '/api/v1/runs', { cookie: `token=${TOKENS.admin}` })).status).toBe(401);
    expect((await call('GET', `/api/v1/runs?token=${TOKENS.admin}`, bearer('admin'))).status).toBe(400);
  });

  it('lets a viewer read and names the role that anything else needs', async () => {
    for (const path of ['/api/v1/runs', '/api/v1/workers', '/api/v1/audit'])
      expect((await call('GET', path, bearer('viewer'))).status).toBe(200);
    for (const [method, path] of every.filter(([method, path]) => method !== 'GET' && !open(path))) {
      // A plan changes nothing.
      if (path.endsWith('/plan')) continue;
      const refused = await call(
        method,
        path.replaceAll(/\/x(?=\/|$)/g, `/${'0'.repeat(64)}`),
        bearer('viewer'),
      );
      expect([method, path, refused.status]).toEqual([method, path, 403]);
      if (isReceiver(path)) {
        expect(await refused.json()).toMatchObject({ code: 7, message: expect.stringContaining('operator') });
        continue;
      }
      expect(await problemOf(refused)).toMatchObject({
        type: 'urn:rerail:problem:needs-role',
        needed: 'operator',
        role: 'viewer',
        detail: expect.stringContaining('operator'),
      });
    }
  });

  it('reads no body before it knows who sends it', async () => {
    const response = await call('POST', '/api/v1/session', {}, { name: 'x'.repeat(20_000), token: 'x' });
    expect(response.status).toBe(413);
    expect(await problemOf(response)).toMatchObject({ limitBytes: 16_384 });
  });

  it('answers to the names that it was given and to addresses, to no other name', async () => {
    const under = async (host: string) => {
      const { request } = await import('node:http');
      return new Promise<number | undefined>((resolve, reject) => {
        const asked = request(`${console_.url}/api/v1/session`, { headers: { host } }, (res) => {
          res.resume();
          res.on('end', () => resolve(res.statusCode));
        });
        asked.on('error', reject);
        asked.end();
      });
    };
    for (const host of [
      'rerail.example',
      'RERAIL.example:8443',
      '192.0.2.7:3000',
      '[2001:db8::7]',
      'localhost:1',
    ])
      expect([host, await under(host)]).toEqual([host, 200]);
    for (const host of [
      'evil.example',
      'rerail.example.evil.example',
      'xrerail.example',
      'rerail.example.',
      '1.2.3',
    ])
      expect([host, await under(host)]).toEqual([host, 403]);
  });
});

describe('orders through a console with tokens', () => {
  /** A run that waits for nobody, begun through the API by the operators' token. */
  async function begun() {
    const api = new ApiClient(console_.url, bearer('operator'));
    return TestWorker.create(api);
  }

  it('carry the name of whoever signed in, or of the token, in journal and audit', async () => {
    const worker = await begun();
    const path = `/api/v1/runs/${encodeURIComponent(worker.runId)}`;
    const order = (headers: Record<string, string>, mode: string, reason: string) =>
      call('POST', `${path}/commands`, headers, { commandId: randomUUID(), mode, reason });
    expect((await order(await cookieOf('Ada Lovelace', 'operator'), 'pause', 'to look at it')).status).toBe(
      202,
    );
    expect((await order(bearer('admin'), 'cancel', 'it is wrong')).status).toBe(202);
    const events = (await (
      await call('GET', `${path}/events?kinds=command.accepted`, bearer('viewer'))
    ).json()) as {
      items: { actor: string; seq: number }[];
    };
    expect(events.items.map(({ actor }) => actor)).toEqual(['Ada Lovelace', 'admins']);
    const audit = (await (
      await call('GET', `/api/v1/audit?run=${encodeURIComponent(worker.runId)}`, bearer('viewer'))
    ).json()) as { items: Record<string, unknown>[] };
    expect(audit.items).toMatchObject([
      { actor: 'admins', action: 'cancel', reason: 'it is wrong', seq: events.items[1]?.seq },
      { actor: 'Ada Lovelace', action: 'pause', reason: 'to look at it', seq: events.items[0]?.seq },
    ]);
  });

  it('are shown to a viewer as not possible, with the role that they need', async () => {
    const worker = await begun();
    const path = `/api/v1/runs/${encodeURIComponent(worker.runId)}`;
    const asOf = async (role: Role) =>
      (await (await call('GET', path, bearer(role))).json()) as {
        actions: Record<string, { possible: boolean; reason: string | null }>;
        next: unknown;
      };
    const { actions, next } = await asOf('viewer');
    for (const action of Object.values(actions))
      expect(action).toEqual({ possible: false, reason: expect.stringContaining('needs the role operator') });
    expect(next).toBeNull();
    expect((await asOf('operator')).actions['cancel']).toEqual({ possible: true, reason: null });
    const plan = async (role: Role) =>
      (await (await call('POST', `${path}/plan`, bearer(role), { mode: 'fork', from: 'latest' })).json()) as {
        digest: string;
        obstacles: { kind: string; sentence: string }[];
      };
    const [seen, own] = [await plan('viewer'), await plan('operator')];
    expect(seen.obstacles[0]).toMatchObject({ kind: 'role', sentence: actions['cancel']?.reason });
    expect([seen.digest, seen.obstacles.slice(1)]).toEqual([own.digest, own.obstacles]);
  });
});

describe('signing in', () => {
  it('gives a session that is the person, until it is ended', async () => {
    const session = async (headers: Record<string, string>) =>
      (await call('GET', '/api/v1/session', headers)).json() as Promise<unknown>;
    expect(await session({})).toEqual({ signIn: true, kind: null, actor: null, role: null });
    expect(await session(bearer('admin'))).toEqual({
      signIn: true,
      kind: 'token',
      actor: 'admins',
      role: 'admin',
    });
    const ada = await cookieOf('Ada', 'viewer');
    expect(await session(ada)).toEqual({ signIn: true, kind: 'person', actor: 'Ada', role: 'viewer' });
    const left = await call('DELETE', '/api/v1/session', ada);
    expect([left.status, left.headers.get('set-cookie')]).toEqual([
      204,
      expect.stringContaining('Max-Age=0'),
    ]);
    expect(await session(ada)).toMatchObject({ kind: null });
    expect((await call('GET', '/api/v1/runs', ada)).status).toBe(401);
  });

  it('has a secure cookie where the page is', async () => {
    const overHttps = await signIn('Ada', 'viewer', {
      origin: `https://${new URL(console_.url).host}`,
      'sec-fetch-site': 'same-origin',
    });
    expect(overHttps.headers.get('set-cookie')).toMatch(/^__Host-rerail_.*; Secure$/);
  });

  it('is not done for another site', async () => {
    for (const headers of [{ origin: 'https://evil.example' }, { 'sec-fetch-site': 'cross-site' }]) {
      const refused = await signIn('Ada', 'viewer', headers as Record<string, string>);
      expect([refused.status, refused.headers.get('set-cookie')]).toEqual([403, null]);
    }
  });

  it('is in the audit, refused ones too, for admins alone and without any token', async () => {
    await cookieOf('Grace', 'operator');
    expect(
      (await call('POST', '/api/v1/session', {}, { name: 'Eve', token: 'not-a-token-of-this-console' }))
        .status,
    ).toBe(401);
    const audit = async (role: Role) =>
      (await (await call('GET', '/api/v1/audit?action=sign-in,sign-in-refused', bearer(role))).json()) as {
        items: { action: string; actor: string; detail: string }[];
        total: number;
      };
    const seen = await audit('admin');
    expect(seen.items.slice(0, 2)).toMatchObject([
      { action: 'sign-in-refused', actor: '', detail: 'A wrong token, from 127.0.0.1.' },
      { action: 'sign-in', actor: 'Grace', detail: 'As operator, by the token operators, from 127.0.0.1.' },
    ]);
    const text = JSON.stringify(seen);
    for (const secret of [...Object.values(TOKENS), 'not-a-token-of-this-console'])
      expect(text).not.toContain(secret);
    expect(await audit('operator')).toMatchObject({ items: [], total: 0 });
  });

  it('is refused a name that poses as a token, and names the reason', async () => {
    const refused = await signIn('Admins', 'viewer');
    expect(refused.status).toBe(422);
    expect(await problemOf(refused)).toMatchObject({ type: 'urn:rerail:problem:bad-name' });
  });

  it('is put off with Retry-After once too many wrong tokens came, and nobody else is', async () => {
    const ada = await cookieOf('Ada', 'viewer');
    expect((await call('GET', '/api/v1/runs', bearer('operator'))).status).toBe(200);
    let status = 401;
    for (let i = 0; i < 20 && status === 401; i++)
      ({ status } = await call(
        'POST',
        '/api/v1/session',
        {},
        { name: 'Eve', token: `wrong-token-number-${i}` },
      ));
    expect(status).toBe(429);
    const put = await call('GET', '/api/v1/runs', { authorization: 'Bearer wrong-token-number-99' });
    expect(put.status).toBe(429);
    expect(Number(put.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await problemOf(put)).toMatchObject({ type: 'urn:rerail:problem:too-many-attempts' });
    expect((await call('GET', '/api/v1/runs', ada)).status).toBe(200);
    expect((await call('GET', '/api/v1/runs', bearer('operator'))).status).toBe(200);
  });
});

describe('a console without tokens', () => {
  it('asks nobody to sign in and calls everybody by the system’s name', async () => {
    const without = await startTestConsole({ store: memoryStore() });
    try {
      const session = await (await fetch(`${without.url}/api/v1/session`)).json();
      expect(session).toEqual({ signIn: false, kind: 'local', actor: without.deps.actor, role: 'admin' });
      const refused = await fetch(`${without.url}/api/v1/session`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ name: 'Ada', token: 'whatever' }),
      });
      expect([refused.status, refused.headers.get('set-cookie')]).toEqual([409, null]);
    } finally {
      await without.close();
    }
  });
});
