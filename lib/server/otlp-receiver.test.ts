import { gzipSync } from 'node:zlib';
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { epochMs, runId } from '@/lib/core/events/ids';
import { newRun } from '@/lib/core/journal/new-run';
import { agentSpans, onTheWire, sent } from '@/lib/testing/otlp-spans';
import { startTestConsole, type TestConsole } from '@/lib/testing/test-console';
import { onlyRow } from '@/lib/usecases/heartbeat';
import { uploadAnswer } from '@/lib/wire/v1/export';

let console_: TestConsole;
beforeAll(async () => {
  console_ = await startTestConsole();
});
afterAll(() => console_.close());

/** Parts of an order that looks random and is the same every time. */
function shuffled<Item>(items: readonly Item[], seed: number): readonly Item[] {
  let state = seed;
  const random = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state;
  };
  return items
    .map((item) => ({ item, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

async function journalOf(at: TestConsole, id: string) {
  const run = await at.store.run(runId(id));
  return {
    state: run?.state,
    createdAt: run?.createdAt,
    events: await at.store.events(runId(id), { limit: 10_000 }),
  };
}

describe.each([
  ['JSON', JsonExporter],
  ['protobuf', ProtobufExporter],
] as const)('POST /v1/traces from the real exporter, %s', (_, Exporter) => {
  it.each(['none', 'gzip'] as const)(
    'S27 spans in several requests and a shuffled order make the run that all of them make at once (compression: %s)',
    async (compression) => {
      const spans = agentSpans();
      const id = spans[0]?.spanContext().traceId ?? '';
      const other = await startTestConsole();
      try {
        const exporterTo = (url: string) =>
          new Exporter({ url: `${url}/v1/traces`, compression: compression as never });
        await sent(exporterTo(other.url), spans);
        const whole = await journalOf(other, id);
        expect(whole.events.length).toBeGreaterThan(spans.length);

        const late = shuffled(spans, compression.length);
        const exporter = exporterTo(console_.url);
        for (let at = 0; at < late.length; at += 3) {
          await sent(exporter, late.slice(at, at + 3));
          // Visible from its first span, by the API that the pages use.
          const seen = await fetch(`${console_.url}/api/v1/runs/${id}`);
          expect(seen.status).toBe(200);
          const summary = (await seen.json()) as { readonly status: string };
          const hasRoot = late
            .slice(0, at + 3)
            .some(({ parentSpanContext }) => parentSpanContext === undefined);
          if (!hasRoot) expect(summary.status).toBe('unknown');
        }
        expect(await journalOf(console_, id)).toEqual(whole);
        const { edition, headSeq } = (await console_.store.run(runId(id))) ?? {};
        expect(edition).toBeGreaterThan(0);

        // An exporter that got no answer sends the same again.
        await sent(exporter, spans);
        expect(await console_.store.run(runId(id))).toMatchObject({ edition, headSeq });
      } finally {
        await other.close();
      }
    },
  );
});

describe('POST /v1/traces', () => {
  const post = (body: Uint8Array | string, contentType: string, headers: Record<string, string> = {}) =>
    fetch(`${console_.url}/v1/traces`, {
      method: 'POST',
      body: body as BodyInit,
      headers: { 'content-type': contentType, ...headers },
    });
  const JSON_TYPE = 'application/json';
  const PROTOBUF = 'application/x-protobuf';

  it('takes an empty request, in both encodings, and answers in that of the request', async () => {
    for (const body of ['{}', '{"resourceSpans":[]}']) {
      const answer = await post(body, JSON_TYPE);
      expect([answer.status, answer.headers.get('content-type'), await answer.text()]).toEqual([
        200,
        JSON_TYPE,
        '{}',
      ]);
    }
    const answer = await post('', PROTOBUF);
    expect([answer.status, answer.headers.get('content-type'), await answer.text()]).toEqual([
      200,
      PROTOBUF,
      '',
    ]);
  });

  it('says in the answer which spans it could not read, and takes the others', async () => {
    const span = {
      traceId: '0af7651916cd43dd8448eb211c80319c',
      spanId: 'b7ad6b7169203331',
      name: 'chat',
      startTimeUnixNano: '1700000000000000000',
      endTimeUnixNano: '1700000001000000000',
    };
    const request = JSON.stringify({
      resourceSpans: [{ scopeSpans: [{ spans: [span, { ...span, traceId: 'no' }] }] }],
    });
    const answer = await post(request, JSON_TYPE);
    expect(answer.status).toBe(200);
    const told = (await answer.json()) as {
      readonly partialSuccess: { readonly rejectedSpans: string; readonly errorMessage: string };
    };
    expect(told.partialSuccess.rejectedSpans).toBe('1');
    expect(told.partialSuccess.errorMessage).toContain('spans[1]');
    expect((await console_.store.run(runId(span.traceId)))?.headSeq).toBeGreaterThan(0);
  });

  it('refuses what is none, with a Status in the encoding that was asked for', async () => {
    const json = await post('{"resourceSpans":', JSON_TYPE);
    expect([json.status, json.headers.get('content-type')]).toEqual([400, JSON_TYPE]);
    expect(await json.json()).toMatchObject({ code: 3, message: expect.stringMatching(/byte|line|\$/) });
    const protobuf = await post(Buffer.from([0x0a, 0xff, 0xff]), PROTOBUF);
    expect([protobuf.status, protobuf.headers.get('content-type')]).toEqual([400, PROTOBUF]);
    const status = new Uint8Array(await protobuf.arrayBuffer());
    expect([...status.subarray(0, 3)]).toEqual([0x08, 3, 0x12]);
    expect(new TextDecoder().decode(status)).toContain('byte');

    const other = await post('x', 'text/plain');
    expect([other.status, other.headers.get('content-type')]).toEqual([415, JSON_TYPE]);
    expect((await post('{}', JSON_TYPE, { 'content-encoding': 'br' })).status).toBe(415);
    expect((await post('', JSON_TYPE)).status).toBe(400);
    expect(
      (await post(gzipSync(Buffer.alloc(30 * 1024 * 1024)), JSON_TYPE, { 'content-encoding': 'gzip' }))
        .status,
    ).toBe(413);
    expect((await fetch(`${console_.url}/v1/traces`)).status).toBe(405);
  });

  it('counts the spans of a run that has its home here as rejected, and leaves it alone', async () => {
    const home = newRun({
      runId: runId('4bf92f3577b34da6a3ce929d0e0e4736'),
      agent: 'desk',
      createdAt: epochMs(1),
    });
    await console_.store.commit({
      runId: home.runId,
      decide: () => ({ ok: true, value: { value: undefined, change: onlyRow(home) } }),
    });
    const span = {
      traceId: home.runId,
      spanId: 'b7ad6b7169203331',
      name: 'x',
      startTimeUnixNano: '1700000000000000000',
      endTimeUnixNano: '1700000001000000000',
    };
    const request = JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] });
    const answer = await post(request, JSON_TYPE);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ partialSuccess: { rejectedSpans: '1' } });
    expect(await console_.store.run(home.runId)).toEqual(home);
    const upload = await fetch(`${console_.url}/api/v1/traces`, { method: 'POST', body: request });
    expect(upload.status).toBe(409);
  });
});

