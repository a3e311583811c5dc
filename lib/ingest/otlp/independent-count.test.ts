import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { foldRun } from '@/lib/core/projections/run-state';
import { runFaults } from '@/lib/testing/importer-contract';
import { assembled, splitOk } from '@/lib/testing/span-words';

/* A second reader of the same files, which shares no code with the importer: plain JSON, counted by hand-written rules. */

interface RawSpan {
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly status?: { readonly code?: number | string };
  readonly attributes?: readonly {
    readonly key: string;
    readonly value: Readonly<Record<string, unknown>>;
  }[];
}
interface Raw {
  readonly resourceSpans?: readonly RawScope[];
  readonly batches?: readonly RawScope[];
}
interface RawScope {
  readonly scopeSpans?: readonly { readonly spans: readonly RawSpan[] }[];
  readonly instrumentationLibrarySpans?: readonly { readonly spans: readonly RawSpan[] }[];
}

interface Count {
  readonly llm: number;
  readonly tools: readonly string[];
  readonly inputTokens: number;
  readonly spans: number;
}

const attribute = ({ attributes = [] }: RawSpan, key: string): unknown =>
  Object.values(attributes.find((one) => one.key === key)?.value ?? {})[0];

/** Calls of models: spans that no other such span lies within. */
function count({ resourceSpans, batches }: Raw): Count {
  const spans = [...(resourceSpans ?? []), ...(batches ?? [])].flatMap(
    ({ scopeSpans, instrumentationLibrarySpans }) =>
      [...(scopeSpans ?? []), ...(instrumentationLibrarySpans ?? [])].flatMap((scope) => scope.spans),
  );
  const isTool = (span: RawSpan) => /^(ai\.toolCall|execute_tool .*)$/.test(span.name);
  const isCall = (span: RawSpan) =>
    !isTool(span) &&
    (/\.do(Generate|Stream)$/.test(span.name) ||
      /^(chat|generate_content|call_llm|openai\.chat)\b/.test(span.name));
  const parents = new Map(spans.map((span) => [span.spanId, span]));
  const wrapping = new Set<string>();
  for (const span of spans.filter(isCall))
    for (
      let at = parents.get(span.parentSpanId ?? '');
      at !== undefined;
      at = parents.get(at.parentSpanId ?? '')
    )
      if (isCall(at)) wrapping.add(at.spanId);
  const calls = spans.filter((span) => isCall(span) && !wrapping.has(span.spanId));
  const tokensOf = (span: RawSpan | undefined): number => {
    for (let at = span; at !== undefined; at = parents.get(at.parentSpanId ?? '')) {
      const told = attribute(at, 'gen_ai.usage.input_tokens') ?? attribute(at, 'ai.usage.inputTokens');
      if (told !== undefined) return Number(told);
    }
    return 0;
  };
  return {
    llm: calls.length,
    tools: spans
      .filter(isTool)
      .map((span) => String(attribute(span, 'gen_ai.tool.name') ?? attribute(span, 'ai.toolCall.name')))
      .sort(),
    inputTokens: calls.reduce((sum, span) => sum + tokensOf(span), 0),
    spans: spans.length,
  };
}

const fixtures = `${import.meta.dirname}/fixtures`;
const traces = '../shared/traces';
const files = [
  `${fixtures}/support-loop.json`,
  `${fixtures}/two-agents.json`,
  ...(existsSync(traces)
    ? [
        `${traces}/engines/aisdk/ai6-otlpjson-01.json`,
        `${traces}/engines/aisdk/ai7-otlpjson-05.json`,
        `${traces}/otlp_genai/agentevals_adk_S4a_refund_spans_and_logs.json`,
        `${traces}/otlp_genai/tempo_export_with_batches.json`,
      ]
    : []),
];
if (!existsSync(traces)) console.log('otlp: the shared traces are not here; only the fixtures are counted');

describe.each(files)('%s', (file) => {
  const bytes = readFileSync(file);
  const raw = JSON.parse(bytes.toString('utf8')) as Raw;
  const { parts, rejected } = splitOk(bytes);

  it('shows every call that another reader counts, and no other', () => {
    const made = assembled(parts);
    expect(rejected).toBe(0);
    expect(runFaults(made.run)).toEqual([]);
    const steps = made.run.events.filter((event) => event.kind === 'step.started');
    const counted = count(raw);
    expect({
      llm: steps.filter(({ step }) => step === 'llm').length,
      tools: steps
        .filter(({ step }) => step === 'tool')
        .map(({ name }) => name)
        .sort(),
      inputTokens: foldRun(made.run.events).counts.inputTokens,
      spans: parts.length,
    }).toEqual(counted);
    expect(counted.llm).toBeGreaterThan(0);
  });

  it('tells every span once, whatever it is shown as', () => {
    const { run } = assembled(parts);
    const told = run.events
      .flatMap((event) => (event.kind === 'variables.patched' ? event.patch : []))
      .filter(({ path }) => path === '/span')
      .map(
        ({ value }) =>
          JSON.parse(
            new TextDecoder().decode(value === undefined ? undefined : run.payloads.get(value.sha256)?.body),
          ) as { readonly span: string },
      );
    expect(told.map(({ span }) => span).sort()).toEqual(parts.map(({ id }) => id).sort());
  });
});

it.skipIf(!existsSync(traces))('the protobuf of the AI SDK is the same run as its JSON', () => {
  const json = splitOk(readFileSync(`${traces}/engines/aisdk/ai6-otlpjson-01.json`)).parts;
  const protobuf = splitOk(
    readFileSync(`${traces}/engines/aisdk/ai6-otlpproto-02.pb`),
    'application/x-protobuf',
  ).parts;
  expect(JSON.stringify(assembled(protobuf).run.events)).toBe(JSON.stringify(assembled(json).run.events));
});
