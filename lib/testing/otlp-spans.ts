import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Context, ROOT_CONTEXT, SpanStatusCode, trace } from '@opentelemetry/api';
import type { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http';
import type { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
  type SpanExporter,
} from '@opentelemetry/sdk-trace-base';

/** Spans of one agent run as an instrumented program makes them. */
export function agentSpans(): readonly ReadableSpan[] {
  const memory = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(memory)] });
  const tracer = provider.getTracer('desk');
  const t0 = 1_780_000_000_000;
  let tick = 0;
  const span = (
    name: string,
    attributes: Record<string, string | number>,
    parent: Context,
    work: (inner: Context) => void,
  ) => {
    const made = tracer.startSpan(name, { attributes, startTime: t0 + 10 * tick++ }, parent);
    work(trace.setSpan(parent, made));
    if (name.includes('refund')) made.setStatus({ code: SpanStatusCode.ERROR, message: 'no funds' });
    made.end(t0 + 10 * tick++);
  };
  const chat = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.request.model': 'm-1',
    'gen_ai.usage.input_tokens': 12,
  };
  const tool = (name: string) => ({ 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': name });
  span(
    'invoke_agent desk',
    { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'desk' },
    ROOT_CONTEXT,
    (inner) => {
      for (let round = 0; round < 4; round += 1) {
        span('chat m-1', chat, inner, () => undefined);
        span('execute_tool lookup', tool('lookup'), inner, (deeper) =>
          span('GET /orders', { 'http.request.method': 'GET' }, deeper, () => undefined),
        );
      }
      span('execute_tool refund', tool('refund'), inner, () => undefined);
      span('chat m-1', chat, inner, () => undefined);
    },
  );
  return memory.getFinishedSpans();
}

/** Sends the spans as one export; a refusal is thrown. */
export const sent = (exporter: SpanExporter, spans: readonly ReadableSpan[]) =>
  new Promise<void>((resolve, reject) =>
    exporter.export([...spans], ({ code, error }) =>
      code === 0 ? resolve() : reject(error ?? new Error('refused')),
    ),
  );

/** What an exporter sends, as it is on the wire. */
export async function onTheWire(
  Exporter: typeof JsonExporter | typeof ProtobufExporter,
  spans: readonly ReadableSpan[],
) {
  const bodies: Buffer[] = [];
  const server = createServer((req, res) => {
    req.on('data', (chunk: Buffer) => bodies.push(chunk));
    req.on('end', () => res.end('{}'));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  await sent(new Exporter({ url: `http://127.0.0.1:${port}/` }), spans);
  await new Promise((done) => server.close(done));
  return Buffer.concat(bodies);
}

/** `google.rpc.Status` as either encoding has it: fields 1 and 2. */
export function statusIn(
  encoding: 'json' | 'protobuf',
  body: Buffer,
): { readonly code: number; readonly message: string } {
  if (encoding === 'json') return JSON.parse(body.toString('utf8')) as { code: number; message: string };
  if (body[0] !== 0x08 || body[2] !== 0x12) throw new Error('These bytes are no google.rpc.Status');
  const isLong = ((body[3] ?? 0) & 0x80) !== 0;
  return { code: body[1] ?? -1, message: body.subarray(isLong ? 5 : 4).toString('utf8') };
}
