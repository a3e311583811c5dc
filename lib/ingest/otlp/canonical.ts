import { type FileJson, isList, isObject } from '@/lib/ingest/json';
import { type Field, type Message, type Scalar, SPAN_KINDS, STATUS_CODES } from './fields';

/*
 * One form for a message, whatever wrote it: members in code-unit order, zero values of known fields left out as
 * protobuf leaves them out, ids lower-case hexadecimal, 64-bit integers decimal strings, enums numbers, bytes base64.
 * Members that the tables do not know stay as they came. What does not fit its field stays as it came too, and is told.
 */

/** A member that is not what its field says. `path` from the message on, `.traceId` or `.attributes[2].value`. */
export interface Misfit {
  readonly path: string;
  readonly message: string;
}

interface Unfit {
  readonly unfit: string;
}
type Read = { readonly value: FileJson | undefined } | Unfit;

const isUnfit = (read: Read): read is Unfit => 'unfit' in read;
const unfit = (message: string): Unfit => ({ unfit: message });
const member = (value: FileJson | undefined): Read => ({ value });

/** The message in its one form; never throws. O(size). */
export function canonical(
  message: Message,
  value: { readonly [key: string]: FileJson },
  path: string,
  misfits: Misfit[],
): { readonly [key: string]: FileJson } {
  const known = namesOf(message);
  const members: [string, FileJson][] = [];
  for (const [key, inner] of Object.entries(value)) {
    const field = known.get(key);
    if (field === undefined) members.push([key, inner]);
    // proto3-JSON reads null as the field's zero value.
    else if (inner !== null) {
      const read = field.repeated
        ? listOf(field, inner, `${path}.${key}`, misfits)
        : one(field, inner, `${path}.${key}`, message.oneof === true, misfits);
      if (!isUnfit(read)) {
        if (read.value !== undefined) members.push([field.name, read.value]);
      } else {
        misfits.push({ path: `${path}.${key}`, message: read.unfit });
        members.push([field.name, inner]);
      }
    }
  }
  return Object.fromEntries(members.sort(([left], [right]) => (left < right ? -1 : left > right ? 1 : 0)));
}

const named = new Map<Message, ReadonlyMap<string, Field>>();

/** Its fields by the names that JSON may have for them. */
function namesOf(message: Message): ReadonlyMap<string, Field> {
  const known = named.get(message);
  if (known !== undefined) return known;
  const made = new Map(
    message.fields.flatMap((field) => [[field.name, field] as const, [snake(field.name), field] as const]),
  );
  named.set(message, made);
  return made;
}

const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

function listOf(field: Field, value: FileJson, path: string, misfits: Misfit[]): Read {
  if (!isList(value)) return unfit('is no list');
  const items = value.map((item, i): FileJson => {
    const read = one(field, item, `${path}[${i}]`, true, misfits);
    if (!isUnfit(read)) return read.value ?? {};
    misfits.push({ path: `${path}[${i}]`, message: read.unfit });
    return item;
  });
  return member(items.length === 0 ? undefined : items);
}

/** `keepZero`: the value says something by being there. */
function one(field: Field, value: FileJson, path: string, keepZero: boolean, misfits: Misfit[]): Read {
  const { type } = field;
  if (typeof type === 'string') {
    const read = scalars[type](value);
    return isUnfit(read) || keepZero || !isZero(read.value) ? read : member(undefined);
  }
  if (!isObject(value)) return unfit('is no object');
  const inner = canonical(type, value, path, misfits);
  return member(keepZero || Object.keys(inner).length > 0 ? inner : undefined);
}

const isZero = (value: FileJson | undefined): boolean =>
  value === '' || value === 0 || value === false || value === '0';

const MAX_UINT64 = 2n ** 64n - 1n;
const MAX_INT64 = 2n ** 63n - 1n;

const scalars: Readonly<Record<Scalar, (value: FileJson) => Read>> = {
  string: (value) => (typeof value === 'string' ? member(value) : unfit('is no text')),
  id: (value) => (typeof value === 'string' ? idOf(value) : unfit('is no id')),
  bytes: (value) => {
    const bytes = typeof value === 'string' ? fromBase64(value) : undefined;
    return bytes === undefined ? unfit('is no base64') : member(toBase64(bytes));
  },
  bool: (value) => (typeof value === 'boolean' ? member(value) : unfit('is neither true nor false')),
  double: (value) => doubleOf(value),
  int64: (value) => integerOf(value, -MAX_INT64 - 1n, MAX_INT64),
  fixed64: (value) => integerOf(value, 0n, MAX_UINT64),
  uint32: (value) => count(value),
  fixed32: (value) => count(value),
  spanKind: (value) => enumOf(value, SPAN_KINDS),
  statusCode: (value) => enumOf(value, STATUS_CODES),
};

/** Hexadecimal of an id; lengths are the business of who needs the id. */
function idOf(text: string): Read {
  if (/^(?:[0-9a-f]{2})*$/i.test(text) && (text.length === 32 || text.length === 16 || text === ''))
    return member(text.toLowerCase());
  const bytes = fromBase64(text);
  if (bytes !== undefined && (bytes.length === 16 || bytes.length === 8)) return member(hexOf(bytes));
  return /^(?:[0-9a-f]{2})*$/i.test(text)
    ? member(text.toLowerCase())
    : unfit('is neither hexadecimal nor base64');
}

function integerOf(value: FileJson, least: bigint, most: bigint): Read {
  let exact: bigint | undefined;
  if (typeof value === 'bigint') exact = value;
  else if (typeof value === 'number' && Number.isInteger(value)) exact = BigInt(value);
  else if (typeof value === 'string' && /^-?\d{1,20}$/.test(value)) exact = BigInt(value);
  return exact === undefined || exact < least || exact > most
    ? unfit('is no 64-bit integer')
    : member(exact.toString());
}

const count = (value: FileJson): Read => {
  const number = typeof value === 'string' && /^\d{1,10}$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isInteger(number) && number >= 0 && number < 2 ** 32
    ? member(number)
    : unfit('is no 32-bit count');
};

function enumOf(value: FileJson, names: readonly string[]): Read {
  const at = typeof value === 'string' ? names.indexOf(value) : value;
  if (typeof at === 'number' && Number.isInteger(at) && at >= 0) return member(at);
  return typeof value === 'string' ? member(value) : unfit('is no member of its enumeration');
}

const WORDS: ReadonlySet<string> = new Set(['NaN', 'Infinity', '-Infinity', '-0']);

function doubleOf(value: FileJson): Read {
  if (typeof value === 'bigint') return member(Number(value));
  if (typeof value === 'number') return member(writable(value));
  if (typeof value !== 'string') return unfit('is no number');
  if (WORDS.has(value)) return member(value);
  return value.trim() !== '' && Number.isFinite(Number(value))
    ? member(writable(Number(value)))
    : unfit('is no number');
}

/** JSON has no word for these. */
export const writable = (value: number): FileJson =>
  Object.is(value, -0) ? '-0' : Number.isFinite(value) ? value : String(value);

export const hexOf = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

export function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}

function fromBase64(text: string): Uint8Array | undefined {
  if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(text)) return undefined;
  return Buffer.from(text, 'base64');
}

/** JSON text of what a file said; integers of any size are written digit by digit. Members in the order they have. */
export function textOf(value: FileJson | undefined): string {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null);
  if (isList(value)) return `[${value.map(textOf).join(',')}]`;
  return `{${Object.entries(value)
    .map(([key, inner]) => `${JSON.stringify(key)}:${textOf(inner)}`)
    .join(',')}}`;
}
