import protobuf from 'protobufjs/minimal.js';
import type { FileJson } from '@/lib/ingest/json';
import { hexOf, toBase64, writable } from './canonical';
import { type Field, type Message, SPAN } from './fields';

/*
 * Protobuf by the tables of `fields.ts`, with protobufjs' reader and no generated code. A message becomes what its JSON
 * would say; fields that the tables do not know are kept as `unknownFields`.
 */

/** What cannot be read, with the byte where it stands. */
export class Unreadable extends Error {
  constructor(
    readonly at: number,
    message: string,
  ) {
    super(message);
  }
}

const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const FIXED32 = 5;

/** One field of a message as it lies in the bytes. `from` and `to` delimit what a length-delimited one holds. */
export interface RawField {
  readonly number: number;
  readonly wire: number;
  readonly from: number;
  readonly to: number;
}

/** The fields between two offsets, in their order. Throws `Unreadable` where they are none. */
export function* fieldsOf(bytes: Uint8Array, from: number, to: number): Generator<RawField> {
  const reader = protobuf.Reader.create(bytes);
  reader.pos = from;
  while (reader.pos < to) {
    const at = reader.pos;
    const tag = reading(at, () => reader.uint32());
    const number = tag >>> 3;
    const wire = tag & 7;
    if (number === 0) throw new Unreadable(at, 'a field without a number');
    let begin = reader.pos;
    let end: number;
    switch (wire) {
      case VARINT:
        end = varintEnd(bytes, begin, to);
        break;
      case FIXED64:
        end = begin + 8;
        break;
      case BYTES: {
        const length = reading(at, () => reader.uint32());
        begin = reader.pos;
        end = begin + length;
        break;
      }
      case FIXED32:
        end = begin + 4;
        break;
      default:
        throw new Unreadable(at, `a field of wire type ${wire}, which OTLP does not use`);
    }
    if (end > to)
      throw new Unreadable(at, `a field of ${end - begin} bytes where ${Math.max(0, to - begin)} are left`);
    yield { number, wire, from: begin, to: end };
    reader.pos = end;
  }
}

function reading<Value>(at: number, read: () => Value): Value {
  try {
    return read();
  } catch {
    throw new Unreadable(at, 'the bytes end within a field');
  }
}

const LONGEST_VARINT = 10;

function varintEnd(bytes: Uint8Array, from: number, to: number): number {
  const last = Math.min(to, from + LONGEST_VARINT);
  for (let at = from; at < last; at += 1) if ((bytes[at] ?? 0) < 0x80) return at + 1;
  throw new Unreadable(
    from,
    last === to ? 'the bytes end within a number' : 'a number of more than ten bytes',
  );
}

function varint(bytes: Uint8Array, { from, to }: RawField): bigint {
  let value = 0n;
  for (let at = to - 1; at >= from; at -= 1) value = (value << 7n) | BigInt((bytes[at] ?? 0) & 0x7f);
  return BigInt.asUintN(64, value);
}

const viewOf = (bytes: Uint8Array, { from }: RawField) => new DataView(bytes.buffer, bytes.byteOffset + from);

/** Nesting is counted as it would be in JSON: a list is a level too. */
export function messageAt(
  bytes: Uint8Array,
  message: Message,
  range: Pick<RawField, 'from' | 'to'>,
  depth: number,
): { readonly [key: string]: FileJson } {
  if (depth < 0) throw new Unreadable(range.from, 'nested deeper than the limit "depth"');
  const members = new Map<string, FileJson>();
  const unknown: FileJson[] = [];
  for (const raw of fieldsOf(bytes, range.from, range.to)) {
    const field = byNumber(message).get(raw.number);
    const value = field === undefined ? undefined : fieldValue(bytes, field, raw, depth);
    if (field === undefined || value === undefined) unknown.push(unknownField(bytes, raw));
    else if (field.repeated) {
      const list = members.get(field.name);
      if (Array.isArray(list)) list.push(value);
      else members.set(field.name, [value]);
    } else {
      // The last one of a choice counts, and of a field that came twice.
      if (message.oneof) members.clear();
      members.set(field.name, value);
    }
  }
  return { ...Object.fromEntries(members), ...(unknown.length > 0 ? { unknownFields: unknown } : {}) };
}

const numbered = new Map<Message, ReadonlyMap<number, Field>>();

function byNumber(message: Message): ReadonlyMap<number, Field> {
  const known = numbered.get(message);
  if (known !== undefined) return known;
  const made = new Map(message.fields.map((field) => [field.number, field]));
  numbered.set(message, made);
  return made;
}

export const unknownField = (bytes: Uint8Array, raw: RawField): FileJson => ({
  number: raw.number,
  wireType: raw.wire,
  value: toBase64(bytes.subarray(raw.from, raw.to)),
});

/** `undefined` where the field has another wire type than it should: it is unknown then. */
function fieldValue(bytes: Uint8Array, field: Field, raw: RawField, depth: number): FileJson | undefined {
  const { type } = field;
  if (typeof type !== 'string')
    return raw.wire === BYTES ? messageAt(bytes, type, raw, depth - (field.repeated ? 2 : 1)) : undefined;
  switch (type) {
    case 'string':
      return raw.wire === BYTES ? utf8(bytes, raw) : undefined;
    case 'id':
      return raw.wire === BYTES ? hexOf(bytes.subarray(raw.from, raw.to)) : undefined;
    case 'bytes':
      return raw.wire === BYTES ? toBase64(bytes.subarray(raw.from, raw.to)) : undefined;
    case 'bool':
      return raw.wire === VARINT ? varint(bytes, raw) !== 0n : undefined;
    case 'double':
      return raw.wire === FIXED64 ? writable(viewOf(bytes, raw).getFloat64(0, true)) : undefined;
    case 'int64':
      return raw.wire === VARINT ? BigInt.asIntN(64, varint(bytes, raw)).toString() : undefined;
    case 'fixed64':
      return raw.wire === FIXED64 ? viewOf(bytes, raw).getBigUint64(0, true).toString() : undefined;
    case 'uint32':
    case 'spanKind':
    case 'statusCode':
      return raw.wire === VARINT ? Number(BigInt.asUintN(32, varint(bytes, raw))) : undefined;
    case 'fixed32':
      return raw.wire === FIXED32 ? viewOf(bytes, raw).getUint32(0, true) : undefined;
  }
}

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function utf8(bytes: Uint8Array, { from, to }: RawField): string {
  try {
    return strict.decode(bytes.subarray(from, to));
  } catch {
    throw new Unreadable(from, 'text that is not UTF-8');
  }
}

export const spanAt = (bytes: Uint8Array, range: RawField, depth: number) =>
  messageAt(bytes, SPAN, range, depth);
