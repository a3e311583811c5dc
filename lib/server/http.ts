import { isUtf8 } from 'node:buffer';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { fail, ok, type Result } from '@/lib/core/shared/result';
import type { BodyPace, Place } from './body-pace';
import type { Principal } from './principal';

/** A request as endpoints see it, whether it came through Next or straight from `node:http`. */
export interface Incoming {
  readonly method: string;
  /** Path parameters, decoded. */
  readonly params: Readonly<Record<string, string>>;
  /** Text after `?`, without it. */
  readonly search: string;
  readonly header: (name: string) => string | undefined;
  /** Bytes as they were sent, at most `limit` of them, in `pace`; what they take of `place` is the caller's to leave. */
  readonly read: (limit: number, pace: BodyPace, place?: Place) => Promise<Result<Uint8Array, EdgeProblem>>;
  /** Aborts when the client has gone. */
  readonly signal: AbortSignal;
  /** The remote address; undefined where it is not known. */
  readonly peer?: string | undefined;
  /** Who asks; undefined where nobody is signed in, which only `openEndpoint`s answer. */
  readonly principal: Principal | undefined;
}

export interface Outgoing {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | ReadableStream<Uint8Array> | undefined;
}

/** What is refused before a use-case is asked. */
export type EdgeProblem =
  | {
      readonly kind: 'invalid-request';
      readonly errors: readonly { readonly path: string; readonly message: string }[];
    }
  | {
      readonly kind: 'body-too-large';
      readonly limit: 'body' | 'decompressed body';
      readonly limitBytes: number;
    }
  | { readonly kind: 'too-deep'; readonly limitDepth: number }
  | {
      readonly kind: 'unsupported-media-type';
      readonly contentType: string;
      readonly accepted: readonly string[];
    }
  | { readonly kind: 'unsupported-encoding'; readonly contentEncoding: string }
  | { readonly kind: 'body-stalled'; readonly idleMs: number }
  | { readonly kind: 'body-too-slow'; readonly leastBytesPerSecond: number }
  | { readonly kind: 'no-room'; readonly retryAfterSeconds: number }
  | { readonly kind: 'client-gone' };

export interface BodyLimits extends BodyPace {
  readonly bodyBytes: number;
  readonly unzippedBytes: number;
  readonly jsonDepth: number;
}

const unzip = promisify(gunzip);

/** The request's body, unpacked where it came gzipped. */
export async function readBody(
  incoming: Incoming,
  limits: BodyLimits,
): Promise<Result<Uint8Array, EdgeProblem>> {
  const raw = await incoming.read(limits.bodyBytes, limits);
  if (!raw.ok) return raw;
  const encoding = incoming.header('content-encoding')?.trim().toLowerCase();
  if (encoding === undefined || encoding === '' || encoding === 'identity') return raw;
  if (encoding !== 'gzip' && encoding !== 'x-gzip') {
    return fail({ kind: 'unsupported-encoding', contentEncoding: encoding });
  }
  try {
    return ok(await unzip(raw.value, { maxOutputLength: limits.unzippedBytes }));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE') {
      return fail({ kind: 'body-too-large', limit: 'decompressed body', limitBytes: limits.unzippedBytes });
    }
    return fail(invalid('', 'the body is not valid gzip'));
  }
}

export const invalid = (path: string, message: string): EdgeProblem => ({
  kind: 'invalid-request',
  errors: [{ path, message }],
});

const jsonTypes = /^application\/(?:[\w.+-]+\+)?json$/;

/** `undefined` where the header names JSON, else the refusal. */
export function refuseUnlessJson(contentType: string | undefined): EdgeProblem | undefined {
  const media = mediaType(contentType);
  if (jsonTypes.test(media)) return undefined;
  return { kind: 'unsupported-media-type', contentType: media, accepted: ['application/json'] };
}

export const mediaType = (contentType: string | undefined): string =>
  (contentType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';

/** JSON out of bytes. Depth is judged before parsing, so that no recursive reader meets a deep value. */
export function parseJson(bytes: Uint8Array, maxDepth: number): Result<unknown, EdgeProblem> {
  if (!isUtf8(bytes)) return fail(invalid('', 'the body is not UTF-8'));
  if (deeperThan(bytes, maxDepth)) return fail({ kind: 'too-deep', limitDepth: maxDepth });
  try {
    return ok(
      JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')) as unknown,
    );
  } catch (error) {
    return fail(
      invalid('', `the body is not JSON: ${error instanceof Error ? error.message : String(error)}`),
    );
  }
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Whether arrays and objects nest deeper than `limit`; brackets inside texts do not count. O(bytes). */
function deeperThan(bytes: Uint8Array, limit: number): boolean {
  let depth = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      at = endOfText(bytes, at);
    } else if (byte === 0x7b || byte === 0x5b) {
      depth++;
      if (depth > limit) return true;
    } else if (byte === 0x7d || byte === 0x5d) depth--;
  }
  return false;
}

/** So long a text is looked through byte by byte: a call of the native search costs more. */
const SHORT_TEXT = 80;

/** Index of the quote that ends the text begun at `start`; the native search makes long texts cheap. */
function endOfText(bytes: Uint8Array, start: number): number {
  const near = Math.min(bytes.length, start + SHORT_TEXT);
  let from = start + 1;
  for (; from < near; from++) {
    const byte = bytes[from];
    if (byte === QUOTE) return from;
    // What it escapes is passed over with it.
    if (byte === BACKSLASH) from++;
  }
  let at = bytes.indexOf(QUOTE, from);
  while (at !== -1) {
    let slashes = 0;
    while (bytes[at - 1 - slashes] === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return at;
    at = bytes.indexOf(QUOTE, at + 1);
  }
  return bytes.length;
}
