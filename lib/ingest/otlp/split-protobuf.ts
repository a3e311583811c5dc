import { fail, ok, type Result } from '@/lib/core/shared/result';
import type { FileJson } from '@/lib/ingest/json';
import type { ImportProblem } from '@/lib/usecases/ports';
import { type Collected, nothingYet, reject, type Surroundings, surroundings, take } from './collect';
import { AROUND, RESOURCE, SCOPE } from './fields';
import { fieldsOf, messageAt, type RawField, spanAt, Unreadable, unknownField } from './protobuf';

/*
 * OTLP as protobuf. A span that cannot be read is told and left out; bytes that are torn, or wrong around the spans, are
 * refused whole: nothing says then where the next span begins.
 */

type Members = { readonly [key: string]: FileJson };

const LENGTH_DELIMITED = 2;
/** Levels of JSON from the request to a span: the request, three lists, and what is in them. */
const SPAN_LEVEL = 7;

interface Reading {
  readonly bytes: Uint8Array;
  readonly maxDepth: number;
  readonly into: Collected;
}

export function splitProtobuf(bytes: Uint8Array, maxDepth: number): Result<Collected, ImportProblem> {
  const reading: Reading = { bytes, maxDepth, into: nothingYet() };
  let path = '$';
  let told = 0;
  let n = 0;
  try {
    for (const field of fieldsOf(bytes, 0, bytes.length)) {
      if (field.number !== AROUND.request.resourceSpans || field.wire !== LENGTH_DELIMITED) {
        told += 1;
        continue;
      }
      path = `resourceSpans[${n}]`;
      n += 1;
      readResource(reading, field, path);
    }
  } catch (thrown) {
    if (!(thrown instanceof Unreadable)) throw thrown;
    return fail({
      kind: 'malformed',
      path: `${path}, byte ${thrown.at}`,
      message: `no OTLP trace request in protobuf: ${thrown.message}`,
    });
  }
  const { into } = reading;
  if (told > 0 && into.parts.length === 0 && into.rejected === 0) {
    return fail({
      kind: 'malformed',
      path: '$',
      message: `no OTLP trace request in protobuf: ${told} fields, none of which holds spans`,
    });
  }
  if (told > 0)
    into.warnings.push({ path: '$', message: `not read: ${told} fields that a trace request does not have` });
  return ok(into);
}

/** What is around the spans of a resource or scope: the message that names it, an address, and what is not known. */
function around(
  { bytes, maxDepth }: Reading,
  fields: readonly RawField[],
  of: {
    readonly number: number;
    readonly message: typeof RESOURCE;
    readonly schemaUrl: number;
    readonly spans: number;
  },
  level: number,
): { readonly own: Members; readonly rest: Members } {
  let own: Members = {};
  const rest: [string, FileJson][] = [];
  const unknown: FileJson[] = [];
  for (const field of fields) {
    if (field.wire !== LENGTH_DELIMITED) unknown.push(unknownField(bytes, field));
    else if (field.number === of.number) own = messageAt(bytes, of.message, field, maxDepth - level);
    else if (field.number === of.schemaUrl) {
      const url = new TextDecoder().decode(bytes.subarray(field.from, field.to));
      if (url !== '') rest.push(['schemaUrl', url]);
    } else if (field.number !== of.spans) unknown.push(unknownField(bytes, field));
  }
  if (unknown.length > 0) rest.push(['unknownFields', unknown]);
  return { own, rest: Object.fromEntries(rest) };
}

function readResource(reading: Reading, range: RawField, path: string): void {
  const fields = [...fieldsOf(reading.bytes, range.from, range.to)];
  const { resource, scopeSpans, schemaUrl } = AROUND.resourceSpans;
  const { own, rest } = around(
    reading,
    fields,
    { number: resource, message: RESOURCE, schemaUrl, spans: scopeSpans },
    4,
  );
  let n = 0;
  for (const field of fields) {
    if (field.number !== scopeSpans || field.wire !== LENGTH_DELIMITED) continue;
    readScope(reading, field, { resource: own, resourceSpans: rest }, `${path}.scopeSpans[${n}]`);
    n += 1;
  }
}

function readScope(
  reading: Reading,
  range: RawField,
  outer: Pick<Surroundings, 'resource' | 'resourceSpans'>,
  path: string,
): void {
  const { bytes, maxDepth, into } = reading;
  const fields = [...fieldsOf(bytes, range.from, range.to)];
  const { scope, spans, schemaUrl } = AROUND.scopeSpans;
  const { own, rest } = around(reading, fields, { number: scope, message: SCOPE, schemaUrl, spans }, 6);
  const inside = surroundings({ ...outer, scope: own, scopeSpans: rest }, path, into);
  let n = 0;
  for (const field of fields) {
    if (field.number !== spans || field.wire !== LENGTH_DELIMITED) continue;
    const at = `${path}.spans[${n}]`;
    n += 1;
    try {
      take(spanAt(bytes, field, maxDepth - SPAN_LEVEL), inside, at, into);
    } catch (thrown) {
      if (!(thrown instanceof Unreadable)) throw thrown;
      reject(into, `${at}, byte ${thrown.at}`, thrown.message);
    }
  }
}
