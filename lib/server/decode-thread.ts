import { existsSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import type { Payload } from '@/lib/core/events/payload';
import type { RunEvent } from '@/lib/core/events/run-event';
import { assertDefined } from '@/lib/core/shared/assert';
import { fail, ok, type Result } from '@/lib/core/shared/result';
import type { DecodeFile } from '@/lib/usecases/import-traces';
import type { Imported, ImportedRun, ImportProblem, ImportWarning } from '@/lib/usecases/ports';
import { sha256Hash } from './hash';

export interface DecodeAsk {
  readonly bytes: Uint8Array;
  readonly importer: string;
  readonly maxDepth: number;
}

export type PackedPayload = Pick<Payload, 'sha256' | 'codec' | 'bytes'>;

/** What the thread sends, part by part; `payloads` and `events` are of the last `run`. */
export type DecodeMessage =
  | { readonly kind: 'run'; readonly head: Omit<ImportedRun, 'events' | 'payloads'> }
  /** Bodies one after the other in `slab`. */
  | { readonly kind: 'payloads'; readonly packed: readonly PackedPayload[]; readonly slab: Uint8Array }
  | { readonly kind: 'events'; readonly text: string }
  | { readonly kind: 'problem'; readonly problem: ImportProblem }
  | { readonly kind: 'end'; readonly warnings: readonly ImportWarning[] };

/** A smaller file is decoded at once: it takes less time than a thread takes to start. */
const SMALL_BYTES = 262_144;

/**
 * Decodes in a thread, so that a large file does not hold the event loop. `program` is the built `decode-worker.mjs`;
 * where it was not built, everything is decoded here.
 */
export function decodeInThread(program: string | undefined): DecodeFile {
  return async (importer, bytes, maxDepth) => {
    if (bytes.byteLength <= SMALL_BYTES || program === undefined || !existsSync(program))
      return importer.decode(bytes, { hash: sha256Hash, maxDepth });
    return inThread(program, { bytes, importer: importer.id, maxDepth });
  };
}

function inThread(program: string, ask: DecodeAsk): Promise<Result<Imported, ImportProblem>> {
  const { bytes } = ask;
  const whole = bytes.byteOffset === 0 && bytes.byteLength === bytes.buffer.byteLength;
  const transfer = whole && bytes.buffer instanceof ArrayBuffer ? [bytes.buffer] : [];
  return new Promise((resolve, reject) => {
    const worker = new Worker(program, { workerData: ask, transferList: transfer });
    const runs: {
      head: Omit<ImportedRun, 'events' | 'payloads'>;
      events: RunEvent[];
      payloads: Map<Payload['sha256'], Payload>;
    }[] = [];
    const newest = () => assertDefined(runs.at(-1), 'a run comes before its parts');
    const settle = (result: Result<Imported, ImportProblem>) => {
      resolve(result);
      worker.postMessage('taken');
    };
    worker.on('message', (message: DecodeMessage) => {
      switch (message.kind) {
        case 'run':
          runs.push({ head: message.head, events: [], payloads: new Map() });
          break;
        case 'payloads':
          unpackInto(newest().payloads, message.packed, message.slab);
          break;
        case 'events':
          newest().events.push(...(JSON.parse(message.text) as readonly RunEvent[]));
          break;
        case 'problem':
          return settle(fail(message.problem));
        case 'end':
          return settle(
            ok({
              runs: runs.map(({ head, events, payloads }) => ({ ...head, events, payloads })),
              warnings: message.warnings,
            }),
          );
      }
      setImmediate(() => worker.postMessage('taken'));
    });
    worker.once('error', reject);
    worker.once('exit', (code) => reject(new Error(`The thread that decodes ended with code ${code}`)));
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
