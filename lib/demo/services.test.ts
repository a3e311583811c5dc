import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { chatClient } from './chat-client';
import { exitOf, messageWith } from './processes';
import type { LedgerLine } from './services/book';

const folder = mkdtempSync(join(tmpdir(), 'rerail-services-'));
const children: ChildProcess[] = [];
const urls: Record<string, string> = {};

async function startService(name: string): Promise<string> {
  const child = fork(join(folder, `${name}.mjs`), { env: { ...process.env, RERAIL_DEMO_DIR: folder } });
  children.push(child);
  return messageWith<string>(child, 'url');
}

beforeAll(async () => {
  await build({
    entryPoints: ['payments', 'mail', 'shop', 'llm'].map((name) => `lib/demo/services/${name}.ts`),
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    format: 'esm',
    platform: 'node',
    logLevel: 'warning',
  });
  for (const name of ['payments', 'mail', 'shop', 'llm']) urls[name] = await startService(name);
  process.env['RERAIL_DEMO_LLM_URL'] = `${urls['llm']}/v1`;
});

afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await Promise.all(children.map(exitOf));
  rmSync(folder, { recursive: true, force: true });
  delete process.env['RERAIL_DEMO_LLM_URL'];
});

afterEach(() => vi.unstubAllEnvs());

