import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { ApiClient, deskDigest, deskMachine, hash, TestWorker } from '@/lib/testing/api-client';
import { describeConsole } from '@/lib/testing/describe-console';

describeConsole('the write path', ({ api, console }) => {
  it('creates a run once, however often its worker asks, and refuses another worker', async () => {
    await api().put(`/api/v1/machines/${deskDigest}`, deskMachine);
    const ask = {
      runId: `r ${randomUUID()}/%`,
      workerId: 'w1',
      agent: 'desk',
      machineDigest: deskDigest,
      input: { value: 1 },
      tags: ['a'],
    };
    const first = await api().post('/api/v1/runs', ask);
    expect(first).toMatchObject({
      status: 201,
      body: { runId: ask.runId, epoch: 1, leaseMs: 1_000, headSeq: 1 },
    });
    expect(await api().post('/api/v1/runs', ask)).toMatchObject({ status: 200, body: first.body });
    expect(await api().post('/api/v1/runs', { ...ask, workerId: 'w9' })).toMatchObject({
      status: 409,
      body: { type: 'urn:rerail:problem:exists' },
    });
    expect(await api().post('/api/v1/runs', { ...ask, input: { value: 2 } })).toMatchObject({ status: 409 });
    expect(await api().get(`/api/v1/runs/${encodeURIComponent(ask.runId)}`)).toMatchObject({
      status: 200,
      body: { id: ask.runId, status: 'running', tags: ['a'] },
    });
  });

  it('asks for a machine before a run, and keeps a machine only under its digest', async () => {
    const unknown = 'a'.repeat(64);
    expect(
      await api().post('/api/v1/runs', { workerId: 'w', agent: 'desk', machineDigest: unknown }),
    ).toMatchObject({
      status: 422,
      body: { type: 'urn:rerail:problem:unknown-machine', machines: [unknown] },
    });
    expect(await api().put(`/api/v1/machines/${unknown}`, deskMachine)).toMatchObject({
      status: 422,
      body: { expected: deskDigest },
    });
    await api().put(`/api/v1/machines/${deskDigest}`, deskMachine);
    expect((await api().get(`/api/v1/machines/${deskDigest}`)).body).toEqual(deskMachine);
  });

  it('gives the same batch its first answer, another content under its number a refusal, and a gap the number expected', async () => {
    const worker = await TestWorker.create(api());
    const batch = worker.batch([worker.enter('plan')]);
    const first = await api().post(`${worker.path}/events`, batch);
    expect(first).toMatchObject({ status: 200, body: { firstSeq: 2, headSeq: 2, others: [] } });
    expect((await api().post(`${worker.path}/events`, batch)).body).toEqual(first.body);
    const other = { ...batch, events: [worker.enter('refund')] };
    expect(await api().post(`${worker.path}/events`, other)).toMatchObject({
      status: 409,
      body: { type: 'urn:rerail:problem:batch-differs' },
    });
    expect(await api().post(`${worker.path}/events`, { ...other, batch: 7 })).toMatchObject({
      status: 409,
      body: { type: 'urn:rerail:problem:batch-gap', expected: 2 },
    });
    expect(await api().post(`${worker.path}/events`, { ...other, batch: 2, epoch: 9 })).toMatchObject({
      status: 409,
      body: { type: 'urn:rerail:problem:stale-epoch' },
    });
    expect(await api().get(worker.path)).toMatchObject({ body: { headSeq: 2 } });
  });

  it('refuses events whose payloads are not stored, with the list, and takes them once they are', async () => {
    const worker = await TestWorker.create(api());
    const text = JSON.stringify({ secret: randomUUID() });
    const sha256 = hash(text);
    const event = {
      kind: 'message.appended',
      role: 'user',
      message: { sha256, bytes: Buffer.byteLength(text), codec: 'json' },
    };
    const batch = worker.batch([event]);
    expect(await api().post(`${worker.path}/events`, batch)).toMatchObject({
      status: 422,
      body: { type: 'urn:rerail:problem:unknown-payloads', payloads: [sha256] },
    });
    expect(await api().put(`/api/v1/payloads/${sha256}`, text)).toMatchObject({
      status: 200,
      body: { sha256, codec: 'json' },
    });
    expect(await api().post(`${worker.path}/events`, batch)).toMatchObject({ status: 200 });
  });

  it('appends to several runs in one request and answers for each', async () => {
    const [a, b] = [await TestWorker.create(api()), await TestWorker.create(api())];
    const reply = await api().post('/api/v1/events', {
      batches: [
        { runId: a.runId, ...a.batch([a.enter('plan')]) },
        { runId: 'nobody', ...b.batch([b.enter('plan')]), batch: 1 },
        { runId: b.runId, epoch: 1, batch: 1, seenSeq: 1, events: [b.enter('plan')] },
        { runId: a.runId, ...a.batch([a.read('plan#1/lookup#1')]) },
      ],
    });
    expect(reply.status).toBe(200);
    expect(reply.body.items).toMatchObject([
      { runId: a.runId, status: 200, answer: { headSeq: 2 } },
      { runId: 'nobody', status: 404, problem: { type: 'urn:rerail:problem:not-found' } },
      { runId: b.runId, status: 200, answer: { headSeq: 2 } },
      { runId: a.runId, status: 200, answer: { headSeq: 3 } },
    ]);
  });

  it('refuses an intent whose occurrence is open or confirmed, naming the record', async () => {
    const worker = await TestWorker.create(api());
    const intentSeq =
      (await worker.write(worker.enter('plan'), worker.external('plan#1/create_refund#1'))) + 1;
    const again = worker.batch([{ ...worker.external('plan#1/create_refund#1'), attempt: 2 }]);
    expect(await api().post(`${worker.path}/events`, again)).toMatchObject({
      status: 409,
      body: {
        type: 'urn:rerail:problem:effect-exists',
        runId: worker.runId,
        intentSeq,
        effectStatus: 'intended',
      },
    });
  });

  it('S24 a 3 MB output and a 900 KB input are stored whole', async () => {
    const worker = await TestWorker.create(api());
    const input = { prompt: 'x'.repeat(900 * 1024) };
    const output = {
      rows: Array.from({ length: 30_000 }, (_, n) => ({ n, text: 'ein langer Text '.repeat(6) })),
    };
    expect(JSON.stringify(output).length).toBeGreaterThan(3_000_000);
    await worker.write(
      worker.enter('plan'),
      worker.read('plan#1/lookup#1', input),
      worker.done('plan#1/lookup#1', output),
    );
    const { body: step } = await api().get(`${worker.path}/steps/${encodeURIComponent('plan#1/lookup#1')}`);
    expect((await api().get(`/api/v1/payloads/${step.input.sha256}`)).body).toEqual(input);
    expect((await api().get(`/api/v1/payloads/${step.result.sha256}`)).body).toEqual(output);
  });

  it('S26 a failed tool has its input, written before the call', async () => {
    const worker = await TestWorker.create(api());
    await worker.write(worker.enter('plan'), worker.read('plan#1/lookup#1', { order: 'A-17' }));
    await worker.write({
      kind: 'step.failed',
      stepKey: 'plan#1/lookup#1',
      attempt: 1,
      failure: 'error',
      error: { type: 'Error', message: 'no such order' },
      final: true,
    });
    const { body: step } = await api().get(`${worker.path}/steps/${encodeURIComponent('plan#1/lookup#1')}`);
    expect(step).toMatchObject({
      status: 'failed',
      error: { message: 'no such order' },
      attempts: [{ attempt: 1, outcome: 'error', workerId: 'w1' }],
    });
    expect((await api().get(`/api/v1/payloads/${step.input.sha256}`)).body).toEqual({ order: 'A-17' });
  });

  it('S36 HTML, ANSI codes, a lone surrogate, U+0000, right-to-left text and a 300 KB line are kept byte for byte', async () => {
    const worker = await TestWorker.create(api());
    const value = {
      html: '<script>alert(1)</script>',
      ansi: '\u001b[31mred\u001b[0m',
      surrogate: '\ud800',
      nul: 'a\u0000b',
      rtl: 'שלום عالم',
      line: 'z'.repeat(300 * 1024),
    };
    const text = JSON.stringify(value);
    await worker.write(worker.enter('plan'), worker.read('plan#1/lookup#1'), {
      ...worker.done('plan#1/lookup#1'),
      result: worker.text(text),
    });
    const { body: step } = await api().get(`${worker.path}/steps/${encodeURIComponent('plan#1/lookup#1')}`);
    const response = await fetch(`${console().url}/api/v1/payloads/${step.result.sha256}`);
    expect(await response.text()).toBe(text);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'application/json',
      'x-content-type-options': 'nosniff',
      etag: `"${hash(text)}"`,
      'cache-control': 'private, max-age=31536000, immutable',
    });
  });

  it('keeps bytes of any kind, serves them as no page, and answers a range and a known copy', async () => {
    const bytes = Buffer.from([0, 255, 60, 33, 10, 13, 128]);
    const path = `/api/v1/payloads/${hash(bytes)}`;
    expect(await api().put(path, bytes, { 'content-type': 'application/octet-stream' })).toMatchObject({
      status: 200,
      body: { codec: 'bytes', bytes: 7 },
    });
    const got = await fetch(`${console().url}${path}`);
    expect(Buffer.from(await got.arrayBuffer())).toEqual(bytes);
    expect(got.headers.get('content-type')).toBe('application/octet-stream');
    const part = await fetch(`${console().url}${path}`, { headers: { range: 'bytes=1-2' } });
    expect([part.status, part.headers.get('content-range'), Buffer.from(await part.arrayBuffer())]).toEqual([
      206,
      'bytes 1-2/7',
      bytes.subarray(1, 3),
    ]);
    const known = await fetch(`${console().url}${path}`, {
      headers: { 'if-none-match': `"${hash(bytes)}"` },
    });
    expect([known.status, await known.text()]).toEqual([304, '']);
    expect(await api().put(path, 'other', { 'content-type': 'text/plain' })).toMatchObject({
      status: 400,
      body: { type: 'urn:rerail:problem:bad-payload' },
    });
    expect(await api().get(`/api/v1/payloads/${'0'.repeat(64)}`)).toMatchObject({ status: 404 });
  });

  it('takes gzip bodies', async () => {
    const worker = await TestWorker.create(api());
    const packed = gzipSync(JSON.stringify(worker.batch([worker.enter('plan')])));
    expect(await api().post(`${worker.path}/events`, packed, { 'content-encoding': 'gzip' })).toMatchObject({
      status: 200,
    });
  });

  it('treats names of the prototype as any other name', async () => {
    const input = JSON.parse('{"__proto__":{"admin":true},"constructor":1,"hasOwnProperty":2}');
    const worker = await TestWorker.create(api(), {
      input,
      runId: `__proto__${randomUUID()}`,
      tags: ['__proto__', 'constructor'],
    });
    const stored = await fetch(`${console().url}/api/v1/payloads/${hash(JSON.stringify(input))}`);
    expect(await stored.text()).toBe('{"__proto__":{"admin":true},"constructor":1,"hasOwnProperty":2}');
    await worker.write({
      kind: 'variables.patched',
      patch: [{ op: 'add', path: '/__proto__', value: worker.value(1) }],
    });
    expect(await api().get(`${worker.path}/state`)).toMatchObject({ status: 200 });
    expect(await api().get('/api/v1/runs/__proto__')).toMatchObject({ status: 404 });
    expect(
      await api().post(
        `${worker.path}/commands`,
        JSON.parse('{"mode":"pause","commandId":"c","__proto__":{"mode":"cancel"}}'),
      ),
    ).toMatchObject({ status: 400 });
    expect(({} as Record<string, unknown>)['admin']).toBeUndefined();
  });

  it('keeps a fenced worker’s late outcome as evidence, once', async () => {
    const worker = await TestWorker.create(api());
    const intentSeq =
      (await worker.write(worker.enter('plan'), worker.external('plan#1/create_refund#1'))) + 1;
    await api().command(worker.runId, { mode: 'cancel' });
    const evidence = {
      epoch: 1,
      intentSeq,
      outcome: 'happened',
      result: { value: { id: 're_1' } },
      receipt: 're_1',
    };
    const first = await api().post(`${worker.path}/evidence`, evidence);
    expect(first.status).toBe(200);
    expect((await api().post(`${worker.path}/evidence`, evidence)).body).toEqual(first.body);
    expect(await api().post(`${worker.path}/evidence`, { ...evidence, intentSeq: 1 })).toMatchObject({
      status: 422,
    });
  });
});

