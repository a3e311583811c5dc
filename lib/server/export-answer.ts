import type { RunRecord } from '@/lib/core/projections/records';
import { fail, ok, type Result } from '@/lib/core/shared/result';
import { type CopyPart, copyRun } from '@/lib/usecases/copy-run';
import { exportRun } from '@/lib/usecases/export-run';
import { type NotFound, noRun } from '@/lib/usecases/problems';
import type { ExportSizes } from '@/lib/wire/v1/export';
import { copyFile, copyLimits, copyPage, type NotBuilt } from './copy-file';
import type { Deps } from './deps';
import { readEnv } from './env';
import { exportFile } from './present/export-file';

/** A run as a file. */
export interface Exported {
  readonly run: RunRecord;
  readonly file: ReadableStream<Uint8Array>;
  readonly contentType: string;
  readonly ending: string;
  /** What was left out so far, for its size. */
  readonly leftOut: { values: number; bytes: number };
}
export type Export = Result<Exported, NotFound | NotBuilt>;

/** The run itself, byte for byte. */
export async function nativeExport(deps: Deps, runId: RunRecord['runId']): Promise<Export> {
  const found = await exportRun(deps, { runId });
  return found.ok
    ? ok({
        run: found.value.run,
        file: exportFile(found.value.parts),
        contentType: 'application/x-ndjson; charset=utf-8',
        ending: 'rerail.ndjson',
        leftOut: { values: 0, bytes: 0 },
      })
    : found;
}

/** A page that shows the run without a console. */
export async function htmlExport(
  deps: Deps,
  runId: RunRecord['runId'],
  host: string | undefined,
): Promise<Export> {
  const page = await copyPage(readEnv().root);
  if (!page.ok) return fail(page.problem);
  const found = await copyRun(deps, { runId, limits: copyLimits });
  if (!found.ok) return found;
  const { run, parts } = found.value;
  const leftOut = { values: 0, bytes: 0 };
  const notice = {
    at: new Date(deps.store.clock.now()).toISOString(),
    by: deps.actor,
    console: host ?? null,
    limits: copyLimits,
  };
  return ok({
    run,
    file: copyFile(page.value, `${run.runId} · Rerail, a copy`, notice, counting(parts, leftOut)),
    contentType: 'text/html; charset=utf-8',
    ending: 'rerail.html',
    leftOut,
  });
}

/** The same parts; what is left out is counted as it passes. */
async function* counting(
  parts: AsyncIterable<CopyPart>,
  leftOut: Exported['leftOut'],
): AsyncGenerator<CopyPart> {
  for await (const part of parts) {
    if (part.kind === 'left-out') {
      leftOut.values += 1;
      leftOut.bytes += part.payload.bytes;
    }
    yield part;
  }
}

/** The bytes of both files, by making them. */
export async function exportSizes(
  deps: Deps,
  runId: RunRecord['runId'],
  host: string | undefined,
): Promise<Result<ExportSizes, NotFound>> {
  const native = await nativeExport(deps, runId);
  if (!native.ok) return fail(noRun(runId));
  const nativeBytes = await lengthOf(native.value.file);
  const html = await htmlExport(deps, runId, host);
  if (!html.ok) return ok({ native: { bytes: nativeBytes }, html: null });
  const { file, leftOut } = html.value;
  const bytes = await lengthOf(file);
  return ok({ native: { bytes: nativeBytes }, html: { bytes, leftOut } });
}

async function lengthOf(file: ReadableStream<Uint8Array>): Promise<number> {
  let bytes = 0;
  const reader = file.getReader();
  for (let piece = await reader.read(); !piece.done; piece = await reader.read())
    bytes += piece.value.byteLength;
  return bytes;
}
