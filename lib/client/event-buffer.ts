import type { RunEvent } from '@/lib/core/events/run-event';

export interface EventBufferSnapshot {
  /** Ascending by `seq`, each once; there may be gaps where nothing was loaded. */
  readonly events: readonly RunEvent[];
  /** Highest seq that was ever added; 0 before the first. */
  readonly headSeq: number;
}

/** Events in one read. */
export const CHUNK = 200;

/** The stretch of a journal up to `headSeq` that is read to have the event at `at`: after the first, to the second. */
export function chunkOf(at: number, headSeq: number): readonly [after: number, to: number] {
  const after = Math.floor((at - 1) / CHUNK) * CHUNK;
  return [after, Math.min(headSeq, after + CHUNK)];
}

const EMPTY: EventBufferSnapshot = { events: [], headSeq: 0 };

/**
 * Events of one run as they arrive, in any order and more than once: kept by `seq`. Listeners are told once for all
 * that is added in one turn (a microtask, since hidden tabs get no animation frames). Holds at most `limit` events:
 * beyond that, those farthest from what was added last go, and can be loaded again; those around the cursor stay.
 */
export class EventBuffer {
  #snapshot = EMPTY;
  #listeners = new Set<() => void>();
  #told = true;
  /** After the first, to the second: never let go. */
  #held: readonly [number, number] = [0, 0];

  /** Rises with `reset`: what was asked for before does not belong here any more. */
  #edition = 0;

  constructor(readonly limit = 20_000) {}

  get edition(): number {
    return this.#edition;
  }

  /** Forgets everything: the run has another journal now. */
  reset(): void {
    this.#edition += 1;
    this.#snapshot = EMPTY;
    this.#tell();
  }

  /** Duplicates are passed over: within an edition, the journal never changes what stands at a `seq`. */
  add(incoming: readonly RunEvent[]): void {
    const before = this.#snapshot.events;
    const fresh = incoming.filter((event) => this.at(event.seq) === undefined);
    if (fresh.length === 0) return;
    const sorted = [...new Map(fresh.map((event) => [event.seq, event])).values()].sort(
      (a, b) => a.seq - b.seq,
    );
    const first = sorted[0];
    const last = before.at(-1);
    const merged =
      first && (!last || first.seq > last.seq)
        ? [...before, ...sorted]
        : [...before, ...sorted].sort((a, b) => a.seq - b.seq);
    const events = merged.length > this.limit ? this.#within(merged, incoming.at(-1)?.seq ?? 0) : merged;
    this.#snapshot = { events, headSeq: Math.max(this.#snapshot.headSeq, sorted.at(-1)?.seq ?? 0) };
    this.#tell();
  }

  /** Where somebody looks: the stretch around `seq` stays, whatever arrives elsewhere. */
  holdAround(seq: number | undefined): void {
    this.#held = seq === undefined ? [0, 0] : chunkOf(seq, Number.POSITIVE_INFINITY);
  }

  /** So many of the ascending `events` as may be kept: what is held, and of the rest what lies nearest to `focus`. */
  #within(events: readonly RunEvent[], focus: number): readonly RunEvent[] {
    const from = indexOf(events, this.#held[0] + 1);
    const to = indexOf(events, this.#held[1] + 1);
    const rest = [...events.slice(0, from), ...events.slice(to)];
    const room = Math.max(0, this.limit - (to - from));
    while (rest.length > room) {
      const low = rest[0]?.seq ?? 0;
      const high = rest.at(-1)?.seq ?? 0;
      if (focus - low > high - focus) rest.splice(0, rest.length - room);
      else rest.length = room;
    }
    if (from === to) return rest;
    const at = indexOf(rest, this.#held[0] + 1);
    return [...rest.slice(0, at), ...events.slice(from, to), ...rest.slice(at)];
  }

  /** The event at `seq`, where it is loaded. O(log n). */
  at(seq: number): RunEvent | undefined {
    const { events } = this.#snapshot;
    const found = events[indexOf(events, seq)];
    return found?.seq === seq ? found : undefined;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** The same object until something new was added. */
  readonly snapshot = (): EventBufferSnapshot => this.#snapshot;

  #tell(): void {
    if (!this.#told) return;
    this.#told = false;
    queueMicrotask(() => {
      this.#told = true;
      for (const listener of this.#listeners) listener();
    });
  }
}

/** Index of the first of `events`, which ascend by `seq`, at or after `seq`. */
export function indexOf(events: readonly { readonly seq: number }[], seq: number): number {
  let low = 0;
  let high = events.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((events[middle]?.seq ?? 0) < seq) low = middle + 1;
    else high = middle;
  }
  return low;
}
