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
 * beyond that, those farthest from what was added last go, and can be loaded again.
 */
export class EventBuffer {
  #snapshot = EMPTY;
  #listeners = new Set<() => void>();
  #told = true;

  constructor(readonly limit = 20_000) {}

  /** Duplicates are passed over: the journal never changes what stands at a `seq`. */
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
    const focus = incoming.at(-1)?.seq ?? 0;
    while (merged.length > this.limit) {
      const low = merged[0]?.seq ?? 0;
      const high = merged.at(-1)?.seq ?? 0;
      if (focus - low > high - focus) merged.splice(0, merged.length - this.limit);
      else merged.length = this.limit;
    }
    this.#snapshot = { events: merged, headSeq: Math.max(this.#snapshot.headSeq, sorted.at(-1)?.seq ?? 0) };
    this.#tell();
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

/** Index of the first event at or after `seq`. */
export function indexOf(events: readonly RunEvent[], seq: number): number {
  let low = 0;
  let high = events.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((events[middle]?.seq ?? 0) < seq) low = middle + 1;
    else high = middle;
  }
  return low;
}
