import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import { importers } from '@/lib/ingest/registry';
import { assembleAnew } from '@/lib/usecases/assemble-parts';
import type { ImportedPart, ImportedRun, Importer } from '@/lib/usecases/ports';
import {
  type PackedPayload,
  packParts,
  type RunHead,
  type ThreadAsk,
  type ThreadMessage,
  unpackParts,
} from './decode-thread';
import { sha256Hash } from './hash';

/*
 * Reads one file, or assembles one run, in a thread of its own. What it found goes back in parts: the main thread unpacks
 * a part in a few milliseconds and answers others in between.
 */

const EVENTS_AT_ONCE = 500;
const PAYLOADS_AT_ONCE = 500;
const BYTES_AT_ONCE = 2_097_152;

const port = isMainThread ? null : parentPort;

async function answer(ask: ThreadAsk): Promise<void> {
  const tools = { hash: sha256Hash, maxDepth: ask.maxDepth };
  switch (ask.kind) {
    case 'decode': {
      const decoded = importerOf('file', ask.importer).decode(ask.bytes, tools);
      if (!decoded.ok) return send({ kind: 'problem', problem: decoded.problem });
      for (const run of decoded.value.runs) await sendRun(run);
      return send({ kind: 'end', warnings: decoded.value.warnings });
    }
    case 'split': {
      const split = importerOf('parts', ask.importer).split(ask.bytes, ask.contentType, tools);
      if (!split.ok) return send({ kind: 'problem', problem: split.problem });
      const { parts, warnings, rejected } = split.value;
      await sendParts(parts);
      return send({ kind: 'end', warnings, rejected });
    }
    case 'assemble': {
      const { runId, packed, slab, known } = ask;
      const parts = [...unpackParts(packed, slab)].map(([{ id }, body]) => ({ id, body }));
      const made = assembleAnew(importerOf('parts', ask.importer), { runId, parts, known }, tools);
      const { head, events, payloads, kept, prints, warnings } = made;
      await sendRun({ ...head, events, payloads });
      return send({ kind: 'end', warnings, assembled: { kept, prints } });
    }
  }
}

function importerOf<Kind extends Importer['kind']>(
  kind: Kind,
  id: string,
): Extract<Importer, { kind: Kind }> {
  const importer = importers.find((one) => one.id === id);
  if (importer?.kind !== kind) throw new Error(`Broken invariant: no importer ${id} of ${kind}`);
  return importer as Extract<Importer, { kind: Kind }>;
}

async function sendParts(parts: readonly ImportedPart[]): Promise<void> {
  let some: ImportedPart[] = [];
  let size = 0;
  const flush = async () => {
    const { packed, slab } = packParts(some);
    [some, size] = [[], 0];
    await send({ kind: 'parts', packed, slab }, [slab.buffer]);
  };
  for (const part of parts) {
    some.push(part);
    size += part.body.byteLength;
    if (some.length >= PAYLOADS_AT_ONCE || size >= BYTES_AT_ONCE) await flush();
  }
  if (some.length > 0) await flush();
}

async function sendRun({
  events,
  payloads,
  ...head
}: RunHead & Pick<ImportedRun, 'events' | 'payloads'>): Promise<void> {
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

function send(message: ThreadMessage, transfer: readonly ArrayBuffer[] = []): Promise<void> {
  port?.postMessage(message, transfer);
  untaken += 1;
  return untakenAtMost(MOST_UNTAKEN - 1);
}

if (port !== null) {
  await answer(workerData as ThreadAsk);
  await untakenAtMost(0);
  port.unref();
}
