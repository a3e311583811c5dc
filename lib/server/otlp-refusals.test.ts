import { request as ask, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { runId } from '@/lib/core/events/ids';
import { memoryStore } from '@/lib/testing/memory-store';
import { agentSpans, sent, statusIn } from '@/lib/testing/otlp-spans';
import { startTestConsole, type TestConsole } from '@/lib/testing/test-console';
import { LockedGate } from './gate';
import { SessionCookies } from './session-cookie';
import { digestOf, TokenBook } from './tokens';

/* What an exporter is told that is refused, and what the real ones do then: asked through a relay that counts. */

const TOKENS = { viewer: 'the-token-of-those-who-look', operator: 'the-token-of-those-who-act' } as const;
/** Not shown before: a token that is known from its address waits for nobody's guesses. */
const NEW_TOKENS = { json: 'shown-by-json-alone', protobuf: 'shown-by-protobuf-alone' } as const;

class Book extends TokenBook {
  constructor() {
    super({ token: undefined, file: undefined }, () => undefined);
  }
  override grants() {
    return Object.entries({ ...TOKENS, ...NEW_TOKENS }).map(([name, token]) => ({
      name,
      role: name === 'viewer' ? ('viewer' as const) : ('operator' as const),
      digest: digestOf(token),
    }));
  }
}

const TYPES = { json: 'application/json', protobuf: 'application/x-protobuf' } as const;

interface Told {
  readonly status: number;
  readonly type: string | undefined;
  readonly retryAfter: string | undefined;
  readonly body: Buffer;
}

let now = Date.UTC(2026, 0, 1);
let console_: TestConsole;
let relay: ReturnType<typeof createServer>;
let url = '';
let answers: Told[] = [];
let afterAnswer: (told: Told) => void = () => undefined;
const later = 3_600_000;

beforeAll(async () => {
  console_ = await startTestConsole({
    store: memoryStore(),
    gate: new LockedGate({
      tokens: new Book(),
      cookies: new SessionCookies(Buffer.alloc(32, 7)),
      hosts: new Set(),
      sessionMs: 3_600_000,
      now: () => now,
    }),
  });
  relay = createServer((incoming, outgoing) => {
    const onward = ask(`${console_.url}${incoming.url}`, {
      method: incoming.method,
      headers: incoming.headers,
    });
    onward.on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const { 'content-type': type, 'retry-after': retryAfter } = response.headers;
        const told = { status: response.statusCode ?? 0, type, retryAfter, body: Buffer.concat(chunks) };
        answers.push(told);
        afterAnswer(told);
        outgoing.writeHead(told.status, response.headers).end(told.body);
      });
    });
    incoming.pipe(onward);
  });
  await new Promise<void>((done) => relay.listen(0, '127.0.0.1', done));
  url = `http://127.0.0.1:${(relay.address() as AddressInfo).port}/v1/traces`;
});
afterAll(async () => {
  await new Promise((done) => relay.close(done));
  await console_.close();
});
beforeEach(() => {
  // Whoever was refused before has waited long enough.
  now += later;
  answers = [];
  afterAnswer = () => undefined;
});

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

