import { type Sha256, sha256 } from '@/lib/core/events/ids';
import type { Codec, PayloadRef } from '@/lib/core/events/payload';
import { assertDefined } from '@/lib/core/shared/assert';

/*
 * How records and event bodies are stored: JSON text in which frequent keys are one or two letters, digests are
 * base64url and payload references are one string. Any JSON value survives `unpack(pack(value))` unchanged, whatever
 * its keys and strings look like. The text is ASCII-escaped where JSON demands it, so U+0000 and lone surrogates pass
 * through both databases.
 */

/** Frozen: a key's code is its place. New keys are added at the end; none is ever moved or removed. */
// biome-ignore format: one line of names each is easier to extend than one name a line
const KEYS = [
  'stepKey', 'name', 'step', 'effect', 'input', 'inputDigest', 'attempt', 'intent', 'result', 'receipt', 'usage', 'recorded', 'status',
  'kind', 'startedAt', 'attemptSeq', 'endedSeq', 'endedAt', 'executions', 'role', 'message', 'key', 'state', 'visit', 'from', 'to',
  'seq', 'at', 'line', 'count', 'trigger', 'entrySeq', 'othersSeq', 'intentSeq', 'id', 'n', 'lastSeq', 'totalMs', 'messages', 'headSeq',
  'counts', 'visits', 'edges', 'variables', 'open', 'stopped', 'questions', 'apis', 'waitingOn', 'rewinds', 'patch', 'op',
  'path', 'value', 'agent', 'machineDigest', 'tags', 'workerId', 'steps', 'failedAttempts', 'checkpoints', 'inputTokens', 'outputTokens',
  'costMicroUsd', 'diverged', 'finished', 'checkpoint', 'lastEndedStep', 'startedSeq', 'idempotencyKey', 'generation', 'argsDigest',
  'sendBy', 'timeoutMs', 'settlesWithinMs', 'keyValidForMs', 'guarded', 'verifiable', 'root', 'runId', 'epoch', 'firstIntentAt',
  'intentAt', 'confirmedBy', 'confirmedSeq', 'doubtBefore', 'held', 'failure', 'error', 'type', 'stack', 'final', 'nextDelayMs',
  'cause', 'stepKeys', 'api', 'model', 'parameters', 'verdict', 'source', 'sourceRunId', 'sourceSeq', 'questionId', 'question',
  'questionDigest', 'askedSeq', 'askedAt', 'until', 'answeredBy', 'answeredSeq', 'answer', 'commandId', 'mode', 'actor', 'reason',
  'planDigest', 'edits', 'decisions', 'options', 'parent', 'outcome', 'detail', 'of', 'on', 'for', 'before', 'toSeq', 'kept',
  'revived', 'condition', 'scope', 'partial', 'problem', 'compensates', 'failures', 'layer', 'summary', 'keptMessages', 'note',
  'decision', 'askedDigest', 'asked', 'recordedDigest', 'what', 'sentence', 'waitsFor', 'lastCall', 'interruption', 'pending',
  'leaseId', 'since', 'expiresAt', 'leaseMs', 'queue', 'verifies', 'unhandled', 'conversation', 'leavesBy',
  'unpriced',
] as const;

const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';
const letter = (i: number) => assertDefined(LETTERS[i], 'a code has letters');
const codeAt = (i: number) =>
  i < LETTERS.length ? letter(i) : letter(Math.floor(i / LETTERS.length) - 1) + letter(i % LETTERS.length);
const codeOf = new Map<string, string>(KEYS.map((key, i) => [key, codeAt(i)]));
const keyOf = new Map<string, string>(KEYS.map((key, i) => [codeAt(i), key]));

/** How a key of the table stands in packed text, for SQL that looks inside. */
export const packedKey = (key: (typeof KEYS)[number]): string =>
  assertDefined(codeOf.get(key), 'the key has a code');

