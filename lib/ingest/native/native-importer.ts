import { isUtf8 } from 'node:buffer';
import { z } from 'zod';
import { runId, type Sha256 } from '@/lib/core/events/ids';
import { misread, misreferred, type Payload } from '@/lib/core/events/payload';
import { payloadRefsOf } from '@/lib/core/events/payload-refs';
import type { RunEvent } from '@/lib/core/events/run-event';
import { machineDigestOf } from '@/lib/core/machine/drift';
import { fail, ok, type Result } from '@/lib/core/shared/result';
import { firstBadByte } from '@/lib/ingest/importer';
import { type FileJson, isObject, parseJson } from '@/lib/ingest/json';
import type { FileImporter, Imported, ImportProblem, ImportTools } from '@/lib/usecases/ports';
import {
  BLOCK_LINES,
  chainBlock,
  EXPORT_FORMAT,
  EXPORT_VERSION,
  type ExportHeader,
  exportEventLine,
  exportFooterLine,
  exportHeader,
  exportPayloadLine,
  payloadBody,
} from '@/lib/wire/v1/export';

/** Our own export, see `lib/wire/v1/export.ts`. All of it or nothing: a line that cannot be read refuses the file. */
export const nativeImporter: FileImporter = {
  kind: 'file',
  id: 'rerail',
  title: 'Rerail run export (NDJSON)',
  recognises: (head) => /^\s*\{\s*"format"\s*:\s*"rerail-export"/.test(head),
  decode,
};

/** The byte order mark that some editors put before UTF-8. */
const MARK = [0xef, 0xbb, 0xbf];

interface Reading {
  readonly events: RunEvent[];
  readonly payloads: Map<Sha256, Payload>;
}

const malformed = (path: string, message: string) => fail({ kind: 'malformed', path, message } as const);

function decode(bytes: Uint8Array, tools: ImportTools): Result<Imported, ImportProblem> {
  if (!isUtf8(bytes)) return malformed(`byte ${firstBadByte(bytes)}`, 'not UTF-8');
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const reading: Reading = { events: [], payloads: new Map() };
  let header: ExportHeader | undefined;
  let digest: Sha256 | '' = '';
  let number = 0;
  let blockFrom = MARK.every((byte, i) => bytes[i] === byte) ? MARK.length : 0;
  for (let from = blockFrom; from < bytes.length; ) {
    number += 1;
    const path = `line ${number}`;
    const feed = text.indexOf(0x0a, from);
    const end = feed === -1 ? text.length : feed;
    const parsed = parseJson(text.toString('utf8', from, end), tools.maxDepth, path, 'doubles');
    if (!parsed.ok)
      return feed === -1
        ? malformed(parsed.problem.path, `cut off in this line: ${parsed.problem.message}`)
        : parsed;
    if (header === undefined) {
      const read = readHeader(parsed.value, path, tools);
      if (!read.ok) return read;
      header = read.value;
    } else if (isObject(parsed.value) && 'footer' in parsed.value) {
      const footer = exportFooterLine.safeParse(parsed.value);
      if (!footer.success) return malformed(path, why(footer.error));
      const rest = restAfter(text, end);
      if (rest !== undefined) return malformed(`byte ${rest}`, 'more follows after the footer');
      if (from > blockFrom) digest = chainBlock(digest, text.subarray(blockFrom, from), tools.hash);
      return finished(header, reading, digest, footer.data.footer, path);
    } else {
      const problem = readLine(parsed.value, header, reading, path, tools);
      if (problem !== undefined) return problem;
    }
    from = end + 1;
    if (number % BLOCK_LINES !== 0) continue;
    digest = chainBlock(digest, text.subarray(blockFrom, from), tools.hash);
    blockFrom = from;
  }
  return malformed(`line ${number}`, 'the file ends before its footer: it was cut off');
}

/** Offset of the first byte at or after `end` that is no white space. */
function restAfter(bytes: Uint8Array, end: number): number | undefined {
  for (let at = end; at < bytes.length; at += 1) {
    if (![0x0a, 0x0d, 0x20, 0x09].includes(bytes[at] ?? 0)) return at;
  }
  return undefined;
}

/** The first complaint of a schema, with the path inside the line. */
const why = (error: {
  readonly issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[];
}): string => {
  const [issue] = error.issues;
  return issue === undefined
    ? 'not as the format has it'
    : `${['$', ...issue.path.map(String)].join('.')}: ${issue.message}`;
};

function readHeader(value: FileJson, path: string, tools: ImportTools): Result<ExportHeader, ImportProblem> {
  if (!isObject(value) || value['format'] !== EXPORT_FORMAT)
    return malformed(path, `not the header of a ${EXPORT_FORMAT} file`);
  if (value['version'] !== EXPORT_VERSION) {
    return malformed(
      `${path}, $.version`,
      `version ${String(value['version'])} of the format; this console reads version ${EXPORT_VERSION}: update it, or export again`,
    );
  }
  const header = exportHeader.safeParse(value);
  if (!header.success) return malformed(path, why(header.error));
  const { machine } = header.data;
  if (machine !== null && machineDigestOf(machine.declaration, tools.hash) !== machine.digest) {
    return malformed(`${path}, $.machine`, 'the machine is not the one that its digest names');
  }
  return ok(header.data);
}

/** From so many events on the schema is worth its compilation: that takes as long as some 25,000 events, and halves it. */
const MANY_EVENTS = 10_000;
let compiled: typeof exportEventLine | undefined;
const eventLine = (before: number): typeof exportEventLine => {
  if (before < MANY_EVENTS) return exportEventLine;
  compiled ??= z.compile(exportEventLine);
  return compiled;
};

function readLine(value: FileJson, header: ExportHeader, reading: Reading, path: string, tools: ImportTools) {
  if (isObject(value) && 'event' in value) {
    const line = eventLine(reading.events.length).safeParse(value);
    if (!line.success) return malformed(path, why(line.error));
    // As it stands in the file: a schema's output has the schema's order of members.
    const event = value['event'] as unknown as RunEvent;
    if (event.runId !== header.run.runId)
      return malformed(path, `an event of run ${event.runId} in the file of ${header.run.runId}`);
    if (event.seq !== reading.events.length + 1)
      return malformed(path, `seq ${event.seq} where ${reading.events.length + 1} is due`);
    if (event.epoch > header.run.epoch)
      return malformed(path, `epoch ${event.epoch} is newer than the run's, ${header.run.epoch}`);
    for (const ref of payloadRefsOf(event)) {
      const payload = reading.payloads.get(ref.sha256);
      if (payload === undefined)
        return malformed(path, `payload ${ref.sha256} is not in the file before this event`);
      const wrong = misreferred(ref, payload);
      if (wrong !== undefined) return malformed(path, wrong);
    }
    reading.events.push(event);
    return undefined;
  }
  const line = exportPayloadLine.safeParse(value);
  if (!line.success) return malformed(path, `neither event, payload nor footer: ${why(line.error)}`);
  const { payload } = line.data;
  if ((payload.text === undefined) === (payload.base64 === undefined))
    return malformed(path, '$.payload: either text or base64');
  const body = payloadBody(payload);
  if (tools.hash(body) !== payload.sha256)
    return malformed(path, `payload ${payload.sha256} has other content than its digest says`);
  const unreadable = misread(payload.codec, body);
  if (unreadable !== undefined) return malformed(path, `payload ${payload.sha256}: ${unreadable}`);
  reading.payloads.set(payload.sha256, {
    sha256: payload.sha256,
    bytes: body.length,
    codec: payload.codec,
    body,
  });
  return undefined;
}

function finished(
  header: ExportHeader,
  { events, payloads }: Reading,
  digest: string,
  footer: { readonly events: number; readonly payloads: number; readonly digest: Sha256 },
  path: string,
): Result<Imported, ImportProblem> {
  const { run, machine } = header;
  if (
    footer.events !== events.length ||
    run.headSeq !== events.length ||
    header.counts.events !== events.length
  ) {
    return malformed(
      path,
      `${events.length} events where the header says ${run.headSeq} and the footer ${footer.events}`,
    );
  }
  if (footer.payloads !== payloads.size)
    return malformed(path, `${payloads.size} payloads where the footer says ${footer.payloads}`);
  if (footer.digest !== digest) return malformed(path, 'the file was changed: its digest is another one');
  if (events.length === 0) return malformed(path, 'a run without events');
  return ok({
    runs: [
      {
        runId: runId(run.runId),
        root: run.root,
        ...(run.parent === null ? {} : { parent: run.parent }),
        source: run.source,
        agent: run.agent,
        createdAt: run.createdAt,
        epoch: run.epoch,
        events,
        payloads,
        ...(machine === null ? {} : { machine: { digest: machine.digest, machine: machine.declaration } }),
        headDigest: header.headDigest,
        growth: 'exact',
      },
    ],
    warnings: [],
  });
}
