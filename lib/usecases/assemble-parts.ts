import type { RunId, Sha256 } from '@/lib/core/events/ids';
import type { Hash, Payload } from '@/lib/core/events/payload';
import { payloadRefsOf } from '@/lib/core/events/payload-refs';
import type { RunEvent } from '@/lib/core/events/run-event';
import { canonicalJson, type Json } from '@/lib/core/shared/canonical-json';
import type { ImportedPart, ImportedRun, ImportTools, ImportWarning, PartsImporter } from './ports';

/** Of every event of a journal, 128 bits of its digest, as four words: where two journals part is found without either. */
export type Prints = Uint32Array<ArrayBuffer>;

const WORDS = 4;
const HEX = 8;

export function printsOf(events: readonly RunEvent[], hash: Hash): Prints {
  const prints = new Uint32Array(events.length * WORDS);
  for (const [i, event] of events.entries()) {
    const digest = hash(canonicalJson(event as unknown as Json));
    for (let word = 0; word < WORDS; word += 1)
      prints[i * WORDS + word] = Number.parseInt(digest.slice(word * HEX, (word + 1) * HEX), 16);
  }
  return prints;
}

export const joinedPrints = (parts: readonly Prints[]): Prints => {
  const all = new Uint32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
};

/** How many events the journals share from their beginning on. */
export function sharedEvents(one: Prints, other: Prints): number {
  const least = Math.min(one.length, other.length);
  let at = 0;
  while (at < least && one[at] === other[at]) at += 1;
  return Math.floor(at / WORDS);
}

export interface AssembleAsk {
  readonly runId: RunId;
  readonly parts: readonly Pick<ImportedPart, 'id' | 'body'>[];
  /** Of the stored journal. */
  readonly known: Prints;
}

/** What parts make, as far as it is not stored already. */
export interface Reassembled {
  readonly head: Omit<ImportedRun, 'events' | 'payloads'>;
  /** So many events stand in the stored journal as they do in this one. */
  readonly kept: number;
  /** Those after them, and what they refer to. */
  readonly events: readonly RunEvent[];
  readonly payloads: ReadonlyMap<Sha256, Payload>;
  /** Of the whole journal. */
  readonly prints: Prints;
  readonly warnings: readonly ImportWarning[];
}

/** O(parts). Pure, so that it may run in a thread of its own. */
export function assembleAnew(
  importer: PartsImporter,
  { runId, parts, known }: AssembleAsk,
  tools: ImportTools,
): Reassembled {
  const { run, warnings } = importer.assemble(runId, parts, tools);
  const { events: all, payloads: held, ...head } = run;
  const prints = printsOf(all, tools.hash);
  const kept = sharedEvents(known, prints);
  const events = all.slice(kept);
  const payloads = new Map<Sha256, Payload>();
  for (const event of events)
    for (const { sha256 } of payloadRefsOf(event)) {
      const payload = held.get(sha256);
      if (payload !== undefined) payloads.set(sha256, payload);
    }
  return { head, kept, events, payloads, prints, warnings };
}