describe('POST /api/v1/traces with OTLP files', () => {
  it.each([
    ['JSON', JsonExporter],
    ['protobuf', ProtobufExporter],
  ] as const)('S34 takes %s files, detected or named, once, and late spans later', async (_, Exporter) => {
    const spans = agentSpans();
    const id = spans[0]?.spanContext().traceId;
    const file = await onTheWire(Exporter, spans.slice(3));
    const upload = (body: Buffer, query = '') =>
      fetch(`${console_.url}/api/v1/traces${query}`, { method: 'POST', body: new Uint8Array(body) });
    const first = await upload(file);
    expect(first.status).toBe(201);
    const { runs } = uploadAnswer.parse(await first.json());
    expect(runs).toMatchObject([{ id, format: 'otlp' }]);
    expect(runs[0]?.added).toBe(runs[0]?.events);
    for (const query of ['', '?format=otlp']) {
      const again = await upload(file, query);
      expect(again.status).toBe(200);
      expect(uploadAnswer.parse(await again.json()).runs).toEqual([{ ...runs[0], added: 0 }]);
    }
    const late = await upload(await onTheWire(Exporter, spans));
    expect(late.status).toBe(200);
    const after = uploadAnswer.parse(await late.json()).runs[0];
    expect(after?.added).toBeGreaterThan(0);
    expect(after?.events).toBe((runs[0]?.events ?? 0) + (after?.added ?? 0));
  });

  it.each(['[]', ' [ ]\n', '\n[]', '[{}]', '{}', '{"no":"trace"}'])(
    'S34 does not take %j for a trace, and names what is one',
    async (file) => {
      const refused = await fetch(`${console_.url}/api/v1/traces`, { method: 'POST', body: file });
      expect(refused.status).toBe(415);
      const { known, detail } = (await refused.json()) as {
        readonly known: readonly { readonly format: string }[];
        readonly detail: string;
      };
      expect(known.map(({ format }) => format)).toEqual(['rerail', 'langgraph', 'otlp']);
      expect(detail).toContain('OTLP traces');
    },
  );

  it('S30 exports a run that was assembled, to be imported elsewhere, where it grows no more', async () => {
    const spans = agentSpans();
    const id = spans[0]?.spanContext().traceId ?? '';
    const elsewhere = await startTestConsole();
    try {
      await sent(new JsonExporter({ url: `${console_.url}/v1/traces` }), spans.slice(4));
      const exported = await (await fetch(`${console_.url}/api/v1/runs/${id}/export`)).text();
      const imported = await fetch(`${elsewhere.url}/api/v1/traces`, { method: 'POST', body: exported });
      expect(imported.status).toBe(201);
      expect(await (await fetch(`${elsewhere.url}/api/v1/runs/${id}/export`)).text()).toBe(exported);
      const late = await onTheWire(JsonExporter, spans);
      const refused = await fetch(`${elsewhere.url}/api/v1/traces`, {
        method: 'POST',
        body: new Uint8Array(late),
      });
      expect(refused.status).toBe(409);
      expect(await refused.text()).toContain('imported as a file');
    } finally {
      await elsewhere.close();
    }
  });
});
