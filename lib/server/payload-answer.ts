import type { Codec, Payload } from '@/lib/core/events/payload';
import type { Incoming, Outgoing } from './http';
import { problemAnswer } from './problems';

/** What a browser may make of a payload: never a page, never a script. */
const contentType = {
  json: 'application/json',
  text: 'text/plain; charset=utf-8',
  bytes: 'application/octet-stream',
} as const satisfies Record<Codec, string>;

/** A payload's bytes. They are addressed by their digest, so a copy is good for ever; one byte range may be asked for. */
export function payloadAnswer(payload: Payload, request: Incoming): Outgoing {
  const etag = `"${payload.sha256}"`;
  const headers = {
    'content-type': contentType[payload.codec],
    'content-disposition': payload.codec === 'bytes' ? 'attachment' : 'inline',
    'content-security-policy': "default-src 'none'; sandbox",
    'cache-control': 'private, max-age=31536000, immutable',
    'accept-ranges': 'bytes',
    etag,
  };
  if (isKnown(request.header('if-none-match'), etag)) return { status: 304, headers, body: undefined };
  const range = rangeOf(request.header('range'), payload.body.byteLength);
  if (range === undefined) return { status: 200, headers, body: payload.body };
  if (range === 'none') {
    const problem = { kind: 'range-not-satisfiable', bytes: payload.body.byteLength };
    return problemAnswer(problem, 416, { 'content-range': `bytes */${payload.body.byteLength}` });
  }
  const { first, last } = range;
  return {
    status: 206,
    headers: { ...headers, 'content-range': `bytes ${first}-${last}/${payload.body.byteLength}` },
    body: payload.body.subarray(first, last + 1),
  };
}

/** `*`, or a list in which the tag stands, weak or strong (RFC 9110 §13.1.2). */
const isKnown = (header: string | undefined, etag: string): boolean =>
  header?.split(',').some((tag) => [etag, '*'].includes(tag.trim().replace(/^W\//, ''))) ?? false;

/** One range of RFC 9110 §14; several, one that ends before it begins, or another unit count as not asked for. */
function rangeOf(
  header: string | undefined,
  size: number,
): { readonly first: number; readonly last: number } | 'none' | undefined {
  const asked = /^bytes=(\d*)-(\d*)$/.exec(header ?? '');
  if (asked === null || (asked[1] === '' && asked[2] === '')) return undefined;
  const suffix = asked[1] === '';
  const first = suffix ? Math.max(0, size - Number(asked[2])) : Number(asked[1]);
  if (!suffix && asked[2] !== '' && Number(asked[2]) < first) return undefined;
  const last = suffix || asked[2] === '' ? size - 1 : Math.min(size - 1, Number(asked[2]));
  return first > last ? 'none' : { first, last };
}