describeConsole(
  'limits of the write path',
  ({ api }) => {
    const worker = async () => TestWorker.create(api());

    it('413 names the limit on the body and on what it unpacks to', async () => {
      const w = await worker();
      const large = { ...w.batch([w.enter('plan')]), padding: 'x'.repeat(70_000) };
      expect(await api().post(`${w.path}/events`, large)).toMatchObject({
        status: 413,
        body: { limit: 'body', limitBytes: 65_536 },
      });
      const bomb = gzipSync(Buffer.alloc(600_000, 'x'));
      expect(await api().post(`${w.path}/events`, bomb, { 'content-encoding': 'gzip' })).toMatchObject({
        status: 413,
        body: { limit: 'decompressed body', limitBytes: 262_144 },
      });
    });

    it('413 holds for a body that does not say its length, too', async () => {
      const w = await worker();
      const chunks = new ReadableStream({
        start(controller) {
          for (let n = 0; n < 40; n++) controller.enqueue(Buffer.alloc(4_096, 'x'));
          controller.close();
        },
      });
      const response = await fetch(`${new ApiClient(api().url).url}${w.path}/events`, {
        method: 'POST',
        body: chunks,
        duplex: 'half',
        headers: { 'content-type': 'application/json' },
      } as RequestInit);
      expect(response.status).toBe(413);
    });

    it('400 names the depth, brackets inside texts not counted', async () => {
      const w = await worker();
      const deep = `${'['.repeat(65)}${']'.repeat(65)}`;
      expect(await api().post(`${w.path}/events`, deep)).toMatchObject({
        status: 400,
        body: { type: 'urn:rerail:problem:too-deep', limitDepth: 64 },
      });
      const shallow = await api().post(`${w.path}/plan`, {
        mode: 'replay',
        edits: [{ path: '/input', value: `"\\${'['.repeat(500)}` }],
      });
      expect(shallow.body.type).not.toBe('urn:rerail:problem:too-deep');
    });

    it('400 for what is not JSON, not UTF-8, not gzip or not of the documented shape, with its path; 415 for other types', async () => {
      const w = await worker();
      const events = `${w.path}/events`;
      expect(await api().post(events, '{"a":')).toMatchObject({ status: 400 });
      expect(await api().post(events, Buffer.from([0x22, 0xff, 0x22]))).toMatchObject({ status: 400 });
      expect(await api().post(events, 'no gzip', { 'content-encoding': 'gzip' })).toMatchObject({
        status: 400,
      });
      expect(await api().post(events, 'x', { 'content-encoding': 'br' })).toMatchObject({ status: 415 });
      expect(await api().post(events, '{}', { 'content-type': 'text/html' })).toMatchObject({
        status: 415,
        body: { accepted: ['application/json'] },
      });
      const wrong = await api().post(events, {
        epoch: 1,
        batch: 1,
        seenSeq: 0,
        events: [{ kind: 'state.entered', key: 'a#1', state: 'a', visit: 'one' }],
      });
      expect(wrong).toMatchObject({ status: 400, body: { errors: [{ path: 'events.0.visit' }] } });
      expect(wrong.headers.get('content-type')).toBe('application/problem+json');
    });
  },
  { limits: { bodyBytes: 65_536, unzippedBytes: 262_144, jsonDepth: 64, idleMs: 30_000 } },
);
