import { randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { epochMs } from '@/lib/core/events/ids';
import { ApiClient, deskDigest, hash, TestWorker } from '@/lib/testing/api-client';
import { memoryStore } from '@/lib/testing/memory-store';
import { startTestConsole, type TestConsole } from '@/lib/testing/test-console';
import { gateFrom } from './gate-of';
import { router } from './router';
import { routes } from './routes';

const TOKEN = 'the-token-of-this-test-console';
const HOUR = 3_600_000;
const asAdmin = { authorization: `Bearer ${TOKEN}` };

/** The link's holder has neither cookie nor token. */
let at = Date.UTC(2026, 10, 30);
let console_: TestConsole;
let api: ApiClient;
const store = memoryStore({ now: () => epochMs(at) });

/** The admin's client: the same requests, with the token. */
class Signed extends ApiClient {
  override send(method: string, path: string, body: unknown, headers: Record<string, string>) {
    return super.send(method, path, body, { ...asAdmin, ...headers });
  }
}
let admin: Signed;

beforeAll(async () => {
  const gate = gateFrom(
    {
      token: TOKEN,
      tokensFile: undefined,
      secret: randomBytes(32).toString('hex'),
      hosts: new Set<string>(),
      sessionMs: HOUR,
    },
    () => undefined,
  );
  console_ = await startTestConsole({ store, gate });
  api = new ApiClient(console_.url);
  admin = new Signed(console_.url);
  for (const [id, input] of [
    ['mine', 'my input'],
    ['other', 'another input'],
  ] as const) {
    const worker = await TestWorker.create(admin, { runId: id, input });
    await worker.write(worker.enter('plan'), worker.read('plan#1/lookup#1', { of: id }));
  }
});
afterAll(() => console_.close());

const make = async (body: unknown = {}, run = 'mine') => {
  const made = await admin.post(`/api/v1/runs/${run}/shares`, body);
  expect(made.status).toBe(201);
  return { ...made.body, behind: made.body.path.replace('/shared/', '/api/v1/shared/') } as {
    readonly id: string;
    readonly path: string;
    readonly behind: string;
    readonly expiresAt: string;
  };
};
const payloadOf = (value: unknown) => hash(JSON.stringify(value));

/** What a link is for. Whatever is not named here is refused; a new route has to be put here to be open. */
const meant = new Set([
  'GET /api/v1/machines/[digest]',
  'GET /api/v1/payloads/[sha256]',
  'GET /api/v1/runs/[runId]',
  'GET /api/v1/runs/[runId]/buckets',
  'GET /api/v1/runs/[runId]/checkpoints',
  'GET /api/v1/runs/[runId]/diff',
  'GET /api/v1/runs/[runId]/effects',
  'GET /api/v1/runs/[runId]/events',
  'GET /api/v1/runs/[runId]/graph',
  'GET /api/v1/runs/[runId]/messages',
  'GET /api/v1/runs/[runId]/questions',
  'GET /api/v1/runs/[runId]/state',
  'GET /api/v1/runs/[runId]/steps',
  'GET /api/v1/runs/[runId]/steps/[key]',
  'GET /api/v1/stream',
]);

const valuesOf = (run: string): Readonly<Record<string, string>> => ({
  runId: run,
  key: 'plan#1/lookup#1',
  digest: deskDigest,
  sha256: payloadOf(run === 'mine' ? 'my input' : 'another input'),
  leaseId: 'lease',
  shareId: 'link',
  secret: 'secret',
  path: 'runs',
});
const queries: Readonly<Record<string, string>> = {
  '/api/v1/runs/[runId]/diff': 'from=1&to=2',
  '/api/v1/runs/[runId]/buckets': 'n=3',
  '/api/v1/stream': 'run=RUN',
};
function addressOf(path: string, run: string): string {
  const values = valuesOf(run);
  const filled = path.replaceAll(/\[(?:\.{3})?([^\]]+)\]/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`This test has no value for ${name}`);
    return encodeURIComponent(value);
  });
  const query = queries[path]?.replace('RUN', run);
  return query === undefined ? filled : `${filled}?${query}`;
}

/** Status and body; a stream is left after its first piece. */
async function ask(method: string, url: string) {
  const stop = new AbortController();
  const response = await fetch(`${console_.url}${url}`, {
    method,
    signal: stop.signal,
    ...(method !== 'GET' && { headers: { 'content-type': 'application/json' }, body: '{}' }),
  });
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  const text = isStream ? 'stream' : await response.text();
  stop.abort();
  return { status: response.status, text };
}

const methods = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH'] as const;
const everything = routes.flatMap(([path]) => methods.map((method) => ({ method, path })));
const snapshot = async () => ({
  heads: await Promise.all(['mine', 'other'].map(async (id) => (await store.run(id as never))?.headSeq)),
  links: (await store.shares.of('mine' as never)).length + (await store.shares.of('other' as never)).length,
  audit: (await store.audit.list({ filter: {}, limit: 100 })).total,
});

