import { AsyncLocalStorage } from 'node:async_hooks';
import { createServer } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { type Context, type ContextManager, context, ROOT_CONTEXT, SpanStatusCode } from '@opentelemetry/api';
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, SimpleSpanProcessor, type SpanProcessor } from '@opentelemetry/sdk-trace-base';
import { generateText, stepCountIs, streamText, tool } from 'ai';
import { MockLanguageModelV3, simulateReadableStream } from 'ai/test';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { EventOf } from '@/lib/core/events/run-event';
import { foldRun } from '@/lib/core/projections/run-state';
import { importTools, runFaults } from '@/lib/testing/importer-contract';
import { assembled, splitOk, textIn } from '@/lib/testing/span-words';
import type { Assembled, ImportedPart } from '@/lib/usecases/ports';
import { otlpImporter } from './otlp-importer';

/*
 * Real exporters send to a server that keeps the bytes; the real AI SDK makes the spans. Each span is sent by both
 * exporters, so that what comes as JSON can be compared with what comes as protobuf.
 */

interface Received {
  readonly contentType: string;
  readonly bytes: Buffer;
}

/** Which span is the parent of the next one, across awaits. */
function asyncContexts(): ContextManager {
  const stored = new AsyncLocalStorage<Context>();
  const manager: ContextManager = {
    active: () => stored.getStore() ?? ROOT_CONTEXT,
    with: (of, work, self, ...args) => stored.run(of, () => work.call(self as never, ...args)),
    bind: (_of, target) => target,
    enable: () => manager,
    disable: () => manager,
  };
  return manager;
}

const received: Received[] = [];
const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const body = Buffer.concat(chunks);
    received.push({
      contentType: request.headers['content-type'] ?? '',
      bytes: request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body,
    });
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
});
let url = '';
beforeAll(async () => {
  context.setGlobalContextManager(asyncContexts());
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const address = server.address();
  url = typeof address === 'object' && address !== null ? `http://127.0.0.1:${address.port}/v1/traces` : '';
});
afterAll(async () => {
  context.disable();
  await new Promise((closed) => server.close(closed));
});

/** What `work` traced, as both exporters sent it. */
async function sent(work: (provider: BasicTracerProvider) => Promise<void>): Promise<{
  readonly json: readonly ImportedPart[];
  readonly protobuf: readonly ImportedPart[];
}> {
  received.length = 0;
  const processors: SpanProcessor[] = [
    new SimpleSpanProcessor(new JsonExporter({ url })),
    new SimpleSpanProcessor(new ProtobufExporter({ url })),
  ];
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'exporters', big: 9_007_199_254_740_991 }),
    spanProcessors: processors,
  });
  await work(provider);
  await provider.forceFlush();
  await provider.shutdown();
  const of = (type: string) =>
    received
      .filter(({ contentType }) => contentType.includes(type))
      .flatMap(({ contentType, bytes }) => splitOk(bytes, contentType).parts);
  return { json: of('json'), protobuf: of('protobuf') };
}

const byId = (parts: readonly ImportedPart[]) =>
  Object.fromEntries(parts.map(({ id, body }) => [id, new TextDecoder().decode(body)]));
const stepsOf = ({ run }: Assembled) =>
  run.events
    .filter((event): event is EventOf<'step.started'> => event.kind === 'step.started')
    .map(({ stepKey, step }) => `${step} ${stepKey}`);
const messagesOf = (made: Assembled) =>
  made.run.events
    .filter((event): event is EventOf<'message.appended'> => event.kind === 'message.appended')
    .map(({ message }) => textIn(made, message));

describe('the exporters of OpenTelemetry', () => {
  it('send the same span by JSON and by protobuf, attributes of every type included', async () => {
    const { json, protobuf } = await sent(async (provider) => {
      const tracer = provider.getTracer('t', '1.2.3');
      const outer = tracer.startSpan('outer', { kind: 3 });
      const span = tracer.startSpan('chat atlas', {
        links: [{ context: outer.spanContext(), attributes: { why: 'asked' } }],
        attributes: {
          text: 'ö \u0000 💶',
          yes: true,
          no: false,
          one: 1,
          half: 0.5,
          minus: -7,
          list: ['a', 'b'],
          numbers: [1, 2.5],
          flags: [true, false],
          empty: '',
        },
      });
      span.addEvent('exception', { 'exception.type': 'X', 'exception.message': 'boom' });
      span.setStatus({ code: SpanStatusCode.ERROR, message: 'boom' });
      span.end();
      outer.end();
    });
    expect(json).toHaveLength(2);
    expect(byId(protobuf)).toEqual(byId(json));
  });
});

