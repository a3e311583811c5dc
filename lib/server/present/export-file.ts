import type { Sha256 } from '@/lib/core/events/ids';
import type { Hash } from '@/lib/core/events/payload';
import type { RunPart } from '@/lib/usecases/export-run';
import {
  BLOCK_LINES,
  chainBlock,
  EXPORT_FORMAT,
  EXPORT_VERSION,
  type ExportHeader,
  exportLine,
} from '@/lib/wire/v1/export';

/** A run's parts as the bytes of its export file, read as the client takes them. */
export function exportFile(parts: AsyncIterable<RunPart>, hash: Hash): ReadableStream<Uint8Array> {
  const blocks = exportBlocks(parts, hash);
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const next = await blocks.next();
      if (next.done === true) controller.close();
      else controller.enqueue(next.value);
    },
    async cancel() {
      await blocks.return(undefined);
    },
  });
}

/** The file block by block, as the footer's digest counts them; the footer last. */
export async function* exportBlocks(
  parts: AsyncIterable<RunPart>,
  hash: Hash,
): AsyncGenerator<Uint8Array, undefined> {
  let digest: Sha256 | '' = '';
  let events = 0;
  let payloads = 0;
  let lines: string[] = [];
  const block = (): Uint8Array => {
    const bytes = Buffer.from(`${lines.join('\n')}\n`);
    lines = [];
    digest = chainBlock(digest, bytes, hash);
    return bytes;
  };
  for await (const part of parts) {
    if (part.kind === 'event') events += 1;
    else if (part.kind === 'payload') payloads += 1;
    lines.push(exportLine(part.kind === 'run' ? { kind: 'header', header: headerOf(part) } : part));
    if (lines.length === BLOCK_LINES) yield block();
  }
  if (lines.length > 0) yield block();
  if (digest === '') throw new Error('Broken invariant: an export begins with the run itself');
  yield Buffer.from(`${exportLine({ kind: 'footer', footer: { events, payloads, digest } })}\n`);
}

function headerOf({ run, machine, headDigest }: Extract<RunPart, { readonly kind: 'run' }>): ExportHeader {
  const { parent, state } = run;
  const digest = state.machineDigest;
  return {
    format: EXPORT_FORMAT,
    version: EXPORT_VERSION,
    run: {
      runId: run.runId,
      root: run.root,
      parent: parent === undefined ? null : { runId: parent.runId, seq: parent.seq, mode: parent.mode },
      source: run.source,
      agent: state.agent,
      createdAt: run.createdAt,
      epoch: run.epoch,
      headSeq: run.headSeq,
    },
    machine: digest === undefined || machine === undefined ? null : { digest, declaration: mutable(machine) },
    counts: { events: run.headSeq, steps: state.counts.steps, checkpoints: state.counts.checkpoints },
    headDigest,
  };
}

/** The schema's output type has no `readonly`. */
const mutable = (machine: NonNullable<Extract<RunPart, { readonly kind: 'run' }>['machine']>) =>
  machine as unknown as NonNullable<ExportHeader['machine']>['declaration'];