describe('whoever has a link to a run', () => {
  it.each(everything)(
    'may do with $method $path what is meant, and nothing else',
    async ({ method, path }) => {
      const { behind } = await make({ expiresIn: '1h' });
      const before = await snapshot();
      const mine = await ask(method, addressOf(path, 'mine').replace('/api/v1', behind));
      const other = await ask(method, addressOf(path, 'other').replace('/api/v1', behind));
      if (meant.has(`${method} ${path}`)) {
        expect([mine.status, mine.text]).toEqual([200, expect.anything()]);
        // The machine is the same one.
        if (!path.includes('[digest]')) {
          expect([403, 404]).toContain(other.status);
          expect(other.text).not.toContain('another input');
        }
      } else {
        for (const { status } of [mine, other]) {
          expect(status).toBeGreaterThanOrEqual(400);
          expect(status).toBeLessThan(500);
        }
      }
      expect(await snapshot()).toEqual(before);
    },
  );

  it('has nothing by the secret but by the link: no token, no cookie, no other address', async () => {
    const { path } = await make();
    const secret = path.split('/').at(-1) ?? '';
    for (const headers of [
      { authorization: `Bearer ${secret}` },
      { cookie: `rerail=${secret}; rerail_session=${secret}` },
      {},
    ]) {
      expect((await api.get('/api/v1/runs/mine', headers as Record<string, string>)).status).toBe(401);
      expect((await api.post('/api/v1/runs/mine/shares', {}, headers as Record<string, string>)).status).toBe(
        401,
      );
    }
  });

  it('is refused the list whatever the path is spelt like', async () => {
    const { behind } = await make();
    for (const tail of [
      'runs',
      'runs/',
      'runs/mine/../other',
      'runs/mine%2F..%2Fother',
      'runs/other%2F',
      './runs',
      '../runs',
      '%2e%2e/runs',
      '/runs/other',
      'runs//other',
      'shared/x/runs/other',
      'stream',
      'stream?run=other',
      'stream?run=mine&run=other',
      'workers',
      'audit',
      'session',
      'openapi.json',
      '%ff',
    ]) {
      // Written by hand: `fetch` would take the dots out.
      const { status, text } = await rawGet(`${behind}/${tail}`);
      expect([tail, status >= 400 && status < 500]).toEqual([tail, true]);
      expect(text).not.toContain('another input');
      expect(text).not.toContain('"id":"other"');
    }
  });

  it('may read values that the run refers to, and no other; what is added later too', async () => {
    const { behind } = await make();
    expect((await api.get(`${behind}/payloads/${payloadOf('my input')}`)).body).toBe('my input');
    const foreign = await api.get(`${behind}/payloads/${payloadOf('another input')}`);
    const unknown = await api.get(`${behind}/payloads/${payloadOf('nobody has this')}`);
    expect(foreign).toMatchObject({ status: 404, body: { detail: unknown.body.detail } });
    const worker = await TestWorker.create(admin, { runId: 'grows', input: 1 });
    const growing = await make({}, 'grows');
    expect((await api.get(`${growing.behind}/payloads/${payloadOf('later')}`)).status).toBe(404);
    const message = worker.value('later');
    await worker.write({ kind: 'message.appended', role: 'user', message });
    expect((await api.get(`${growing.behind}/payloads/${payloadOf('later')}`)).body).toBe('later');
  });

  it('is told by the run itself that nothing can be done', async () => {
    const { behind } = await make();
    const { actions, next } = (await api.get(`${behind}/runs/mine`)).body;
    for (const action of Object.values(actions as Record<string, object>))
      expect(action).toEqual({ possible: false, reason: 'A shared link only shows the run.' });
    expect(next).toBeNull();
  });
});

