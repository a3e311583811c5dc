import { createHash } from 'node:crypto';
import { type Sha256, sha256 } from '@/lib/core/events/ids';
import type { RunPart } from '@/lib/usecases/export-run';
import {
  BLOCK_LINES,
  EXPORT_FORMAT,
  EXPORT_VERSION,
  type ExportHeader,
  exportLine,
} from '@/lib/wire/v1/export';

/** A run's parts as the bytes of its export file, read as the client takes them. */
export function exportFile(parts: AsyncIterable<RunPart>): ReadableStream<Uint8Array> {
  const pieces = exportPieces(parts);
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const next = await pieces.next();
      if (next.done === true) controller.close();
      else controller.enqueue(next.value);
    },
    async cancel() {
      await pieces.return(undefined);
    },
  });
}

/** So many characters of lines go out together; a longer line goes alone, so that no more than it is held. */
const PIECE_LENGTH = 65_536;

/** The file in pieces of whole lines; the footer last. */
export async function* exportPieces(parts: AsyncIterable<RunPart>): AsyncGenerator<Uint8Array, undefined> {
  const chain = new BlockChain();
  let events = 0;
  let payloads = 0;
  let piece = '';
  for await (const part of parts) {
    if (part.kind === 'event') events += 1;
    else if (part.kind === 'payload') payloads += 1;
    const line = `${exportLine(part.kind === 'run' ? { kind: 'header', header: headerOf(part) } : part)}\n`;
    chain.add(line);
    if (piece !== '' && piece.length + line.length > PIECE_LENGTH) {
      yield Buffer.from(piece);
      piece = '';
    }
    piece += line;
  }
  if (piece === '') throw new Error('Broken invariant: an export begins with the run itself');
  yield Buffer.from(piece);
  const footer = { events, payloads, digest: chain.end() };
  yield Buffer.from(`${exportLine({ kind: 'footer', footer })}\n`);
}

/** What `chainBlock` makes of whole blocks, of lines as they come. */
class BlockChain {
  #block = createHash('sha256');
  #lines = 0;

  add(line: string): void {
    if (this.#lines === BLOCK_LINES) {
      this.#block = createHash('sha256').update(this.end());
      this.#lines = 0;
    }
    this.#block.update(line);
    this.#lines += 1;
  }

  end(): Sha256 {
    return sha256(this.#block.digest('hex'));
  }
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
