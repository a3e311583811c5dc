import { canonicalJson, type Json } from '../shared/canonical-json';
import { fail, ok, type Result } from '../shared/result';
import type { Sha256 } from './ids';
import type { Hash } from './payload';

/*
 * Values as JSON text. What JSON has no word for is tagged `{"$rerail":"<tag>", …}`; an object that owns a key `$rerail`
 * is wrapped as `{"$rerail":"object","value":{…}}`, so that decoding never mistakes it. Everything else is refused with
 * its path: a value is recorded faithfully or not at all. Errors keep class, name, message and cause, not the stack,
 * which would make equal results differ from one machine to another.
 */

/** Why a value cannot be recorded, and where: `$.a[3].b`. Map entries are `[n][0]` (key) and `[n][1]` (value). */
export interface UnrecordableValue {
  readonly path: string;
  readonly why: string;
}

const MAX_DEPTH = 1_000;

/** JSON text of any recordable value, key order kept. */
export function encodeValue(value: unknown): Result<string, UnrecordableValue> {
  try {
    return ok(write(value, { path: '$', depth: 0, above: new Set() }));
  } catch (thrown) {
    if (thrown instanceof Unrecordable) return fail({ path: thrown.path, why: thrown.message });
    throw thrown;
  }
}

/** Inverts `encodeValue`. Throws on text that it did not write: an unknown tag or no JSON. */
export function decodeValue(text: string): unknown {
  return revive(JSON.parse(text));
}

/** Digest of the canonical form of JSON text: key order and white space do not matter. */
export function digestOf(text: string, hash: Hash): Sha256 {
  return hash(canonicalJson(JSON.parse(text) as Json));
}

class Unrecordable extends Error {
  constructor(
    readonly path: string,
    why: string,
  ) {
    super(why);
  }
}

interface Place {
  readonly path: string;
  readonly depth: number;
  readonly above: Set<object>;
}

const errorClasses = {
  Error,
  EvalError,
  RangeError,
  ReferenceError,
  SyntaxError,
  TypeError,
  URIError,
} as const;
const arrayClasses = {
  Uint8Array,
  Uint8ClampedArray,
  Uint16Array,
  Uint32Array,
  Int8Array,
  Int16Array,
  Int32Array,
  Float32Array,
  Float64Array,
  BigInt64Array,
  BigUint64Array,
} as const;

function write(value: unknown, place: Place): string {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return JSON.stringify(value);
    case 'number':
      if (Object.is(value, -0)) return tag('number', '"-0"');
      return Number.isFinite(value) ? JSON.stringify(value) : tag('number', `"${value}"`);
    case 'bigint':
      return tag('bigint', `"${value}"`);
    case 'undefined':
      return '{"$rerail":"undefined"}';
    case 'function':
      throw new Unrecordable(place.path, `a function${value.name ? ` (${value.name})` : ''}`);
    case 'symbol':
      throw new Unrecordable(place.path, 'a symbol');
    case 'object':
      return value === null ? 'null' : writeObject(value, place);
    default:
      throw new Unrecordable(place.path, `a ${typeof value}`);
  }
}

function writeObject(value: object, place: Place): string {
  if (place.above.has(value))
    throw new Unrecordable(place.path, 'a reference back to an object that holds it');
  if (place.depth >= MAX_DEPTH) throw new Unrecordable(place.path, `nested more than ${MAX_DEPTH} deep`);
  place.above.add(value);
  const text = writeKnown(value, place);
  place.above.delete(value);
  return text;
}

function writeKnown(value: object, place: Place): string {
  const below = (part: string): Place => ({
    path: place.path + part,
    depth: place.depth + 1,
    above: place.above,
  });
  const proto: unknown = Object.getPrototypeOf(value);
  if (Array.isArray(value)) {
    if (proto !== Array.prototype) throw instanceOf(value, place);
    if (Object.keys(value).length !== value.length) {
      throw new Unrecordable(place.path, 'an array with holes or named properties');
    }
    return `[${value.map((item, i) => write(item, below(`[${i}]`))).join(',')}]`;
  }
  if (proto === null || proto === Object.prototype) return writeMembers(value, place, below);
  if (value instanceof Date && proto === Date.prototype) {
    const ms = value.getTime();
    return tag('date', Number.isNaN(ms) ? '"invalid"' : String(ms));
  }
  if (value instanceof Map && proto === Map.prototype) {
    const entries = [...value].map(
      ([key, item], i) => `[${write(key, below(`[${i}][0]`))},${write(item, below(`[${i}][1]`))}]`,
    );
    return tag('map', `[${entries.join(',')}]`);
  }
  if (value instanceof Set && proto === Set.prototype) {
    return tag('set', `[${[...value].map((item, i) => write(item, below(`[${i}]`))).join(',')}]`);
  }
  if (value instanceof RegExp && proto === RegExp.prototype) {
    return `{"$rerail":"regexp","source":${JSON.stringify(value.source)},"flags":"${value.flags}"}`;
  }
  if (typeof URL === 'function' && value instanceof URL) return tag('url', JSON.stringify(value.href));
  const bytes = bytesOf(value);
  if (bytes) return `{"$rerail":"bytes","as":"${bytes.as}","value":"${toBase64(bytes.view)}"}`;
  if (value instanceof Error) return writeError(value, proto, place, below);
  throw instanceOf(value, place);
}