const usage = {
  inputTokens: { total: 10, noCache: 10, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 5, text: 5, reasoning: undefined },
};
const calls = (id: string, name: string, input: string) => ({
  content: [{ type: 'tool-call' as const, toolCallId: id, toolName: name, input }],
  finishReason: { unified: 'tool-calls' as const, raw: undefined },
  usage,
  warnings: [],
});
const says = (text: string) => ({
  content: [{ type: 'text' as const, text }],
  finishReason: { unified: 'stop' as const, raw: undefined },
  usage,
  warnings: [],
});
const tools = {
  search: tool({ inputSchema: z.object({ q: z.string() }), execute: async ({ q }) => ({ hits: [`${q}!`] }) }),
  mail: tool({
    inputSchema: z.object({ to: z.string() }),
    execute: async (): Promise<{ id: string }> => {
      throw new Error('mailbox is full');
    },
  }),
};

describe('the Vercel AI SDK, itself', () => {
  it('a loop of several turns with a tool that fails: each call once, in order, whichever exporter sent it', async () => {
    const answers = [
      calls('c1', 'search', '{"q":"weather"}'),
      calls('c2', 'mail', '{"to":"ops@example.test"}'),
      says('done'),
    ];
    const { json, protobuf } = await sent(async (provider) => {
      await generateText({
        model: new MockLanguageModelV3({ doGenerate: async () => answers.shift() ?? says('?') }),
        prompt: 'Do it',
        tools,
        stopWhen: stepCountIs(5),
        experimental_telemetry: {
          isEnabled: true,
          functionId: 'loop',
          tracer: provider.getTracer('ai'),
          metadata: { sessionId: 's-9' },
        },
      });
    });
    expect(byId(protobuf)).toEqual(byId(json));
    expect(new Set(json.map(({ runId }) => runId)).size).toBe(1);
    const made = assembled(json);
    expect(runFaults(made.run)).toEqual([]);
    expect(made.run.agent).toBe('loop');
    expect(stepsOf(made).map((step) => step.replace(/mock-model-id/, 'M'))).toEqual([
      'llm model#1/M#1',
      'tool tools#1/search#1',
      'llm model#2/M#1',
      'tool tools#2/mail#1',
      'llm model#3/M#1',
    ]);
    expect(messagesOf(made)).toHaveLength(6);
    expect(messagesOf(made)[0]).toBe('{"role":"user","content":"Do it"}');
    expect(messagesOf(made).at(-1)).toBe('{"role":"assistant","content":"done"}');
    const state = foldRun(made.run.events);
    expect(state.status).toBe('completed');
    expect(state.tags).toEqual(['service:exporters', 'session:s-9']);
    expect(state.counts).toMatchObject({ inputTokens: 30, outputTokens: 15, steps: 5, failedAttempts: 1 });
    const failed = made.run.events.find((event) => event.kind === 'step.failed');
    expect(failed).toMatchObject({ stepKey: 'tools#2/mail#1', error: { message: 'mailbox is full' } });
    // Children come before their root: what the first of them makes is a run already.
    const first = assembled(json.slice(0, 1));
    expect(foldRun(first.run.events).status).toBe('running');
    expect(stepsOf(first)[0]).toBe(stepsOf(made)[0]);
  });

  it('a stream', async () => {
    const { json } = await sent(async (provider) => {
      const result = streamText({
        model: new MockLanguageModelV3({
          doStream: async () => ({
            stream: simulateReadableStream({
              initialDelayInMs: null,
              chunkDelayInMs: null,
              chunks: [
                { type: 'text-start' as const, id: '1' },
                { type: 'text-delta' as const, id: '1', delta: 'Hello, ' },
                { type: 'text-delta' as const, id: '1', delta: 'world' },
                { type: 'text-end' as const, id: '1' },
                {
                  type: 'finish' as const,
                  finishReason: { unified: 'stop' as const, raw: undefined },
                  usage,
                },
              ],
            }),
          }),
        }),
        prompt: 'Greet',
        experimental_telemetry: { isEnabled: true, tracer: provider.getTracer('ai') },
      });
      await result.consumeStream();
    });
    const made = assembled(json);
    expect(runFaults(made.run)).toEqual([]);
    expect(messagesOf(made)).toEqual([
      '{"role":"user","content":"Greet"}',
      '{"role":"assistant","content":"Hello, world"}',
    ]);
    expect(foldRun(made.run.events).status).toBe('completed');
  });

  it('a model that fails fails the run, by its step', async () => {
    const { json } = await sent(async (provider) => {
      const asked = generateText({
        model: new MockLanguageModelV3({
          doGenerate: async () => {
            throw new Error('the provider is down');
          },
        }),
        prompt: 'Do it',
        maxRetries: 0,
        experimental_telemetry: { isEnabled: true, tracer: provider.getTracer('ai') },
      });
      await expect(asked).rejects.toThrow('down');
    });
    const made = assembled(json);
    expect(runFaults(made.run)).toEqual([]);
    expect(foldRun(made.run.events)).toMatchObject({
      status: 'failed',
      failure: { error: { message: 'the provider is down' }, stepKey: expect.stringMatching(/^model#1\//) },
    });
  });

  it('is told from what is no trace', () => {
    const problem = otlpImporter.split(
      new TextEncoder().encode('{"partialSuccess":{}}'),
      'application/json',
      importTools,
    );
    expect(problem.ok).toBe(false);
  });
});