describe.each([
  ['json', JsonExporter],
  ['protobuf', ProtobufExporter],
] as const)('an exporter that sends %s', (encoding, Exporter) => {
  const exportWith = (headers: Record<string, string>) => sent(new Exporter({ url, headers }), agentSpans());
  const onlyAnswer = () => {
    expect(answers).toHaveLength(1);
    const [told] = answers;
    if (told === undefined) throw new Error('it was told nothing');
    expect(told.type).toBe(TYPES[encoding]);
    return { ...told, ...statusIn(encoding, told.body) };
  };

  it('is told that it shows no token, or a wrong one, and does not try again', async () => {
    await expect(exportWith({})).rejects.toMatchObject({ code: 401 });
    expect(onlyAnswer()).toMatchObject({ status: 401, code: 16, message: expect.stringContaining('token') });
    answers = [];
    await expect(exportWith(bearer('wrong'))).rejects.toMatchObject({ code: 401 });
    expect(onlyAnswer()).toMatchObject({ status: 401, code: 16, retryAfter: undefined });
  });

  it('is told that its token may only look, and does not try again', async () => {
    await expect(exportWith(bearer(TOKENS.viewer))).rejects.toMatchObject({ code: 403 });
    expect(onlyAnswer()).toMatchObject({
      status: 403,
      code: 7,
      message: expect.stringContaining('operator'),
    });
  });

  it('is told what it may not send, and does not try again', async () => {
    const headers = bearer(TOKENS.operator);
    await expect(exportWith({ ...headers, 'content-encoding': 'br' })).rejects.toMatchObject({ code: 415 });
    expect(onlyAnswer()).toMatchObject({ status: 415, code: 3 });
  });

  it('sends again after as long as it is told, where too many wrong tokens came from its address', async () => {
    for (let n = 0; n < 10; n += 1)
      await fetch(url, {
        method: 'POST',
        headers: { ...bearer(`guess-${n}`), 'content-type': TYPES[encoding] },
      });
    answers = [];
    // All but a second of the wait has passed.
    now += 29_000;
    afterAnswer = ({ status }) => {
      if (status === 429) now += 1_000;
    };
    const spans = agentSpans();
    await sent(new Exporter({ url, headers: bearer(NEW_TOKENS[encoding]) }), spans);
    expect(answers.map(({ status }) => status)).toEqual([429, 200]);
    const [told] = answers;
    expect([told?.type, told?.retryAfter]).toEqual([TYPES[encoding], '1']);
    expect(statusIn(encoding, told?.body ?? Buffer.alloc(0)).code).toBe(8);
    expect(await console_.store.run(runId(spans[0]?.spanContext().traceId ?? ''))).toBeDefined();
  });

  it('is told in its encoding what stands before every route: another site, another method', async () => {
    const headers = { 'content-type': TYPES[encoding], ...bearer(TOKENS.operator) };
    const foreign = await fetch(url, {
      method: 'POST',
      headers: { ...headers, 'sec-fetch-site': 'cross-site' },
    });
    expect([foreign.status, foreign.headers.get('content-type')]).toEqual([403, TYPES[encoding]]);
    const put = await fetch(url, { method: 'PUT', headers });
    expect([put.status, put.headers.get('content-type'), put.headers.get('allow')]).toEqual([
      405,
      TYPES[encoding],
      'POST',
    ]);
  });
});

it.each(['json', 'protobuf'] as const)(
  'tells who sends %s when to come back, where there is no room for what comes in',
  async (encoding) => {
    const { uploadRoom } = console_.deps;
    const room = uploadRoom.free;
    expect(uploadRoom.take(room)).toBe(true);
    const headers = { 'content-type': TYPES[encoding], ...bearer(TOKENS.operator) };
    const refused = await fetch(url, { method: 'POST', headers, body: '{"resourceSpans":[]}' });
    uploadRoom.give(room);
    expect([refused.status, refused.headers.get('content-type')]).toEqual([503, TYPES[encoding]]);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(statusIn(encoding, Buffer.from(await refused.arrayBuffer())).code).toBe(14);
  },
);

it('an exporter sends again after 503, as soon as it is told to, and loses nothing: where the disk is full', async () => {
  const { commit } = console_.store;
  console_.store.commit = () => Promise.reject(Object.assign(new Error('full'), { code: 'SQLITE_FULL' }));
  afterAnswer = () => {
    console_.store.commit = commit;
  };
  const spans = agentSpans();
  await sent(new JsonExporter({ url, headers: bearer(TOKENS.operator) }), spans);
  expect(answers.map(({ status }) => status)).toEqual([503, 200]);
  expect(await console_.store.run(runId(spans[0]?.spanContext().traceId ?? ''))).toBeDefined();
}, 20_000);

it('tells whoever asks elsewhere as before', async () => {
  const elsewhere = await fetch(`${console_.url}/api/v1/traces`, {
    method: 'POST',
    headers: { 'content-type': TYPES.protobuf },
  });
  expect([elsewhere.status, elsewhere.headers.get('content-type')]).toEqual([
    401,
    'application/problem+json',
  ]);
  await elsewhere.arrayBuffer();
});