describe('a link', () => {
  it('says of which run it is, by whom and until when', async () => {
    const { behind, expiresAt } = await make({ expiresIn: '2h' });
    expect(Date.parse(expiresAt)).toBe(at + 2 * HOUR);
    expect((await api.get(behind)).body).toEqual({ runId: 'mine', sharedBy: 'RERAIL_TOKEN', expiresAt });
  });

  it('has a secret of 192 bits that is nowhere in what is stored or told later', async () => {
    const links = await Promise.all(Array.from({ length: 20 }, () => make()));
    const secrets = links.map(({ path }) => path.replace('/shared/', ''));
    expect(new Set(secrets).size).toBe(20);
    for (const secret of secrets) expect(Buffer.from(secret, 'base64url')).toHaveLength(24);
    const told = JSON.stringify([
      (await admin.get('/api/v1/runs/mine/shares')).body,
      (await admin.get('/api/v1/audit')).body,
      await store.shares.of('mine' as never),
    ]);
    for (const secret of secrets) expect(told).not.toContain(secret);
  });

  it('opens nothing once it has expired, and says which and nothing else', async () => {
    const { behind } = await make({ expiresIn: '1h' });
    expect((await api.get(`${behind}/runs/mine`)).status).toBe(200);
    at += HOUR;
    for (const url of [behind, `${behind}/runs/mine`, `${behind}/runs/other`, `${behind}/nothing`]) {
      const { status, body } = await api.get(url);
      expect([status, body.type]).toEqual([410, 'urn:rerail:problem:link-expired']);
      expect(JSON.stringify(body)).not.toContain('mine');
    }
  });

  it('opens nothing once it was revoked, and tells an open page by the end of its stream', async () => {
    const { id, behind } = await make({ expiresIn: '1h' });
    const stream = await fetch(`${console_.url}${behind}/stream?run=mine`);
    expect(stream.status).toBe(200);
    const revoked = await admin.send('DELETE', `/api/v1/shares/${id}`, undefined, {});
    expect(revoked).toMatchObject({
      status: 200,
      body: { id, status: 'revoked', revokedBy: 'RERAIL_TOKEN' },
    });
    expect(await stream.text()).not.toContain('another input');
    for (const url of [behind, `${behind}/runs/mine`, `${behind}/stream?run=mine`]) {
      const { status, body } = await api.get(url);
      expect([status, body.type]).toEqual([410, 'urn:rerail:problem:link-revoked']);
      expect(JSON.stringify(body)).not.toContain('mine');
    }
    expect((await admin.send('DELETE', `/api/v1/shares/${id}`, undefined, {})).body).toEqual(revoked.body);
  }, 15_000);

  it('ends an open stream when it expires', async () => {
    const { behind } = await make({ expiresIn: '1h' });
    const stream = await fetch(`${console_.url}${behind}/stream?run=mine`);
    at += HOUR;
    await stream.text();
    expect((await api.get(behind)).body.type).toBe('urn:rerail:problem:link-expired');
  }, 15_000);

  it('that nobody made is unknown', async () => {
    const guess = `/api/v1/shared/${randomBytes(24).toString('base64url')}`;
    for (const url of [guess, `${guess}/runs/mine`, '/api/v1/shared/x', '/api/v1/shared/%00/runs/mine'])
      expect((await api.get(url)).body.type).toBe('urn:rerail:problem:no-such-link');
  });

  it('is made and revoked in the audit, without its secret', async () => {
    const { id, path } = await make({ expiresIn: '1h' });
    await admin.send('DELETE', `/api/v1/shares/${id}`, undefined, {});
    const rows = (await admin.get('/api/v1/audit')).body.items.filter((row: { detail: string | null }) =>
      row.detail?.includes(id),
    );
    expect(
      rows.map((row: { action: string; actor: string; runId: string }) => [row.action, row.actor, row.runId]),
    ).toEqual([
      ['link-revoked', 'RERAIL_TOKEN', 'mine'],
      ['link-made', 'RERAIL_TOKEN', 'mine'],
    ]);
    expect(JSON.stringify(rows)).not.toContain(path.replace('/shared/', ''));
  });

  it.each([
    [{ expiresIn: '0m' }, 400],
    [{ expiresIn: '7 days' }, 400],
    [{ expiresIn: '1h', expiresAt: '2027-01-01T00:00:00Z' }, 400],
    [{ expiresAt: '2020-01-01T00:00:00Z' }, 422],
    [{ expiresAt: '2030-01-01T00:00:00Z' }, 422],
    [{ expiresIn: '91d' }, 422],
    [{ secret: 'mine' }, 400],
    [[], 400],
  ])('is refused for %j', async (body, status) => {
    expect((await admin.post('/api/v1/runs/mine/shares', body)).status).toBe(status);
  });

  it('is made of runs that there are', async () => {
    expect((await admin.post('/api/v1/runs/nobody/shares', {})).status).toBe(404);
    expect((await admin.get('/api/v1/runs/nobody/shares')).status).toBe(404);
    expect((await admin.send('DELETE', '/api/v1/shares/nobody', undefined, {})).status).toBe(404);
  });
});

describe('the router', () => {
  it('leaves what a rest takes encoded, and takes nothing for no rest', () => {
    const find = router(routes);
    expect(find('GET', '/api/v1/shared/s/runs/a%2Fb/steps/c')).toMatchObject({
      kind: 'found',
      params: { secret: 's', path: 'runs/a%2Fb/steps/c' },
    });
    expect(find('GET', '/api/v1/shared/s/').kind).toBe('none');
    expect(find('POST', '/api/v1/shared/s/runs').kind).toBe('method-not-allowed');
  });
});

/** A GET whose path goes over the wire as it is written. */
async function rawGet(path: string): Promise<{ readonly status: number; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(console_.url);
    const sent = request({ hostname, port, path, method: 'GET' }, (response) => {
      const stream = response.headers['content-type']?.startsWith('text/event-stream') === true;
      if (stream) {
        response.destroy();
        return resolve({ status: response.statusCode ?? 0, text: '' });
      }
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(parts).toString() }),
      );
    });
    sent.on('error', reject);
    sent.end();
  });
}
