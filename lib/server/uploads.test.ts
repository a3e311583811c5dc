import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { POST } from '@/app/api/v1/traces/route';
import { ApiClient, TestWorker } from '@/lib/testing/api-client';
import { memoryStore } from '@/lib/testing/memory-store';
import { startTestConsole, type TestConsole } from '@/lib/testing/test-console';
import { problem } from '@/lib/wire/v1/common';
import { uploadAnswer } from '@/lib/wire/v1/export';
import type { Incoming } from './http';
import { defaultUploadLimits, type UploadLimits } from './upload-body';

const fixture = (name: string) =>
  readFileSync(new URL(`../ingest/langgraph/fixtures/${name}`, import.meta.url));
const forks = fixture('forks-of-forks.json');

let console_: TestConsole;
beforeEach(async () => {
  console_ = await startTestConsole();
});
afterEach(() => console_.close());

const send = (body: BodyInit, headers: Record<string, string> = {}, query = '') =>
  fetch(`${console_.url}/api/v1/traces${query}`, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', ...headers },
  });
const bodyOf = async (response: Response) => uploadAnswer.parse(await response.json());

describe('POST /api/v1/traces', () => {
  it('answers 201 with runs and warnings, and 200 with the same ids the second time, plain or gzip', async () => {
    const first = await send(forks);
    expect(first.status).toBe(201);
    const made = await bodyOf(first);
    expect(
      made.runs.map(({ format, status, steps, checkpoints }) => [format, status, steps, checkpoints]),
    ).toEqual([
      ['langgraph', 'completed', 3, 5],
      ['langgraph', 'failed', 2, 4],
      ['langgraph', 'completed', 3, 5],
      ['langgraph', 'waiting', 1, 4],
    ]);
    expect(made.warnings.length).toBeGreaterThan(0);
    for (const variant of [
      send(forks),
      send(gzipSync(forks), { 'content-encoding': 'gzip' }),
      send(gzipSync(forks), { 'content-type': 'application/gzip' }),
      send(forks, {}, '?format=langgraph'),
    ]) {
      const again = await variant;
      expect(again.status).toBe(200);
      expect((await bodyOf(again)).runs).toEqual(made.runs.map((run) => ({ ...run, added: 0 })));
    }
  });

  it('S30 takes back what GET …/export gives, and the export of that is the same file', async () => {
    const id = (await bodyOf(await send(forks))).runs[1]?.id ?? '';
    const path = `/api/v1/runs/${encodeURIComponent(id)}/export`;
    const exported = await fetch(`${console_.url}${path}`);
    expect(exported.status).toBe(200);
    expect(exported.headers.get('content-type')).toContain('application/x-ndjson');
    const file = await exported.text();
    const elsewhere = await startTestConsole({ store: memoryStore() });
    try {
      const upload = await fetch(`${elsewhere.url}/api/v1/traces`, {
        method: 'POST',
        body: file,
        headers: { 'content-type': 'application/x-ndjson' },
      });
      expect(upload.status).toBe(201);
      expect(await (await fetch(`${elsewhere.url}${path}`)).text()).toBe(file);
      // S35: cut off in transit.
      const cut = await fetch(`${elsewhere.url}/api/v1/traces`, { method: 'POST', body: file.slice(0, -30) });
      expect(cut.status).toBe(400);
    } finally {
      await elsewhere.close();
    }
    expect((await fetch(`${console_.url}/api/v1/runs/nothing/export`)).status).toBe(404);
  });

  it('takes a longer file of a known run with 200 and what it added, and refuses another content under its id with 409', async () => {
    const runId = 'contested';
    const there = await startTestConsole({ store: memoryStore() });
    const rival = await startTestConsole({ store: memoryStore() });
    const exported = async ({ url }: TestConsole) =>
      (await fetch(`${url}/api/v1/runs/${runId}/export`)).text();
    const upload = (to: TestConsole, file: string) => new ApiClient(to.url).post('/api/v1/traces', file);
    try {
      const worker = await TestWorker.create(new ApiClient(console_.url), { runId });
      expect(await upload(there, await exported(console_))).toMatchObject({ status: 201 });
      await TestWorker.create(new ApiClient(rival.url), { runId, input: 'another' });
      const other = await exported(rival);
      const refused = { title: expect.any(String), detail: expect.any(String), status: 409, runId };
      expect(await upload(console_, other)).toMatchObject({
        status: 409,
        body: { ...refused, type: 'urn:rerail:problem:home-here', headSeq: 1 },
      });
      const differs = await upload(there, other);
      expect(differs).toMatchObject({
        status: 409,
        body: { ...refused, type: 'urn:rerail:problem:differs', seq: 1 },
      });
      expect(differs.headers.get('content-type')).toBe('application/problem+json');

      await worker.write(worker.enter('plan'), worker.read('plan#1/lookup#1'));
      const longer = await exported(console_);
      expect(await upload(there, longer)).toMatchObject({
        status: 200,
        body: { runs: [{ id: runId, events: 3, added: 2 }] },
      });
      expect(await exported(there)).toBe(longer);
    } finally {
      await there.close();
      await rival.close();
    }
  });

  it('refuses an unknown format and lists the known ones', async () => {
    for (const response of [
      await send('{"resource":[]}'),
      await send('hello'),
      await send('[]', {}, '?format=nosuch'),
    ]) {
      expect(response.status).toBe(415);
      const told = problem.parse(await response.json());
      expect(told.detail).toContain('rerail');
      expect(told.detail).toContain('langgraph');
    }
  });

  it('takes a native file with a byte order mark before it', async () => {
    const id = (await bodyOf(await send(forks))).runs[0]?.id ?? '';
    const file = await (await fetch(`${console_.url}/api/v1/runs/${encodeURIComponent(id)}/export`)).text();
    expect((await send(`\uFEFF${file}`)).status).toBe(200);
    expect((await send(`\uFEFF${file.replace('completed', 'Completed')}`)).status).toBe(400);
  });

  it.each(['', '?format=rerail', '?format=langgraph'])('an empty body is malformed (%s)', async (query) => {
    for (const sent of [send('', {}, query), send(gzipSync(''), { 'content-encoding': 'gzip' }, query)]) {
      const response = await sent;
      expect(response.status).toBe(400);
      expect(problem.parse(await response.json()).errors?.[0]?.path).toBe('body');
    }
  });

  it('refuses what is malformed and says where', async () => {
    for (const [body, path] of [
      ['[{"values":{},"next":[],"checkpoint_id":1}]', '$[0]'],
      ['[{"values":{},"next":[],"checkpoint_id":"c"', '$, character 43'],
      ['{"format":"rerail-export","version":1}', 'line 1'],
      ['{"format":"rerail-export","version":2}\n', 'line 1, $.version'],
    ] as const) {
      const response = await send(body);
      expect(response.status).toBe(400);
      expect(response.headers.get('content-type')).toContain('application/problem+json');
      expect(problem.parse(await response.json()).errors?.[0]?.path).toBe(path);
    }
    const torn = await send(gzipSync(forks).subarray(0, 400), { 'content-encoding': 'gzip' });
    expect(torn.status).toBe(400);
    expect(problem.parse(await torn.json()).errors?.[0]).toMatchObject({
      path: 'body',
      message: expect.stringContaining('cut off'),
    });
    expect((await send('{}', { 'content-encoding': 'br' })).status).toBe(415);
    expect((await send(forks, { 'content-encoding': 'gzip' })).status).toBe(400);
  });
});

