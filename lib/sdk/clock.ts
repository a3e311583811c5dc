/** Times, timers and randomness of a worker. Tests bring their own. */
export interface Clock {
  /** Wall clock, epoch milliseconds. */
  now(): number;
  /** Monotonic milliseconds; stands still while the machine sleeps. */
  mono(): number;
  /** Calls back once after `ms`; returns the way to cancel. */
  after(ms: number, fn: () => void): () => void;
  /** Calls back when the code that runs now, and every microtask that it sets off, is done. */
  turn(fn: () => void): void;
  /** The same, but before timers and everything else that is waited for have their turn. */
  settled(fn: () => void): void;
  random(): number;
  uuid(): string;
}

interface Originals {
  readonly now: () => number;
  readonly mono: () => number;
  readonly random: () => number;
  readonly uuid: () => string;
}

/*
 * In a replay's child process the globals are watched, and what the SDK itself does is not to be reported as the
 * agent's: the watcher keeps the originals.
 */
const kept = (globalThis as unknown as Readonly<Record<symbol, Originals | undefined>>)[
  Symbol.for('rerail.originals')
];
const { now, mono, random, uuid }: Originals = kept ?? {
  now: Date.now.bind(Date),
  mono: performance.now.bind(performance),
  random: Math.random.bind(Math),
  uuid: crypto.randomUUID.bind(crypto),
};

/** Ticks come after every microtask, those included which microtasks set off. */
export function settled(fn: () => void): void {
  queueMicrotask(() => process.nextTick(fn));
}

/** The machine's own. */
export const systemClock: Clock = {
  now,
  mono,
  after: (ms, fn) => {
    const timer = setTimeout(fn, Math.max(0, ms));
    return () => clearTimeout(timer);
  },
  turn: (fn) => {
    setImmediate(fn);
  },
  settled,
  random,
  uuid,
};
