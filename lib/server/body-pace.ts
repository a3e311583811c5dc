import type { EdgeProblem } from './http';

/** How a body has to come. A slow line is none's fault, but a body that hardly comes keeps room that others wait for. */
export interface BodyPace {
  /** Of silence, at most. */
  readonly idleMs: number;
  /** In every stretch of so long … */
  readonly stretchMs: number;
  /** … so many bytes have to come at least. */
  readonly stretchBytes: number;
}

export const BODY_IDLE_MS = 30_000;
export const BODY_STRETCH_MS = 30_000;
/** A modem of 1990 sends three times as much. */
export const BODY_BYTES_PER_SECOND = 1_024;

export const defaultPace: BodyPace = {
  idleMs: BODY_IDLE_MS,
  stretchMs: BODY_STRETCH_MS,
  stretchBytes: (BODY_BYTES_PER_SECOND * BODY_STRETCH_MS) / 1_000,
};

/** Calls `refuse` once the body comes too slowly, until `end`. */
export function watchPace(
  { idleMs, stretchMs, stretchBytes }: BodyPace,
  refuse: (problem: EdgeProblem) => void,
): { readonly took: (bytes: number) => void; readonly end: () => void } {
  let came = 0;
  const idle = setTimeout(() => refuse({ kind: 'body-stalled', idleMs }), idleMs);
  const stretch = setInterval(() => {
    if (came < stretchBytes)
      refuse({ kind: 'body-too-slow', leastBytesPerSecond: Math.ceil((stretchBytes * 1_000) / stretchMs) });
    came = 0;
  }, stretchMs);
  return {
    took: (bytes) => {
      came += bytes;
      idle.refresh();
    },
    end: () => {
      clearTimeout(idle);
      clearInterval(stretch);
    },
  };
}

/** Bytes that may lie in memory at once, of bodies that come in or wait for their turn. */
export class BodyRoom {
  #free: number;

  constructor(bytes: number) {
    this.#free = bytes;
  }

  get free(): number {
    return this.#free;
  }

  /** False where there is no room for so many more. */
  take(bytes: number): boolean {
    if (bytes > this.#free) return false;
    this.#free -= bytes;
    return true;
  }

  give(bytes: number): void {
    this.#free += bytes;
  }
}

/** What one body has of a room. */
export class Place {
  #taken = 0;
  readonly #room: BodyRoom | undefined;

  constructor(room: BodyRoom | undefined) {
    this.#room = room;
  }

  take(bytes: number): boolean {
    if (this.#room === undefined) return true;
    if (!this.#room.take(bytes)) return false;
    this.#taken += bytes;
    return true;
  }

  leave(): void {
    this.#room?.give(this.#taken);
    this.#taken = 0;
  }
}

/** When a body that found no room may come again. */
export const NO_ROOM: EdgeProblem = { kind: 'no-room', retryAfterSeconds: 5 };