const ledger = (key: string | null) =>
  readFileSync(join(folder, 'ledger.jsonl'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as LedgerLine)
    .filter((line) => line.idempotencyKey === key);

const refund = (key: string, url = urls['payments']) =>
  fetch(`${url}/refunds`, {
    method: 'POST',
    headers: { 'idempotency-key': key },
    body: JSON.stringify({ orderId: `ORD-${key}`, amountCents: 100, currency: 'EUR' }),
  });

const mail = (key: string | undefined, to = 'ada@example.com') =>
  fetch(`${urls['mail']}/messages`, {
    method: 'POST',
    headers: key === undefined ? {} : { 'idempotency-key': key },
    body: JSON.stringify({ to, subject: `About ${key}` }),
  });

const control = (service: string, what: string, body: object) =>
  fetch(`${urls[service]}/control/${what}`, { method: 'POST', body: JSON.stringify(body) });

const ask = (content: string, tools?: readonly object[]) =>
  chatClient.complete(
    { model: 'any', messages: [{ role: 'user', content }], ...(tools === undefined ? {} : { tools }) },
    { signal: AbortSignal.timeout(5_000), onText: () => undefined },
  );

describe('the payment provider', () => {
  it('makes one refund for a key, and writes every request to the ledger', async () => {
    const first = (await (await refund('k1')).json()) as { id: string };
    const second = (await (await refund('k1')).json()) as { id: string };
    expect(second.id).toBe(first.id);
    expect(ledger('k1').map((line) => line.deduplicated)).toEqual([false, true]);
  });

  it.each([500, 429, 'hang'] as const)(
    'writes a request that it answers with %s to the ledger, too',
    async (answer) => {
      const key = `trouble-${answer}`;
      await control('payments', 'faults', { match: `ORD-${key}`, answer });
      const asked = refund(key);
      asked.catch(() => undefined);
      await vi.waitFor(() => expect(ledger(key)).toMatchObject([{ deduplicated: false }]));
      if (answer === 'hang') return;
      expect((await asked).status).toBe(answer);
      expect((await refund(key)).status).toBe(201);
      expect(ledger(key).map((line) => line.deduplicated)).toEqual([false, false]);
    },
  );

  it('finds a refund by its key, and says so when there is none', async () => {
    await refund('k2');
    const found = await (await fetch(`${urls['payments']}/refunds?key=k2`)).json();
    const none = await (await fetch(`${urls['payments']}/refunds?key=k3`)).json();
    expect(found).toMatchObject({ refund: { orderId: 'ORD-k2' } });
    expect(none).toEqual({ refund: null });
    expect(ledger('k3').map((line) => line.operation)).toEqual(['refund.find']);
  });

  it('remembers its refunds when it is started again', async () => {
    const first = (await (await refund('k4')).json()) as { id: string };
    const again = (await (await refund('k4', await startService('payments'))).json()) as { id: string };
    expect(again.id).toBe(first.id);
    expect(ledger('k4').map((line) => line.deduplicated)).toEqual([false, true]);
  });

  it('starts again after a kill in the middle of a line, and loses nothing that it writes from then on', async () => {
    await refund('k6');
    appendFileSync(join(folder, 'payments.jsonl'), '{"key":"cut');
    const second = (await (await refund('k7', await startService('payments'))).json()) as { id: string };
    const third = await startService('payments');
    expect(await (await fetch(`${third}/refunds?key=k6`)).json()).toMatchObject({
      refund: { orderId: 'ORD-k6' },
    });
    expect(await (await fetch(`${third}/refunds?key=k7`)).json()).toMatchObject({
      refund: { id: second.id },
    });
  });

  it('makes the refund and withholds its answer where it is held', async () => {
    await control('payments', 'faults', { match: 'ORD-k5', answer: 'hold' });
    const answer = refund('k5');
    await fetch(`${urls['payments']}/control/held?match=ORD-k5`);
    const found = await (await fetch(`${urls['payments']}/refunds?key=k5`)).json();
    expect(found).toMatchObject({ refund: { orderId: 'ORD-k5' } });
    await control('payments', 'release', { match: 'ORD-k5' });
    expect((await answer).status).toBe(201);
  });

  it('holds and releases a second time as it did the first', async () => {
    const isHeld = async () => fetch(`${urls['payments']}/control/held?match=ORD-k16`);
    const hold = async () => {
      await control('payments', 'faults', { match: 'ORD-k16', answer: 'hold' });
      const held = isHeld().then(() => 'held');
      // The service answers its requests in order: by now the question has reached it.
      await control('payments', 'clear', { match: 'another' });
      expect(await Promise.race([held, Promise.resolve('waits')])).toBe('waits');
      const answer = refund('k16').then(({ status }) => status);
      await held;
      await control('payments', 'clear', { match: 'another' });
      expect(await Promise.race([answer, Promise.resolve('withheld')])).toBe('withheld');
      await control('payments', 'release', { match: 'ORD-k16' });
      return answer;
    };
    expect(await hold()).toBe(201);
    expect(await hold()).toBe(200);
  });
});

describe('the mail service', () => {
  it('sends one mail for a key, and writes what it sent again or refused to the ledger, too', async () => {
    const first = await mail('m1');
    const sent: unknown = await first.json();
    const second = await mail('m1', 'bob@example.com');
    expect([first.status, second.status]).toEqual([202, 200]);
    expect(sent).toMatchObject({ to: 'ada@example.com', subject: 'About m1' });
    expect(await second.json()).toEqual(sent);
    expect(ledger('m1').map((line) => line.deduplicated)).toEqual([false, true]);
    expect((await mail('m2', 'nobody')).status).toBe(422);
    expect(ledger('m2')).toMatchObject([{ operation: 'mail.send', deduplicated: false }]);
    expect((await mail(undefined)).status).toBe(400);
    expect(ledger(null)).toMatchObject([{ operation: 'mail.send', deduplicated: false }]);
  });

  it('finds a mail by its key, and says so when there is none', async () => {
    const sent: unknown = await (await mail('m3')).json();
    const found = await (await fetch(`${urls['mail']}/messages?key=m3`)).json();
    const none = await (await fetch(`${urls['mail']}/messages?key=m4`)).json();
    expect(found).toEqual({ mail: sent });
    expect(none).toEqual({ mail: null });
    expect(ledger('m4').map((line) => line.operation)).toEqual(['mail.find']);
  });
});

it('has a ledger that says when a request came, to which service, and what it asked for', async () => {
  const before = Date.now();
  await refund('both');
  await fetch(`${urls['payments']}/refunds?key=both`);
  await mail('both');
  await fetch(`${urls['mail']}/messages?key=both`);
  const after = Date.now();
  const at = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  const line = { at, idempotencyKey: 'both', deduplicated: false };
  const lines = ledger('both');
  expect(lines).toEqual([
    { ...line, service: 'payments', operation: 'refund.create' },
    { ...line, service: 'payments', operation: 'refund.find' },
    { ...line, service: 'mail', operation: 'mail.send' },
    { ...line, service: 'mail', operation: 'mail.find' },
  ]);
  const times = lines.map((entry) => Date.parse(entry.at));
  expect([before, ...times, after]).toEqual([before, ...times, after].sort((a, b) => a - b));
});

describe('the scripted model', () => {
  const tools = [{ type: 'function', function: { name: 'search_orders' } }];

  it('says the same to the same conversation, under another tool-call id each time (S04)', async () => {
    const replies = [await ask('My order is ORD-77.', tools), await ask('My order is ORD-77.', tools)];
    const calls = replies.map(
      (reply) => (reply.message['tool_calls'] as { id: string; function: object }[])[0],
    );
    expect(calls[0]?.function).toEqual({ name: 'search_orders', arguments: '{"order_id":"ORD-77"}' });
    expect(calls[1]?.function).toEqual(calls[0]?.function);
    expect(calls[1]?.id).not.toBe(calls[0]?.id);
  });

  it('streams text that adds up to the reply, with usage', async () => {
    const heard: string[] = [];
    const reply = await chatClient.complete(
      {
        model: 'any',
        messages: [{ role: 'user', content: 'order: ORD-8\ncustomer: Ada\namount: 1.00 EUR' }],
      },
      { signal: AbortSignal.timeout(5_000), onText: (text) => heard.push(text) },
    );
    expect(heard.length).toBeGreaterThan(5);
    expect(heard.join('')).toBe(reply.message.content);
    expect(reply.message.content).toContain('Dear Ada');
    expect(reply.usage?.outputTokens).toBeGreaterThan(0);
  });

  it('costs nothing that anybody could name; a real one costs what its price says', async () => {
    expect((await ask('Hello.')).usage).not.toHaveProperty('costMicroUsd');
    vi.stubEnv('RERAIL_LLM_URL', `${urls['llm']}/v1`);
    expect((await ask('Hello.')).usage).not.toHaveProperty('costMicroUsd');
    vi.stubEnv('RERAIL_LLM_PRICE', '2.50/10');
    const { inputTokens = 0, outputTokens = 0, costMicroUsd } = (await ask('Hello.')).usage ?? {};
    expect(costMicroUsd).toBe(Math.round(inputTokens * 2.5 + outputTokens * 10));
    vi.stubEnv('RERAIL_LLM_PRICE', '2,50');
    await expect(ask('Hello.')).rejects.toThrow('RERAIL_LLM_PRICE=2,50 is no price');
    vi.stubEnv('RERAIL_LLM_URL', undefined);
    expect((await ask('Hello.')).usage).not.toHaveProperty('costMicroUsd');
  });

  it.each([429, 500])('answers %i on demand, which is told apart as unavailable', async (status) => {
    await control('llm', 'faults', { match: `trouble-${status}`, answer: status });
    await expect(ask(`trouble-${status}`)).rejects.toMatchObject({ name: 'Unavailable' });
    await expect(ask(`trouble-${status}`)).resolves.toBeDefined();
  });

  it('hangs on demand until its caller gives up', async () => {
    await control('llm', 'faults', { match: 'sleepy', answer: 'hang' });
    const call = chatClient.complete(
      { model: 'any', messages: [{ role: 'user', content: 'sleepy' }] },
      { signal: AbortSignal.timeout(200), onText: () => undefined },
    );
    await expect(call).rejects.toMatchObject({ name: 'TimeoutError' });
  });
});

it('shows a real endpoint the key that the environment names, and no key where it names none', async () => {
  const seen: unknown[] = [];
  const real = createServer(({ url, headers }, response) => {
    seen.push([url, headers.authorization]);
    response.end('data: [DONE]\n');
  });
  onTestFinished(() => {
    real.close();
    real.closeAllConnections();
  });
  real.listen(0, '127.0.0.1');
  await once(real, 'listening');
  vi.stubEnv('RERAIL_LLM_URL', `http://127.0.0.1:${(real.address() as AddressInfo).port}/v1/`);
  vi.stubEnv('RERAIL_LLM_KEY', undefined);
  await ask('Hello.');
  vi.stubEnv('RERAIL_LLM_KEY', 'a-key');
  await ask('Hello.');
  expect(seen).toEqual([
    ['/v1/chat/completions', undefined],
    ['/v1/chat/completions', 'Bearer a-key'],
  ]);
});
