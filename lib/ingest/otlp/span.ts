import type { EpochMs } from '@/lib/core/events/ids';
import { epochMs } from '@/lib/core/events/ids';
import { type FileJson, isList, isObject, parseJson, textOf } from '@/lib/ingest/json';

/* A span as the assembling reads it. What does not fit is as if it were not there: `split` has told it. */

/** Nanoseconds since the epoch, exactly: whole milliseconds and what is left of them. */
export interface Instant {
  readonly ms: EpochMs;
  readonly ns: number;
}

/** What an attribute can hold, as plain values. */
export type Plain =
  | null
  | string
  | number
  | bigint
  | boolean
  | Uint8Array
  | readonly Plain[]
  | { readonly [key: string]: Plain };

export type Attributes = ReadonlyMap<string, Plain>;

export interface SpanEvent {
  readonly name: string;
  readonly attributes: Attributes;
}

export interface Span {
  readonly id: string;
  readonly parentId: string | undefined;
  readonly name: string;
  readonly kind: FileJson | undefined;
  readonly start: Instant | undefined;
  /** Absent: it had not ended when it was sent. */
  readonly end: Instant | undefined;
  readonly attributes: Attributes;
  readonly events: readonly SpanEvent[];
  readonly failed: boolean;
  readonly statusMessage: string;
  readonly service: string | undefined;
  readonly scopeName: string;
  /** The part as it is kept. */
  readonly whole: Members;
}

type Members = { readonly [key: string]: FileJson };

const utf8 = new TextDecoder();
const FAILED = 2;

/** `undefined` for a body that `split` did not write. */
export function spanOf(id: string, body: Uint8Array, maxDepth: number): Span | undefined {
  // A part is nested no deeper than the file was, but for what a few names around it add.
  const parsed = parseJson(utf8.decode(body), maxDepth + 16, '$');
  const whole = parsed.ok && isObject(parsed.value) ? parsed.value : undefined;
  const span = whole === undefined ? undefined : membersOf(whole['span']);
  if (whole === undefined || span === undefined) return undefined;
  const status = membersOf(span['status']) ?? {};
  const parentId = textOf(span['parentSpanId']);
  const service = attributesOf(membersOf(whole['resource'])?.['attributes']).get('service.name');
  return {
    id,
    parentId: parentId !== undefined && /[^0]/.test(parentId) ? parentId : undefined,
    name: textOf(span['name']) ?? '',
    kind: span['kind'],
    start: instantOf(span['startTimeUnixNano']),
    end: instantOf(span['endTimeUnixNano']),
    attributes: attributesOf(span['attributes']),
    events: listOf(span['events']).flatMap((event) => {
      const members = membersOf(event);
      return members === undefined
        ? []
        : [{ name: textOf(members['name']) ?? '', attributes: attributesOf(members['attributes']) }];
    }),
    failed: status['code'] === FAILED,
    statusMessage: textOf(status['message']) ?? '',
    service: typeof service === 'string' && service !== '' ? service : undefined,
    scopeName: textOf(membersOf(whole['scope'])?.['name']) ?? '',
    whole,
  };
}

const membersOf = (value: FileJson | undefined): Members | undefined => (isObject(value) ? value : undefined);
const listOf = (value: FileJson | undefined): readonly FileJson[] => (isList(value) ? value : []);

const NS_IN_MS = 1_000_000n;

function instantOf(value: FileJson | undefined): Instant | undefined {
  const digits = textOf(value);
  if (digits === undefined || !/^\d{1,20}$/.test(digits)) return undefined;
  const nanos = BigInt(digits);
  return nanos === 0n ? undefined : { ms: epochMs(Number(nanos / NS_IN_MS)), ns: Number(nanos % NS_IN_MS) };
}

export const compareInstants = (left: Instant, right: Instant): number =>
  left.ms - right.ms || left.ns - right.ns;
export const laterOf = (left: Instant, right: Instant): Instant =>
  compareInstants(left, right) >= 0 ? left : right;

/** The first of a key counts. */
function attributesOf(value: FileJson | undefined): Attributes {
  const attributes = new Map<string, Plain>();
  for (const one of listOf(value)) {
    const members = membersOf(one);
    const key = textOf(members?.['key']);
    if (key !== undefined && !attributes.has(key)) attributes.set(key, plainOf(members?.['value']));
  }
  return attributes;
}

/** An attribute's value without the names of its types. */
export function plainOf(value: FileJson | undefined): Plain {
  const members = membersOf(value);
  const [[type, inner] = ['', undefined]] = Object.entries(members ?? {});
  switch (type) {
    case 'stringValue':
      return textOf(inner) ?? null;
    case 'boolValue':
      return inner === true;
    case 'intValue':
      return integerOf(textOf(inner));
    case 'doubleValue':
      return typeof inner === 'number' ? inner : Number(inner);
    case 'arrayValue':
      return listOf(membersOf(inner)?.['values']).map(plainOf);
    case 'kvlistValue':
      return Object.fromEntries(attributesOf(membersOf(inner)?.['values']));
    case 'bytesValue':
      return new Uint8Array(Buffer.from(textOf(inner) ?? '', 'base64'));
    default:
      return null;
  }
}

function integerOf(digits: string | undefined): Plain {
  if (digits === undefined || !/^-?\d{1,20}$/.test(digits)) return null;
  const value = Number(digits);
  return Number.isSafeInteger(value) ? value : BigInt(digits);
}

/** JSON that a text holds; the text itself where it holds none, or is nested deeper than is read. */
export function jsonIn(text: string, maxDepth: number): FileJson {
  if (!/^\s*[[{"\-\dtfn]/.test(text)) return text;
  const parsed = parseJson(text, maxDepth, '$');
  return parsed.ok ? parsed.value : text;
}
