import { once } from 'node:events';
import { connect } from 'node:net';
import { Writable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import pino from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiClient, TestWorker } from '@/lib/testing/api-client';
import { makeHostileRun } from '@/lib/testing/hostile-run';
import { memoryStore } from '@/lib/testing/memory-store';
import { startTestConsole, type TestConsole } from '@/lib/testing/test-console';
import { LockedGate } from './gate';
import { httpServer } from './http-server';
import { SessionCookies } from './session-cookie';
import { TokenBook } from './tokens';

/* What an attacker sends. What needs a browser is in e2e/journeys: cross-site, hostile-content, sign-in. */

const TOKEN = 'the-token-of-the-environment';

/** Of this console, so that the test needs no 128 MiB; uploads have their own. */
const UNZIPPED = 4 * 1024 * 1024;

let console_: TestConsole;
let worker: TestWorker;
beforeAll(async () => {
  console_ = await startTestConsole({ store: memoryStore(), limits: { unzippedBytes: UNZIPPED } });
  worker = await TestWorker.create(new ApiClient(console_.url), { runId: 'victim' });
});
afterAll(() => console_.close());

const port = () => Number(new URL(console_.url).port);

/** Sends bytes as they are; gives what came until the connection ended. */
async function raw(...parts: readonly string[]): Promise<string> {
  const socket = connect(port(), '127.0.0.1');
  await once(socket, 'connect');
  let answer = '';
  socket.on('data', (chunk: Buffer) => {
    answer += chunk.toString('latin1');
  });
  socket.on('error', () => undefined);
  for (const part of parts) socket.write(part, 'latin1');
  await once(socket, 'close');
  return answer;
}
const statusesOf = (answer: string) =>
  [...answer.matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map(([, status]) => Number(status));
const head = (...lines: readonly string[]) => `${lines.join('\r\n')}\r\n\r\n`;
const host = () => `Host: 127.0.0.1:${port()}`;
const json = { 'content-type': 'application/json' };
const post = (path: string, body: string | Uint8Array, headers: Record<string, string> = json) =>
  fetch(`${console_.url}${path}`, { method: 'POST', headers, body: body as BodyInit });
const stillThere = async () => expect((await fetch(`${console_.url}/api/v1/runs/victim`)).status).toBe(200);

describe('another name that leads here (DNS rebinding)', () => {
  it.each([
    'evil.example',
    'evil.example:3000',
    '127.0.0.1.evil.example',
    'localhost.evil.example',
    'user@127.0.0.1',
    '127.0.0.1, evil.example',
    '',
  ])('is refused as Host: %s', async (name) => {
    const answer = await raw(head('GET /api/v1/runs HTTP/1.1', `Host: ${name}`, 'Connection: close'));
    expect(statusesOf(answer)).toEqual([403]);
  });

  it('is refused in the request’s own line too, whatever Host says', async () => {
    const answer = await raw(
      head('GET http://evil.example/api/v1/runs HTTP/1.1', host(), 'Connection: close'),
    );
    expect(statusesOf(answer)).toEqual([403]);
  });

  it('is refused twice over: two Hosts are no request', async () => {
    const answer = await raw(
      head('GET /api/v1/runs HTTP/1.1', host(), 'Host: evil.example', 'Connection: close'),
    );
    expect(statusesOf(answer)).toEqual([400]);
  });

  it('cannot be talked out of it by what proxies add', async () => {
    for (const line of [
      'X-Forwarded-Host: 127.0.0.1',
      'Forwarded: host=127.0.0.1',
      'X-Rerail-Peer: 127.0.0.1',
    ]) {
      const answer = await raw(
        head('GET /api/v1/runs HTTP/1.1', 'Host: evil.example', line, 'Connection: close'),
      );
      expect(statusesOf(answer)).toEqual([403]);
    }
  });
});

describe('another site’s page', () => {
  const order = JSON.stringify({ commandId: 'forged', mode: 'cancel', reason: 'forged' });
  it.each([
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' },
  ])('gives no order: %o', async (headers) => {
    const given = { ...(headers as Record<string, string>) };
    for (const type of ['application/json', 'text/plain', 'application/x-www-form-urlencoded'])
      expect(
        (await post('/api/v1/runs/victim/commands', order, { ...given, 'content-type': type })).status,
      ).toBe(403);
  });

  it('gets no permission by a preflight, and no answer that it may read', async () => {
    const preflight = await fetch(`${console_.url}/api/v1/runs`, {
      method: 'OPTIONS',
      headers: { origin: 'https://evil.example', 'access-control-request-method': 'POST' },
    });
    expect(preflight.status).toBe(403);
    const own = await fetch(`${console_.url}/api/v1/runs`);
    for (const answer of [preflight, own])
      expect([...answer.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
  });

  it('without those headers, as old browsers send it, still cannot post what is no JSON', async () => {
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      '',
    ])
      expect((await post('/api/v1/runs/victim/commands', order, { 'content-type': type })).status).toBe(415);
  });
});

describe('every answer', () => {
  it.each(['/api/v1/runs', '/api/v1/runs/victim', '/api/v1/nothing', '/api/v1/runs?nonsense=1', '/nowhere'])(
    'of %s is neither framed, nor sniffed, nor a page that runs anything',
    async (path) => {
      const { headers } = await fetch(`${console_.url}${path}`);
      expect(Object.fromEntries(headers)).toMatchObject({
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'referrer-policy': 'same-origin',
        'cross-origin-resource-policy': 'same-origin',
        'content-security-policy': expect.stringContaining("default-src 'none'"),
      });
      expect(headers.get('x-powered-by')).toBeNull();
    },
  );
});

describe('bombs', () => {
  const zeros = gzipSync(Buffer.alloc(4 * UNZIPPED), { level: 9 });

  it('of gzip are given up at the limit, in every door that unpacks', async () => {
    const gzip = { ...json, 'content-encoding': 'gzip' };
    for (const path of ['/api/v1/runs', '/api/v1/events', '/api/v1/runs/victim/commands']) {
      const answer = await post(path, zeros, gzip);
      expect([path, answer.status]).toEqual([path, 413]);
      expect(await answer.json()).toMatchObject({ limit: 'decompressed body', limitBytes: UNZIPPED });
    }
    const upload = await post('/api/v1/traces', zeros, { 'content-encoding': 'gzip' });
    expect(upload.status).toBe(413);
    await stillThere();
  });

  it('of gzip in gzip, in other codings and in lists of them are refused unread', async () => {
    const twice = gzipSync(zeros);
    expect(
      (await post('/api/v1/traces', twice, { 'content-encoding': 'gzip' })).status,
    ).toBeGreaterThanOrEqual(400);
    for (const coding of ['br', 'deflate', 'zstd', 'gzip, gzip', 'gzip;q=1'])
      expect((await post('/api/v1/runs', twice, { ...json, 'content-encoding': coding })).status).toBe(415);
    await stillThere();
  });

  it('in ZIP are refused unread, whatever they are said to be', async () => {
    // Four GiB by its own account, in one entry; what follows is never looked at.
    const entry = Buffer.concat([
      Buffer.from('504b03042d0000000800000021000000000000000000fffffffe08000000', 'hex'),
      Buffer.from('run.json'),
      gzipSync(Buffer.alloc(UNZIPPED)).subarray(10),
    ]);
    for (const type of [
      'application/zip',
      'application/octet-stream',
      'application/json',
      'application/x-protobuf',
    ])
      for (const path of ['/api/v1/traces', '/v1/traces']) {
        const answer = await post(path, entry, { 'content-type': type });
        const text = await answer.text();
        expect([path, type, answer.status]).toEqual([path, type, expect.toBeOneOf([400, 415])]);
        // Nothing of it was unpacked.
        expect(text).not.toMatch(/run\.json|decompressed|unpack/);
      }
    expect((await post('/api/v1/traces', entry, { 'content-encoding': 'zip' })).status).toBe(415);
    expect((await post('/api/v1/traces', entry, { 'content-encoding': 'gzip' })).status).toBe(400);
    await stillThere();
  });

  it('of depth are refused before anything recurses', async () => {
    for (const deep of ['['.repeat(100_000), `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`])
      for (const path of [
        '/api/v1/runs',
        '/api/v1/runs/victim/events',
        '/api/v1/runs/victim/plan',
        '/api/v1/traces',
        '/api/v1/session',
      ]) {
        const answer = await post(path, deep);
        expect([path, answer.status]).toEqual([
          path,
          expect.toSatisfy((status: number) => status >= 400 && status < 500),
        ]);
      }
    await stillThere();
  });

  it('of numbers, names and lists end in time', async () => {
    const began = performance.now();
    for (const body of [
      `{"a":${'9'.repeat(1_000_000)}}`,
      `{${Array.from({ length: 100_000 }, (_, n) => `"k${n}":0`).join(',')}}`,
      `[${'0,'.repeat(1_000_000)}0]`,
      `"${'\\u0000'.repeat(100_000)}"`,
      '1e999999999',
    ])
      for (const path of ['/api/v1/runs', '/api/v1/runs/victim/commands', '/api/v1/traces'])
        expect((await post(path, body)).status).toBeLessThan(500);
    expect(performance.now() - began).toBeLessThan(30_000);
  });
});

describe('names that objects have from birth', () => {
  const polluted = () => ({}) as Record<string, unknown>;
  const NAMES = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', '__defineGetter__'];

  it('change nothing, as members of any body, in any query and in any path', async () => {
    for (const name of NAMES) {
      const body = `{"${name}":{"polluted":true,"isAdmin":true},"mode":"resume","from":"latest","options":{"${name}":{"polluted":true}},"decisions":{"${name}":{"intentSeq":1,"outcome":"hold"}}}`;
      for (const path of [
        '/api/v1/runs',
        '/api/v1/events',
        '/api/v1/runs/victim/events',
        '/api/v1/runs/victim/plan',
        '/api/v1/runs/victim/commands',
        '/api/v1/workers/claim',
        '/api/v1/session',
        '/api/v1/traces',
      ])
        expect((await post(path, body)).status).toBeLessThan(500);
      for (const path of [
        `/api/v1/runs?${name}=1`,
        `/api/v1/runs?agent=${name}&sort=${name}`,
        `/api/v1/runs/${name}`,
        `/api/v1/runs/victim/steps/${name}`,
        `/api/v1/payloads/${name}`,
        `/api/v1/audit?action=${name}`,
      ])
        expect((await fetch(`${console_.url}${path}`)).status).toBeLessThan(500);
      expect(polluted()['polluted']).toBeUndefined();
    }
    expect(Object.prototype).not.toHaveProperty('isAdmin');
  });

  it('are values like others in a run’s input', async () => {
    const text = '{"__proto__":{"admin":true},"constructor":1}';
    const made = await TestWorker.create(new ApiClient(console_.url), { input: JSON.parse(text) });
    const state = await fetch(`${console_.url}/api/v1/runs/${made.runId}/state?at=1`);
    expect(state.status).toBe(200);
    expect(polluted()['admin']).toBeUndefined();
  });
});

describe('heads', () => {
  it('that are too long are refused with the limit', async () => {
    const long = await raw(head('GET /api/v1/runs HTTP/1.1', host(), `X-Long: ${'x'.repeat(20_000)}`));
    expect(statusesOf(long)).toEqual([431]);
    const many = await raw(
      head('GET /api/v1/runs HTTP/1.1', host(), ...Array.from({ length: 3_000 }, (_, n) => `X-${n}: 1`)),
    );
    expect(statusesOf(many)).toEqual([431]);
    const target = await raw(head(`GET /api/v1/runs?q=${'x'.repeat(20_000)} HTTP/1.1`, host()));
    expect(statusesOf(target)).toEqual([431]);
    await stillThere();
  });

  it('that never end are ended', async () => {
    const server = httpServer((_, res) => res.end(), 200).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const socket = connect(typeof address === 'object' && address !== null ? address.port : 0, '127.0.0.1');
    let answer = '';
    socket.on('data', (chunk: Buffer) => {
      answer += chunk.toString();
    });
    socket.on('error', () => undefined);
    socket.write('GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ');
    await once(socket, 'close');
    expect(statusesOf(answer)).toEqual([408]);
    server.close();
  });

  it('with line ends in names or values never reach an answer', async () => {
    for (const value of [
      'x\r\nSet-Cookie: forged=1',
      'x\nSet-Cookie: forged=1',
      'x\rSet-Cookie: forged=1',
      'x\0y',
    ]) {
      const answer = await raw(
        head('GET /api/v1/runs HTTP/1.1', host(), `X-Any: ${value}`, 'Connection: close'),
      );
      expect(answer).not.toMatch(/^set-cookie/im);
    }
    for (const path of [
      '/api/v1/runs/%0d%0aSet-Cookie:%20forged=1',
      '/api/v1/runs/victim%0d%0aSet-Cookie:%20forged=1/export',
      `/api/v1/runs?cursor=${encodeURIComponent('\r\nSet-Cookie: forged=1')}`,
      '/api/v1/%0d%0aLocation:%20http://evil.example',
    ]) {
      const answer = await raw(head(`GET ${path} HTTP/1.1`, host(), 'Connection: close'));
      expect(answer).not.toMatch(/^(?:set-cookie|location)/im);
      expect(statusesOf(answer)[0]).toBeLessThan(500);
    }
  });

  it('of a file’s name, which a run’s id makes, stay one line', async () => {
    const api = new ApiClient(console_.url);
    const id = await makeHostileRun(api);
    const file = await fetch(`${console_.url}/api/v1/runs/${encodeURIComponent(id)}/export`);
    expect(file.status).toBe(200);
    expect(file.headers.get('content-disposition')).toMatch(/^attachment/);
    expect(file.headers.get('content-disposition')).not.toMatch(/[\r\n<>]/);
    await file.body?.cancel();
  });
});

describe('requests in requests (smuggling)', () => {
  const smuggled = 'GET /api/v1/smuggled HTTP/1.1\r\nHost: evil.example\r\n\r\n';

  it.each([
    ['both lengths', ['Content-Length: 4', 'Transfer-Encoding: chunked'], `0\r\n\r\n${smuggled}`],
    ['two lengths', ['Content-Length: 0', 'Content-Length: 60'], smuggled],
    ['a list of lengths', ['Content-Length: 0, 60'], smuggled],
    ['a signed length', ['Content-Length: +0'], smuggled],
    ['a coding with a space before the colon', ['Transfer-Encoding : chunked'], `0\r\n\r\n${smuggled}`],
    ['a coding that is none', ['Transfer-Encoding: xchunked'], `0\r\n\r\n${smuggled}`],
    ['two codings', ['Transfer-Encoding: chunked, identity'], `0\r\n\r\n${smuggled}`],
    ['a folded line', ['X-A: 1', ' Transfer-Encoding: chunked'], `0\r\n\r\n${smuggled}`],
    ['a chunk of no length', ['Transfer-Encoding: chunked'], `zz\r\n\r\n${smuggled}`],
    ['a bare line end', ['X-A: 1\nTransfer-Encoding: chunked'], `0\r\n\r\n${smuggled}`],
  ])('%s make one refusal and an end of the connection', async (_, lines, body) => {
    const answer = await raw(
      `${head('POST /api/v1/runs HTTP/1.1', host(), 'Content-Type: application/json', ...lines)}${body}`,
    );
    const statuses = statusesOf(answer);
    expect(statuses[0]).toBeGreaterThanOrEqual(400);
    expect(statuses[0]).toBeLessThan(500);
    // Whatever follows was not taken for a request of its own that is answered as one.
    expect(statuses.length).toBe(1);
    await stillThere();
  });
});

describe('paths', () => {
  it.each([
    '/api/v1/runs/..%2f..%2fpackage.json',
    '/api/v1/runs/%2e%2e%2f%2e%2e%2fetc%2fpasswd',
    '/api/v1/runs/%252e%252e%252fetc',
    '/api/v1/runs/victim/steps/..%2f..%2f..%2fetc%2fpasswd',
    '/api/v1/runs/victim/steps/..%5c..%5cwindows',
    '/api/v1/runs/victim%00.json',
    '/api/v1/runs/%00',
    '/api/v1/runs/%ff%fe',
    '/api/v1/runs/%c0%af',
    '/api/v1/payloads/..%2f..%2fdata%2frerail.db',
    `/api/v1/payloads/${'a'.repeat(63)}%00`,
    '/api/v1/machines/..%2f..%2f.env',
    '/api/v1/../../package.json',
    '/api//v1/runs',
    '//api/v1/runs',
    '/api/v1/runs//victim',
    '/api/v1/runs/victim/../../../../etc/passwd',
    '/api/v1/runs/victim;/../x',
    '/_next/../../package.json',
    '/_next/static/..%2f..%2f..%2fpackage.json',
    '/%2e%2e/%2e%2e/etc/passwd',
  ])('that climb or lie lead nowhere: %s', async (path) => {
    const answer = await raw(head(`GET ${path} HTTP/1.1`, host(), 'Connection: close'));
    const [status] = statusesOf(answer);
    expect([400, 404]).toContain(status);
    expect(answer).not.toMatch(/root:|"dependencies"|SQLite format/);
  });

  it('of an encoded slash stay one segment: a step’s key is found by its own name alone', async () => {
    const key = 'plan#1/lookup#1';
    await worker.write(worker.enter('plan'), worker.read(key), worker.done(key));
    const at = (segment: string) => fetch(`${console_.url}/api/v1/runs/victim/steps/${segment}`);
    expect((await at(encodeURIComponent(key))).status).toBe(200);
    expect((await at(encodeURIComponent(encodeURIComponent(key)))).status).toBe(404);
    expect((await at('plan%231/lookup%231')).status).toBe(404);
  });
});

describe('secrets', () => {
  it('are in no log and no answer, whatever goes wrong', async () => {
    let lines = '';
    const log = pino(
      { level: 'trace' },
      new Writable({
        write(chunk: Buffer, _, done) {
          lines += chunk.toString();
          done();
        },
      }),
    );
    const store = memoryStore();
    const guarded = await startTestConsole({
      store: {
        ...store,
        runs: () => Promise.reject(new Error('the database is gone')),
      },
      log,
      gate: new LockedGate({
        tokens: new TokenBook({ token: TOKEN, file: undefined }, () => undefined),
        cookies: new SessionCookies(Buffer.alloc(32, 7)),
        hosts: new Set(),
        sessionMs: 3_600_000,
      }),
    });
    try {
      const bearer = { authorization: `Bearer ${TOKEN}` };
      const signedIn = await fetch(`${guarded.url}/api/v1/session`, {
        method: 'POST',
        headers: json,
        body: JSON.stringify({ name: 'Ada', token: TOKEN }),
      });
      const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? '';
      const answers = [
        signedIn,
        await fetch(`${guarded.url}/api/v1/runs`, { headers: bearer }),
        await fetch(`${guarded.url}/api/v1/runs`, { headers: { cookie } }),
        await fetch(`${guarded.url}/api/v1/runs?access_token=${TOKEN}`, { headers: bearer }),
        await fetch(`${guarded.url}/api/v1/audit`, { headers: bearer }),
        await fetch(`${guarded.url}/api/v1/session`, {
          method: 'POST',
          headers: json,
          body: `{"token":"${TOKEN}"`,
        }),
      ];
      const bodies = await Promise.all(answers.map((answer) => answer.text()));
      expect(answers.map(({ status }) => status)).toEqual([200, 500, 500, 400, 200, 400]);
      // The failure is logged; otherwise this would prove nothing.
      expect(lines).toContain('the database is gone');
      for (const secret of [TOKEN, cookie.split('=')[1] ?? TOKEN]) {
        expect(lines).not.toContain(secret);
        expect(bodies.join('\n')).not.toContain(secret);
      }
    } finally {
      await guarded.close();
    }
  });
});
