import { z } from 'zod';
import type { Epoch, Sha256 } from '@/lib/core/events/ids';
import type { Hash, Payload } from '@/lib/core/events/payload';
import type { RunEvent } from '@/lib/core/events/run-event';
import { name, wireEpochMs, wireMachineDigest, wireRunId, wireSeq, wireSha256 } from './common';
import { runEvent } from './events';
import { machine } from './runs';

/*
 * A run as one file, NDJSON, UTF-8, every line ended by U+000A: the header, then events in order of seq, each payload
 * somewhere before the first event that refers to it, then the footer. Nothing in it depends on the store that wrote it,
 * so that the export of an import is the same file. The footer's digest is chained over the lines before it, in
 * blocks of `BLOCK_LINES`.
 */

export const EXPORT_FORMAT = 'rerail-export';
export const EXPORT_VERSION = 1;

const count = z.number().int().min(0);

export const exportHeader = z.strictObject({
  format: z.literal(EXPORT_FORMAT),
  version: z.literal(EXPORT_VERSION),
  run: z.strictObject({
    runId: wireRunId,
    root: wireRunId,
    parent: z.strictObject({ runId: wireRunId, seq: wireSeq, mode: z.enum(['fork', 'replay']) }).nullable(),
    /** `sdk`, or the id of the format that it was first imported from. */
    source: name,
    agent: name,
    createdAt: wireEpochMs,
    epoch: count.max(2 ** 31 - 1) as unknown as z.ZodType<Epoch>,
    headSeq: wireSeq,
  }),
  machine: z.strictObject({ digest: wireMachineDigest, declaration: machine }).nullable(),
  /** For people and progress bars; the footer's are checked. */
  counts: z.strictObject({ events: count, steps: count, checkpoints: count }),
  /** SHA-256 of canonical JSON of the state folded at `headSeq`. */
  headDigest: wireSha256,
});
export type ExportHeader = z.output<typeof exportHeader>;

/** `text` for well-formed UTF-8 of codec `json` or `text`, base64 for all else. */
export const exportPayload = z.strictObject({
  sha256: wireSha256,
  codec: z.enum(['json', 'text', 'bytes']),
  text: z.string().exactOptional(),
  base64: z.base64().exactOptional(),
});
export type ExportPayload = z.output<typeof exportPayload>;

export const exportFooter = z.strictObject({
  events: count,
  payloads: count,
  /** `chainBlock` over all lines before this one. */
  digest: wireSha256,
});
export type ExportFooter = z.output<typeof exportFooter>;

export const exportPayloadLine = z.strictObject({ payload: exportPayload });
export const exportEventLine = z.strictObject({ event: runEvent });
export const exportFooterLine = z.strictObject({ footer: exportFooter });

/** One part of an export, in file order. */
export type ExportPart =
  | { readonly kind: 'header'; readonly header: ExportHeader }
  | { readonly kind: 'payload'; readonly payload: Payload }
  | { readonly kind: 'event'; readonly event: RunEvent }
  | { readonly kind: 'footer'; readonly footer: ExportFooter };

/** The line of a part, without its line feed. */
export function exportLine(part: ExportPart): string {
  switch (part.kind) {
    case 'header':
      return JSON.stringify(part.header);
    case 'payload':
      return JSON.stringify({ payload: inFile(part.payload) });
    case 'event':
      return JSON.stringify({ event: stampFirst(part.event) });
    case 'footer':
      return JSON.stringify({ footer: part.footer });
  }
}

/** Members of the stamp in one order, whatever store they come from; the body's stay in the order that they were written in. */
function stampFirst({ runId, seq, at, epoch, by, version, inherited, ...body }: RunEvent) {
  return { runId, seq, at, epoch, by, version, ...(inherited === undefined ? {} : { inherited }), ...body };
}

/** Lines that are hashed at once. */
export const BLOCK_LINES = 1_000;

/** The digest after one more block of lines (each with its line feed): of the digest so far, as text, and the block. */
export function chainBlock(digest: Sha256 | '', block: Uint8Array, hash: Hash): Sha256 {
  const joined = new Uint8Array(digest.length + block.length);
  utf8Encoder.encodeInto(digest, joined);
  joined.set(block, digest.length);
  return hash(joined);
}

/** A payload as a line of a file has it. */
export function inFile(payload: Payload): ExportPayload {
  const { sha256, codec } = payload;
  const text = codec === 'bytes' ? undefined : asText(payload.body);
  return text === undefined ? { sha256, codec, base64: toBase64(payload.body) } : { sha256, codec, text };
}

const utf8Encoder = new TextEncoder();
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The text whose UTF-8 these bytes are; `undefined` where they are no UTF-8. */
function asText(body: Uint8Array): string | undefined {
  try {
    return utf8.decode(body);
  } catch {
    return undefined;
  }
}

const CHUNK = 0x6000;

function toBase64(body: Uint8Array): string {
  const parts: string[] = [];
  // A multiple of three, so that no chunk but the last is padded.
  for (let at = 0; at < body.length; at += CHUNK)
    parts.push(btoa(String.fromCharCode(...body.subarray(at, at + CHUNK))));
  return parts.join('');
}

/** The bytes of a payload line. Base64 was checked by the schema. */
export function payloadBody(payload: ExportPayload): Uint8Array {
  if (payload.text !== undefined) return utf8Encoder.encode(payload.text);
  const raw = atob(payload.base64 ?? '');
  const body = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i += 1) body[i] = raw.charCodeAt(i);
  return body;
}

/** What `POST /api/v1/traces` answers. */
export const uploadAnswer = z.object({
  runs: z.array(
    z.object({
      id: wireRunId,
      format: z.string(),
      status: z.string(),
      events: count,
      steps: count,
      checkpoints: count,
      /** Events that this upload added; 0 when the run was there already. */
      added: count,
    }),
  ),
  warnings: z.array(z.object({ path: z.string(), message: z.string() })),
});
export type UploadAnswer = z.output<typeof uploadAnswer>;

/** Bytes of a run's files. */
export const exportSizesAnswer = z.object({
  native: z.object({ bytes: count }),
  html: z.object({ bytes: count, leftOut: z.object({ values: count, bytes: count }) }).nullable(),
});
export type ExportSizes = z.output<typeof exportSizesAnswer>;
