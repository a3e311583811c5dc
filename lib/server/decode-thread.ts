import { existsSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import type { RunId } from '@/lib/core/events/ids';
import type { Payload } from '@/lib/core/events/payload';
import type { RunEvent } from '@/lib/core/events/run-event';
import { assertDefined } from '@/lib/core/shared/assert';
import { fail, ok, type Result } from '@/lib/core/shared/result';
import type { Prints, Reassembled } from '@/lib/usecases/assemble-parts';
import type { Imported, ImportedPart, ImportedRun, ImportProblem, ImportWarning } from '@/lib/usecases/ports';
import { type ReadFiles, readHere } from '@/lib/usecases/upload';
import { sha256Hash } from './hash';

/** What a thread is asked for. */
export type ThreadAsk = { readonly importer: string; readonly maxDepth: number } & (
  | { readonly kind: 'decode'; readonly bytes: Uint8Array }
  | { readonly kind: 'split'; readonly bytes: Uint8Array; readonly contentType: string }
  | {
      readonly kind: 'assemble';
      readonly runId: RunId;
      readonly packed: readonly PackedPart[];
      readonly slab: Uint8Array;
      readonly known: Prints;
    }
);

export type PackedPayload = Pick<Payload, 'sha256' | 'codec' | 'bytes'>;
export interface PackedPart {
  readonly id: string;
  readonly bytes: number;
  /** Of a part that was split off; of those to be assembled it is one for all. */
  readonly runId?: RunId;
}

export type RunHead = Omit<ImportedRun, 'events' | 'payloads'>;

/** What the thread sends, part by part; `payloads` and `events` are of the last `run`. */
export type ThreadMessage =
  | { readonly kind: 'run'; readonly head: RunHead }
  /** Bodies one after the other in `slab`. */
  | { readonly kind: 'payloads'; readonly packed: readonly PackedPayload[]; readonly slab: Uint8Array }
  | { readonly kind: 'parts'; readonly packed: readonly PackedPart[]; readonly slab: Uint8Array }
  | { readonly kind: 'events'; readonly text: string }
  | { readonly kind: 'problem'; readonly problem: ImportProblem }
  | {
      readonly kind: 'end';
      readonly warnings: readonly ImportWarning[];
      readonly rejected?: number;
      readonly assembled?: Pick<Reassembled, 'kept' | 'prints'>;
    };

/** Less is read at once: it takes less time than a thread takes to start. */
const SMALL_BYTES = 262_144;

/**
 * Reads in a thread, so that a large file does not hold the event loop. `program` is the built `decode-worker.mjs`;
 * where it was not built, everything is read here.
 */
export function readInThread(program: string | undefined): ReadFiles {
  const here = readHere(sha256Hash);
  const threadFor = (bytes: number): string | undefined =>
    bytes > SMALL_BYTES && program !== undefined && existsSync(program) ? program : undefined;
  return {
    decode: async (importer, bytes, maxDepth) => {
      const thread = threadFor(bytes.byteLength);
      if (thread === undefined) return here.decode(importer, bytes, maxDepth);
      const read = await inThread(thread, { kind: 'decode', bytes, importer: importer.id, maxDepth }, bytes);
      return read.ok ? ok(importedFrom(read.value)) : read;
    },
    split: async (importer, file, maxDepth) => {
      const thread = threadFor(file.bytes.byteLength);
      if (thread === undefined) return here.split(importer, file, maxDepth);
      const ask = { kind: 'split', ...file, importer: importer.id, maxDepth } as const;
      const read = await inThread(thread, ask, file.bytes);
      if (!read.ok) return read;
      const { parts, warnings, rejected = 0 } = read.value;
      return ok({ parts, warnings, rejected });
    },
    assemble: async (importer, ask, maxDepth) => {
      const { runId, parts, known } = ask;
      const thread = threadFor(parts.reduce((sum, { body }) => sum + body.byteLength, 0));
      if (thread === undefined) return here.assemble(importer, ask, maxDepth);
      const { packed, slab } = packParts(parts);
      const read = await inThread(
        thread,
        { kind: 'assemble', runId, packed, slab, known, importer: importer.id, maxDepth },
        slab,
      );
      if (!read.ok)
        throw new Error(`Broken invariant: parts of ${runId} were refused: ${read.problem.message}`);
      const { runs, warnings, assembled } = read.value;
      const { head, events, payloads } = assertDefined(runs[0], 'parts make a run');
      return { head, events, payloads, warnings, ...assertDefined(assembled, 'what was assembled tells so') };
    },
  };
}

interface Read {
  readonly runs: readonly {
    readonly head: RunHead;
    readonly events: RunEvent[];
    readonly payloads: Map<Payload['sha256'], Payload>;
  }[];
  readonly parts: readonly ImportedPart[];
  readonly warnings: readonly ImportWarning[];
  readonly rejected: number | undefined;
  readonly assembled: Pick<Reassembled, 'kept' | 'prints'> | undefined;
}

const importedFrom = ({ runs, warnings }: Read): Imported => ({
  runs: runs.map(({ head, events, payloads }) => ({ ...head, events, payloads })),
  warnings,
});

/** `given`: bytes of the ask that are given away where they have their buffer to themselves. */
function inThread(program: string, ask: ThreadAsk, given: Uint8Array): Promise<Result<Read, ImportProblem>> {
  const isWhole = given.byteOffset === 0 && given.byteLength === given.buffer.byteLength;
  const transfer = isWhole && given.buffer instanceof ArrayBuffer ? [given.buffer] : [];
  return new Promise((resolve, reject) => {
    const worker = new Worker(program, { workerData: ask, transferList: transfer });
    const runs: Read['runs'][number][] = [];
    const parts: ImportedPart[] = [];
    const newest = () => assertDefined(runs.at(-1), 'a run comes before its parts');
    const settle = (result: Result<Read, ImportProblem>) => {
      resolve(result);
      worker.postMessage('taken');
    };
    worker.on('message', (message: ThreadMessage) => {
      switch (message.kind) {
        case 'run':
          runs.push({ head: message.head, events: [], payloads: new Map() });
          break;
        case 'payloads':
          unpackInto(newest().payloads, message.packed, message.slab);
          break;
        case 'parts':
          for (const [{ id, runId }, body] of unpackParts(message.packed, message.slab))
            parts.push({ runId: assertDefined(runId, 'a part that was split off has its run'), id, body });
          break;
        case 'events':
          newest().events.push(...(JSON.parse(message.text) as readonly RunEvent[]));
          break;
        case 'problem':
          return settle(fail(message.problem));
        case 'end': {
          const { warnings, rejected, assembled } = message;
          return settle(ok({ runs, parts, warnings, rejected, assembled }));
        }
      }
      setImmediate(() => worker.postMessage('taken'));
    });
    worker.once('error', reject);
    worker.once('exit', (code) => reject(new Error(`The thread that reads ended with code ${code}`)));
  });
}

function unpackInto(
  payloads: Map<Payload['sha256'], Payload>,
  packed: readonly PackedPayload[],
  slab: Uint8Array,
): void {
  let at = 0;
  for (const payload of packed) {
    payloads.set(payload.sha256, { ...payload, body: slab.subarray(at, at + payload.bytes) });
    at += payload.bytes;
  }
}

/** Bodies one after the other in a buffer of its own, which can be given away. */
export function packParts(
  parts: readonly (Pick<ImportedPart, 'id' | 'body'> & { readonly runId?: RunId })[],
): {
  readonly packed: readonly PackedPart[];
  readonly slab: Uint8Array<ArrayBuffer>;
} {
  const slab = new Uint8Array(parts.reduce((sum, { body }) => sum + body.byteLength, 0));
  let at = 0;
  const packed = parts.map(({ id, body, runId }) => {
    slab.set(body, at);
    at += body.byteLength;
    return { id, bytes: body.byteLength, ...(runId === undefined ? {} : { runId }) };
  });
  return { packed, slab };
}

export function* unpackParts(
  packed: readonly PackedPart[],
  slab: Uint8Array,
): Generator<readonly [PackedPart, Uint8Array]> {
  let at = 0;
  for (const part of packed) {
    yield [part, slab.subarray(at, at + part.bytes)];
    at += part.bytes;
  }
}
