import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import { importers } from '@/lib/ingest/registry';
import type { ImportedRun } from '@/lib/usecases/ports';
import type { DecodeAsk, DecodeMessage, PackedPayload } from './decode-thread';
import { sha256Hash } from './hash';

/*
 * Decodes one file in a thread of its own. What it found goes back in parts: the main thread unpacks a part in a few
 * milliseconds and answers others in between.
 */

const EVENTS_AT_ONCE = 500;
const PAYLOADS_AT_ONCE = 500;
const BYTES_AT_ONCE = 2_097_152;

const port = isMainThread ? null : parentPort;

async function decode({ bytes, importer: id, maxDepth }: DecodeAsk): Promise<void> {
  const importer = importers.find((one) => one.id === id);
  if (importer === undefined) throw new Error(`Broken invariant: no importer ${id}`);
  const decoded = importer.decode(bytes, { hash: sha256Hash, maxDepth });
  if (!decoded.ok) return send({ kind: 'problem', problem: decoded.problem });
  for (const run of decoded.value.runs) await sendRun(run);
  await send({ kind: 'end', warnings: decoded.value.warnings });
}

async function sendRun({ events, payloads, ...head }: ImportedRun): Promise<void> {
  await send({ kind: 'run', head });
  let packed: PackedPayload[] = [];
  let bodies: Uint8Array[] = [];
  let size = 0;
  const flush = async () => {
    // One buffer of its own: a view would bring along all that it is a view of.
    const slab = new Uint8Array(size);
    let at = 0;
    for (const body of bodies) {
      slab.set(body, at);
      at += body.byteLength;
    }
    await send({ kind: 'payloads', packed, slab }, [slab.buffer]);
    [packed, bodies, size] = [[], [], 0];
  };
  for (const { sha256, codec, bytes, body } of payloads.values()) {
    packed.push({ sha256, codec, bytes });
    bodies.push(body);
    size += body.byteLength;
    if (packed.length >= PAYLOADS_AT_ONCE || size >= BYTES_AT_ONCE) await flush();
  }
  if (packed.length > 0) await flush();
  for (let at = 0; at < events.length; at += EVENTS_AT_ONCE)
    await send({ kind: 'events', text: JSON.stringify(events.slice(at, at + EVENTS_AT_ONCE)) });
}

/** One part is unpacked there while the next one is made here. */
const MOST_UNTAKEN = 2;
let untaken = 0;
let wake = () => {};
port?.on('message', () => {
  untaken -= 1;
  wake();
});

/** Resolves once so few parts are not taken yet. */
const untakenAtMost = (most: number): Promise<void> =>
  new Promise((resolve) => {
    wake = () => {
      if (untaken <= most) resolve();
    };
    wake();
  });

function send(message: DecodeMessage, transfer: readonly ArrayBuffer[] = []): Promise<void> {
  port?.postMessage(message, transfer);
  untaken += 1;
  return untakenAtMost(MOST_UNTAKEN - 1);
}

if (port !== null) {
  await decode(workerData as DecodeAsk);
  await untakenAtMost(0);
  port.unref();
}
