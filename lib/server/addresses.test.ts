import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiClient, deskDigest, deskMachine, hash, TestWorker } from '@/lib/testing/api-client';
import { memoryStore } from '@/lib/testing/memory-store';
import { startTestConsole, type TestConsole } from '@/lib/testing/test-console';

let running: TestConsole;
let api: ApiClient;
beforeAll(async () => {
  running = await startTestConsole({ store: memoryStore(), leaseMs: 60_000 });
  api = new ApiClient(running.url);
});
afterAll(async () => running.close());

describe('what has an address can be asked for', () => {
  /** 128 characters of four bytes each, the longest id that is taken. */
  const longest = '\u{1f600}'.repeat(128);

  it.each(['a/b', '100%', '%2e', '...', '. ', 'ü ñ', '[runId]', 'a?b#c', longest])(
    'a run that is called %j is written, held, read and exported under its id',
    async (name) => {
      const runId = name === longest ? name : `${name}${randomUUID()}`;
      const worker = await TestWorker.create(api, { runId });
      await worker.write(worker.enter('plan'), worker.read(`plan#1/${name.slice(0, 200)}#1`));
      expect((await api.get(worker.path)).body.id).toBe(runId);
      expect((await api.get(`/api/v1/runs?root=${encodeURIComponent(runId)}`)).body.total).toBe(1);
      expect((await worker.heartbeat()).status).toBe(200);
      expect((await api.get(`${worker.path}/export`)).status).toBe(200);
      const key = encodeURIComponent(`plan#1/${name.slice(0, 200)}#1`);
      expect((await api.get(`${worker.path}/steps/${key}`)).status).toBe(200);
      await worker.write({ kind: 'run.completed' });
      expect((await worker.release('done')).status).toBe(200);
    },
  );

  it.each(['.', '..', '', '\u0000', '\u{1f600}'.repeat(129)])('a run is not called %j', async (runId) => {
    await api.put(`/api/v1/machines/${deskDigest}`, deskMachine);
    const body = { runId, workerId: 'w', agent: 'desk', machineDigest: deskDigest };
    expect(await api.post('/api/v1/runs', body)).toMatchObject({
      status: 400,
      body: { errors: [{ path: 'runId' }] },
    });
    const worker = await TestWorker.create(api);
    const file = await (await fetch(`${running.url}${worker.path}/export`)).text();
    const renamed = file.replaceAll(JSON.stringify(worker.runId), JSON.stringify(runId));
    expect(await api.post('/api/v1/traces', renamed)).toMatchObject({
      status: 400,
      body: { errors: [{ path: 'line 1', message: expect.stringContaining('runId') }] },
    });
  });

  it.each(['.', '..', '__proto__'])('a step is not called %j', async (key) => {
    const worker = await TestWorker.create(api);
    expect(await worker.append(worker.read(key))).toMatchObject({
      status: 400,
      body: { errors: [{ path: 'events.0.stepKey' }] },
    });
  });
});

describe('a name that JavaScript has a meaning for', () => {
  const named = (member: 'states' | 'tools' | 'prompts', name: string) => {
    const one = { states: { transitions: [], tools: [] }, tools: deskMachine.tools['lookup'], prompts: 'p' };
    const text = JSON.stringify({ ...deskMachine, prompts: {} });
    const more = `${JSON.stringify(name)}:${JSON.stringify(one[member])}`;
    return text
      .replace(new RegExp(`"${member}":\\{"`), `"${member}":{${more},"`)
      .replace('"prompts":{}', `"prompts":{${member === 'prompts' ? more : ''}}`);
  };

  it.each(['states', 'tools', 'prompts'] as const)('is kept among %s, or refused by name', async (member) => {
    for (const name of ['constructor', 'toString', 'hasOwnProperty']) {
      const { body } = await api.put(`/api/v1/machines/${'0'.repeat(64)}`, named(member, name));
      expect(await api.put(`/api/v1/machines/${body.expected}`, named(member, name))).toMatchObject({
        status: 200,
      });
      const stored = (await api.get(`/api/v1/machines/${body.expected}`)).body;
      expect(Object.keys(stored[member])).toContain(name);
    }
    expect(await api.put(`/api/v1/machines/${'0'.repeat(64)}`, named(member, '__proto__'))).toMatchObject({
      status: 400,
      body: { errors: [{ path: member, message: expect.stringContaining('__proto__') }] },
    });
  });
});

describe('a payload', () => {
  const text = '{"a":"0123456789"}';
  const etag = `"${hash(text)}"`;
  const ask = (headers: Record<string, string>) =>
    fetch(`${running.url}/api/v1/payloads/${hash(text)}`, { headers });
  beforeAll(() => api.put(`/api/v1/payloads/${hash(text)}`, text));

  it.each([etag, '*', `W/${etag}`, `"x", ${etag}`, `"x",W/${etag} , "y"`])(
    'is not sent again to one who has %s',
    async (known) => {
      const answer = await ask({ 'if-none-match': known });
      expect([answer.status, await answer.text(), answer.headers.get('content-length')]).toEqual([
        304,
        '',
        null,
      ]);
      expect(answer.headers.get('etag')).toBe(etag);
    },
  );

  it.each(['"x"', hash(text), '"*"', ''])('is sent to one who has %s', async (known) => {
    expect((await ask({ 'if-none-match': known })).status).toBe(200);
  });

  it.each([
    ['bytes=0-3', 206, text.slice(0, 4)],
    ['bytes=-3', 206, text.slice(-3)],
    ['bytes=-999', 206, text],
    ['bytes=5-', 206, text.slice(5)],
    ['bytes=5-999', 206, text.slice(5)],
    ['bytes=3-1', 200, text],
    ['bytes=999-1', 200, text],
    ['bytes=0-1,3-4', 200, text],
    ['bytes=-', 200, text],
    ['lines=1-2', 200, text],
  ])('gives %s with %i', async (range, status, part) => {
    const answer = await ask({ range });
    expect([answer.status, await answer.text()]).toEqual([status, part]);
  });

  it.each([`bytes=${text.length}-`, 'bytes=999-9999', 'bytes=-0'])('has nothing of %s', async (range) => {
    const answer = await ask({ range });
    expect([answer.status, answer.headers.get('content-range')]).toEqual([416, `bytes */${text.length}`]);
    expect(await answer.json()).toMatchObject({
      type: 'urn:rerail:problem:range-not-satisfiable',
      status: 416,
    });
  });
});