/** A key that is not in the table and could be taken for a code is marked. */
const ESCAPED_KEY = '$';
/** First character of a packed string that is not itself: a digest, a reference, or a string that begins like one. */
const DIGEST = '#';
const REF = '&';
const QUOTED = "'";
/** Text that stands in JSON as it is. */
const PLAIN = /^[ !#-[\]-~]*$/;
const HEX64 = /^[0-9a-f]{64}$/;
const CODEC_LETTER = { json: 'j', text: 't', bytes: 'b' } as const satisfies Record<Codec, string>;
const codecOf = new Map<string, Codec>([
  ['j', 'json'],
  ['t', 'text'],
  ['b', 'bytes'],
]);

/** For one digest at a time: it lasts no longer than the call. */
const digestBytes = Buffer.alloc(32);
function hexToBase64(hex: string): string {
  digestBytes.write(hex, 'hex');
  return digestBytes.toString('base64url');
}
const base64ToHex = (text: string) => Buffer.from(text, 'base64url').toString('hex');
const BASE64_LENGTH = 43;

/** Packs a JSON value; members that are `undefined` are left out, as `JSON.stringify` does. */
export const pack = (value: unknown): string => packed(value) ?? 'null';

/** Packs an object without some of its own members, which stand elsewhere. */
export const packWithout = (value: object, left: ReadonlySet<string>): string => packedMembers(value, left);

/** The value that was packed. Throws on text that `pack` did not make. */
export function unpack(text: string): unknown {
  return lengthen(JSON.parse(text));
}

/** True for exactly `{ sha256, bytes, codec }`, as a reference is made. */
function isPayloadRef(value: object): value is PayloadRef {
  if (!('sha256' in value && 'bytes' in value && 'codec' in value)) return false;
  const { sha256: digest, bytes, codec } = value;
  return (
    typeof digest === 'string' &&
    HEX64.test(digest) &&
    typeof bytes === 'number' &&
    Number.isSafeInteger(bytes) &&
    bytes >= 0 &&
    typeof codec === 'string' &&
    Object.hasOwn(CODEC_LETTER, codec) &&
    Object.keys(value).length === 3
  );
}

const none: ReadonlySet<string> = new Set();

/** `JSON.stringify` of what is stored for the value; written as text at once, since a journal is packed event by event. */
function packed(value: unknown): string | undefined {
  if (typeof value === 'string') return packedString(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(pack).join(',')}]`;
  return isPayloadRef(value) ? packedRef(value) : packedMembers(value, none);
}

function packedMembers(value: object, left: ReadonlySet<string>): string {
  let members = '';
  for (const key of Object.keys(value)) {
    if (left.has(key)) continue;
    const text = packed((value as Readonly<Record<string, unknown>>)[key]);
    if (text !== undefined) members += `${members === '' ? '' : ','}${packedMember(key)}:${text}`;
  }
  return `{${members}}`;
}

function lengthen(value: unknown): unknown {
  if (typeof value === 'string') return lengthenString(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(lengthen);
  const long: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) set(long, lengthenKey(key), lengthen(member));
  return long;
}

const quotedCode = new Map([...codeOf].map(([key, code]) => [key, `"${code}"`]));
const packedMember = (key: string): string =>
  quotedCode.get(key) ??
  JSON.stringify(keyOf.has(key) || key.startsWith(ESCAPED_KEY) ? ESCAPED_KEY + key : key);

const lengthenKey = (key: string): string =>
  keyOf.get(key) ?? (key.startsWith(ESCAPED_KEY) ? key.slice(ESCAPED_KEY.length) : key);

function packedString(text: string): string {
  const first = text[0];
  if (first === DIGEST || first === REF || first === QUOTED) return JSON.stringify(QUOTED + text);
  if (text.length === 64 && HEX64.test(text)) return `"${DIGEST}${hexToBase64(text)}"`;
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text);
}

function lengthenString(text: string): unknown {
  switch (text[0]) {
    case QUOTED:
      return text.slice(1);
    case DIGEST:
      return base64ToHex(text.slice(1));
    case REF:
      return lengthenRef(text);
    default:
      return text;
  }
}

const packedRef = (ref: PayloadRef): string =>
  `"${REF}${hexToBase64(ref.sha256)}${CODEC_LETTER[ref.codec]}${ref.bytes.toString(36)}"`;

function lengthenRef(text: string): PayloadRef {
  const end = 1 + BASE64_LENGTH;
  return {
    sha256: sha256(base64ToHex(text.slice(1, end))),
    bytes: Number.parseInt(text.slice(end + 1), 36),
    codec: assertDefined(codecOf.get(text[end] ?? ''), 'a packed reference names its codec'),
  };
}

const ANY_DIGEST = new RegExp(`"[${REF}${DIGEST}]([A-Za-z0-9_-]{${BASE64_LENGTH}})`, 'g');

/**
 * Digests of all that a packed value refers to, without unpacking it. It may find more: other digests, and what a text
 * looks like.
 */
export function* digestsInPacked(text: string): Generator<Sha256> {
  for (const [, digest = ''] of text.matchAll(ANY_DIGEST)) yield sha256(base64ToHex(digest));
}

/** An own member even where the key is `__proto__`. */
function set(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__')
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  else object[key] = value;
}

/*
 * Texts in columns of their own. PostgreSQL refuses U+0000 and no database keeps a lone surrogate: they, and the
 * escape character, are written as U+001B and four hexadecimal digits. Equal texts stay equal, different ones different.
 */
const ESCAPE = '\u001b';
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must be escaped
const NEEDS_ESCAPE = /[\u0000\u001b]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

export function toColumn(text: string): string {
  if (text.isWellFormed() && !text.includes('\u0000') && !text.includes(ESCAPE)) return text;
  return text.replace(NEEDS_ESCAPE, (unit) => ESCAPE + unit.charCodeAt(0).toString(16).padStart(4, '0'));
}

export const fromColumn = (text: string): string =>
  text.includes(ESCAPE)
    ? // biome-ignore lint/suspicious/noControlCharactersInRegex: U+001B is the escape character above
      text.replace(/\u001b([0-9a-f]{4})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    : text;
