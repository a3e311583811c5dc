import { type Incoming, mediaType, type Outgoing } from './http';

/*
 * Answers as OTLP/HTTP wants them: in the encoding of the request, `ExportTraceServiceResponse` where it was taken, and
 * `google.rpc.Status` where not. Both are few fields, written here by hand.
 */

export type OtlpEncoding = 'json' | 'protobuf';

const TYPES = { json: 'application/json', protobuf: 'application/x-protobuf' } as const;
export const otlpTypes = Object.values(TYPES);

/** What the request is encoded in; undefined where it is neither. */
export const otlpEncoding = (request: Pick<Incoming, 'header'>): OtlpEncoding | undefined =>
  encodingOf(request.header('content-type'));

function encodingOf(contentType: string | undefined): OtlpEncoding | undefined {
  switch (mediaType(contentType)) {
    case TYPES.json:
      return 'json';
    case TYPES.protobuf:
      return 'protobuf';
    default:
      return undefined;
  }
}

/** What was not taken of an export, or what is to be said of it. */
export interface PartialSuccess {
  readonly rejectedSpans: number;
  readonly errorMessage: string;
}

export function exportAnswer(encoding: OtlpEncoding, partial: PartialSuccess | undefined): Outgoing {
  if (encoding === 'json') {
    // 64-bit numbers are texts in the JSON of protobuf.
    const told = partial && { ...partial, rejectedSpans: String(partial.rejectedSpans) };
    return whole(200, encoding, JSON.stringify(told === undefined ? {} : { partialSuccess: told }));
  }
  const body =
    partial === undefined
      ? new Uint8Array()
      : bytesField(1, join([varintField(1, partial.rejectedSpans), textField(2, partial.errorMessage)]));
  return whole(200, encoding, body);
}

/** Codes of `google.rpc.Code`. */
const CODES: Readonly<Record<number, number>> = {
  400: 3,
  401: 16,
  403: 7,
  404: 5,
  405: 12,
  408: 4,
  413: 8,
  415: 3,
  429: 8,
  500: 13,
  503: 14,
};
const UNKNOWN = 2;

/** `encoding` undefined: the caller's is none that there is. */
export function statusAnswer(
  encoding: OtlpEncoding | undefined,
  status: number,
  message: string,
  retryAfterSeconds?: number,
): Outgoing {
  const code = CODES[status] ?? UNKNOWN;
  const retry = retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) };
  return encoding === 'protobuf'
    ? whole(status, encoding, join([varintField(1, code), textField(2, message)]), retry)
    : whole(status, 'json', JSON.stringify({ code, message }), retry);
}

/** What a problem's body says, in one text: its detail, and each place that is wrong. */
export function sentenceOf(problem: {
  readonly detail?: unknown;
  readonly errors?: readonly { readonly path: string; readonly message: string }[];
}): string {
  const places = (problem.errors ?? []).map(({ path, message }) => `${path}: ${message}`);
  return [String(problem.detail), ...places.filter((place) => place !== problem.detail)].join(' ');
}

/** The receiver's address. */
const RECEIVER = '/v1/traces';
const PROBLEM = 'application/problem+json';

/**
 * An answer of whatever stands before the receiver (guards, gate, router) as an exporter reads it; answers to other
 * addresses, and those that are no problem, as they are.
 */
export function toldToExporter(
  answer: Outgoing,
  { path, contentType }: { readonly path: string; readonly contentType: string | undefined },
): Outgoing {
  const { status, headers, body } = answer;
  if (path !== RECEIVER || headers['content-type'] !== PROBLEM || typeof body !== 'string') return answer;
  const told = statusAnswer(encodingOf(contentType), status, sentenceOf(JSON.parse(body)));
  return { ...told, headers: { ...headers, ...told.headers } };
}

const whole = (
  status: number,
  encoding: OtlpEncoding,
  body: string | Uint8Array,
  more: Readonly<Record<string, string>> = {},
): Outgoing => ({
  status,
  headers: { 'content-type': TYPES[encoding], 'cache-control': 'no-store', ...more },
  body,
});

const VARINT = 0;
const BYTES = 2;

/** What is not set is not written. */
const varintField = (field: number, value: number): Uint8Array =>
  value === 0 ? new Uint8Array() : Uint8Array.from([(field << 3) | VARINT, ...varint(value)]);

const textField = (field: number, text: string): Uint8Array =>
  text === '' ? new Uint8Array() : bytesField(field, new TextEncoder().encode(text));

const bytesField = (field: number, bytes: Uint8Array): Uint8Array =>
  join([Uint8Array.from([(field << 3) | BYTES, ...varint(bytes.byteLength)]), bytes]);

function varint(value: number): readonly number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80);
  return [...bytes, rest];
}

const join = (parts: readonly Uint8Array[]): Uint8Array => new Uint8Array(Buffer.concat(parts));