function writeMembers(value: object, place: Place, below: (part: string) => Place): string {
  const own = value as Readonly<Record<string, unknown>>;
  if (Object.getOwnPropertySymbols(value).length > 0)
    throw new Unrecordable(place.path, 'an object with a symbol as key');
  const members = Object.keys(own).map(
    (key) => `${JSON.stringify(key)}:${write(own[key], below(member(key)))}`,
  );
  const text = `{${members.join(',')}}`;
  return Object.hasOwn(own, '$rerail') ? tag('object', text) : text;
}

function writeError(value: Error, proto: unknown, place: Place, below: (part: string) => Place): string {
  const known = Object.entries(errorClasses).find(([, Class]) => Class.prototype === proto);
  const extra = Object.keys(value).filter((key) => key !== 'name');
  if (!known) throw instanceOf(value, place);
  if (extra.length > 0)
    throw new Unrecordable(place.path + member(extra[0] ?? ''), 'a property added to an error');
  const cause = Object.hasOwn(value, 'cause') ? `,"cause":${write(value.cause, below('.cause'))}` : '';
  return `{"$rerail":"error","class":"${known[0]}","name":${JSON.stringify(value.name)},"message":${JSON.stringify(value.message)}${cause}}`;
}

function bytesOf(value: object): { readonly as: string; readonly view: Uint8Array } | undefined {
  if (value instanceof ArrayBuffer) return { as: 'ArrayBuffer', view: new Uint8Array(value) };
  // A subclass of Uint8Array, such as Node's Buffer, holds nothing but its bytes.
  if (value instanceof Uint8Array) return { as: 'Uint8Array', view: value };
  if (!ArrayBuffer.isView(value)) return undefined;
  const as = Object.entries(arrayClasses).find(([, Class]) => value instanceof Class)?.[0];
  return as ? { as, view: new Uint8Array(value.buffer, value.byteOffset, value.byteLength) } : undefined;
}

const tag = (name: string, value: string): string => `{"$rerail":"${name}","value":${value}}`;
const member = (key: string): string =>
  /^[A-Za-z_$][\w$]*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;

function instanceOf(value: object, place: Place): Unrecordable {
  const name: unknown = value.constructor?.name;
  return new Unrecordable(
    place.path,
    `an instance of ${typeof name === 'string' && name !== '' ? name : 'a class'}`,
  );
}

function toBase64(bytes: Uint8Array): string {
  const parts: string[] = [];
  for (let i = 0; i < bytes.length; i += 0x8000)
    parts.push(String.fromCharCode(...bytes.subarray(i, i + 0x8000)));
  return btoa(parts.join(''));
}

const fromBase64 = (text: string): Uint8Array => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));

function revive(raw: unknown): unknown {
  if (raw === null || typeof raw !== 'object') return raw;
  if (Array.isArray(raw)) return raw.map(revive);
  const own = raw as Readonly<Record<string, unknown>>;
  return Object.hasOwn(own, '$rerail') ? reviveTagged(own) : reviveMembers(own);
}

function reviveMembers(own: Readonly<Record<string, unknown>>): unknown {
  const value: Record<string, unknown> = {};
  for (const key of Object.keys(own)) {
    // Assigning to `__proto__` would set the prototype.
    if (key === '__proto__') {
      Object.defineProperty(value, key, {
        value: revive(own[key]),
        writable: true,
        enumerable: true,
        configurable: true,
      });
    } else value[key] = revive(own[key]);
  }
  return value;
}

function reviveTagged(own: Readonly<Record<string, unknown>>): unknown {
  const name = own['$rerail'];
  const value = own['value'];
  switch (name) {
    case 'number':
      return Number(value);
    case 'bigint':
      return BigInt(String(value));
    case 'undefined':
      return undefined;
    case 'date':
      return new Date(typeof value === 'number' ? value : Number.NaN);
    case 'map':
      return new Map(
        (value as readonly (readonly [unknown, unknown])[]).map(([k, v]) => [revive(k), revive(v)]),
      );
    case 'set':
      return new Set((value as readonly unknown[]).map(revive));
    case 'regexp':
      return new RegExp(String(own['source']), String(own['flags']));
    case 'url':
      return new URL(String(value));
    case 'bytes':
      return reviveBytes(String(own['as']), fromBase64(String(value)));
    case 'error':
      return reviveError(own);
    case 'object':
      return reviveMembers(value as Readonly<Record<string, unknown>>);
    default:
      throw new Error(`Unknown value tag ${JSON.stringify(name)}: written by a newer version?`);
  }
}

function reviveBytes(as: string, bytes: Uint8Array): unknown {
  if (as === 'Uint8Array') return bytes;
  if (as === 'ArrayBuffer') return bytes.buffer;
  const Class = arrayClasses[as as keyof typeof arrayClasses];
  if (!Class) throw new Error(`Unknown kind of bytes ${JSON.stringify(as)}`);
  return new Class(bytes.buffer as ArrayBuffer);
}

function reviveError(own: Readonly<Record<string, unknown>>): Error {
  const Class = errorClasses[own['class'] as keyof typeof errorClasses] ?? Error;
  const error = new Class(
    String(own['message']),
    Object.hasOwn(own, 'cause') ? { cause: revive(own['cause']) } : {},
  );
  if (error.name !== own['name']) {
    Object.defineProperty(error, 'name', {
      value: String(own['name']),
      writable: true,
      enumerable: false,
      configurable: true,
    });
  }
  error.stack = `${error.name}: ${error.message}`;
  return error;
}