describe('limits of an upload are answered by name', () => {
  const post = async (
    body: Uint8Array,
    limits: Partial<UploadLimits>,
    headers: Record<string, string> = {},
  ) => {
    const incoming: Incoming = {
      method: 'POST',
      principal: { kind: 'local', actor: 'tester', role: 'admin' },
      params: {},
      search: '',
      header: (name) => headers[name],
      read: async (limit) =>
        body.byteLength > limit
          ? { ok: false, problem: { kind: 'body-too-large', limit: 'body', limitBytes: limit } }
          : { ok: true, value: body },
      signal: new AbortController().signal,
    };
    const { status, body: answer } = await POST.direct(incoming, {
      ...console_.deps,
      uploads: { ...defaultUploadLimits, ...limits },
    });
    return { status, told: problem.parse(JSON.parse(String(answer))) };
  };

  it('body: 413', async () => {
    const { status, told } = await post(forks, { bodyBytes: 100 });
    expect([status, told.detail]).toEqual([413, expect.stringContaining('body is larger than 100 bytes')]);
  });

  it('decompressed body: 413', async () => {
    const { status, told } = await post(gzipSync(forks), { unzippedBytes: 1_000 });
    expect([status, told.detail]).toEqual([
      413,
      expect.stringContaining('decompressed body is larger than 1000 bytes'),
    ]);
  });

  it('decompression ratio: 413', async () => {
    const { status, told } = await post(gzipSync(new Uint8Array(20 * 1024 * 1024)), { ratio: 100 });
    expect([status, told.detail]).toEqual([413, expect.stringContaining('decompression ratio')]);
  });

  it('depth: 400', async () => {
    const deep = Buffer.from(`[{"checkpoint_id":"c","next":[],"values":${'['.repeat(50)}${']'.repeat(50)}}]`);
    const { status, told } = await post(deep, { jsonDepth: 20 });
    expect([status, told.detail]).toEqual([400, expect.stringContaining('"depth" of 20')]);
  });
});
