import type { Sha256 } from '@/lib/core/events/ids';
import type { FileJson } from '@/lib/ingest/json';
import { otlpImporter } from '@/lib/ingest/otlp/otlp-importer';
import type { Assembled, ImportedPart, SplitParts } from '@/lib/usecases/ports';
import { importTools } from './importer-contract';

/* OTLP for tests of the importer: spans built from a few words, and what is made of bytes. */

type Value = string | number | boolean | readonly Value[] | { readonly [key: string]: Value };

export interface SpanWords {
  readonly id: string;
  readonly parent?: string;
  readonly name?: string;
  readonly trace?: string;
  /** ms after `EPOCH`. */
  readonly from?: number;
  readonly to?: number;
  readonly attributes?: Readonly<Record<string, Value>>;
  readonly events?: readonly {
    readonly name: string;
    readonly attributes?: Readonly<Record<string, Value>>;
  }[];
  readonly status?: { readonly code: number; readonly message?: string };
}

export const EPOCH = 1_795_963_927_000;
export const TRACE = 'f298ab12d38dc88c7c78aaba1c717d67';

const asValue = (value: Value): FileJson => {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'number')
    return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  if (Array.isArray(value)) return { arrayValue: { values: (value as readonly Value[]).map(asValue) } };
  return { kvlistValue: { values: keyValues(value as Readonly<Record<string, Value>>) } };
};
const keyValues = (values: Readonly<Record<string, Value>>): FileJson[] =>
  Object.entries(values).map(([key, value]) => ({ key, value: asValue(value) }));

/** Sixteen digits: `id('a')` is `000000000000000a`. */
export const id = (short: string): string => short.padStart(16, '0');
const nanos = (ms: number): string => String(BigInt(Math.round((EPOCH + ms) * 1_000)) * 1_000n);

export const span = (words: SpanWords): { readonly [key: string]: FileJson } => ({
  traceId: words.trace ?? TRACE,
  spanId: id(words.id),
  ...(words.parent === undefined ? {} : { parentSpanId: id(words.parent) }),
  name: words.name ?? `span ${words.id}`,
  kind: 1,
  startTimeUnixNano: nanos(words.from ?? 0),
  ...(words.to === undefined ? {} : { endTimeUnixNano: nanos(words.to) }),
  attributes: keyValues(words.attributes ?? {}),
  events: (words.events ?? []).map(({ name, attributes = {} }) => ({
    name,
    timeUnixNano: nanos(words.from ?? 0),
    attributes: keyValues(attributes),
  })),
  ...(words.status === undefined ? {} : { status: words.status }),
});

export const request = (spans: readonly FileJson[]): { readonly [key: string]: FileJson } => ({
  resourceSpans: [
    {
      resource: { attributes: keyValues({ 'service.name': 'shop' }) },
      scopeSpans: [{ scope: { name: 'test' }, spans }],
    },
  ],
});

export const bytesOf = (value: unknown): Uint8Array =>
  new TextEncoder().encode(typeof value === 'string' ? value : JSON.stringify(value));

/** What the importer reads; a refusal is a failed test. */
export function splitOk(bytes: Uint8Array, contentType = 'application/json'): SplitParts {
  const read = otlpImporter.split(bytes, contentType, importTools);
  if (!read.ok) throw new Error(`refused at ${read.problem.path}: ${read.problem.message}`);
  return read.value;
}

export const assembled = (parts: readonly ImportedPart[]): Assembled => {
  const [first] = parts;
  if (first === undefined) throw new Error('a run needs a part');
  return otlpImporter.assemble(first.runId, parts, importTools);
};

/** The run that these spans make. */
export const runOf = (spans: readonly SpanWords[]): Assembled =>
  assembled(splitOk(bytesOf(request(spans.map(span)))).parts);

/** Text of a payload of the run. */
export const textIn = ({ run }: Assembled, ref: { readonly sha256: Sha256 } | undefined): string => {
  const payload = ref === undefined ? undefined : run.payloads.get(ref.sha256);
  return payload === undefined ? '' : new TextDecoder().decode(payload.body);
};
