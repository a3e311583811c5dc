/** How long an end waits for what is under way. */
const PATIENCE_MS = 1_500;

/**
 * Requests and streams under way, so that the store is closed after the last of them. What may last (long polls,
 * streams) is told by a signal when the console ends.
 */
export class InFlight {
  readonly #open = new Set<Promise<unknown>>();
  readonly #lasting = new Set<AbortController>();
  #ending = false;

  /** Counts the work until it has settled; gives it back. */
  add<Value>(work: Promise<Value>): Promise<Value> {
    const settled: Promise<unknown> = work.catch(() => undefined).finally(() => this.#open.delete(settled));
    this.#open.add(settled);
    return work;
  }

  /** A signal for work that lasts: aborts with `signal`, and when the console ends. `done` lets go of it. */
  lasting(signal: AbortSignal): { readonly stop: AbortController; readonly done: () => void } {
    const stop = new AbortController();
    const abort = () => stop.abort();
    if (signal.aborted || this.#ending) stop.abort();
    signal.addEventListener('abort', abort, { once: true });
    this.#lasting.add(stop);
    const done = () => {
      this.#lasting.delete(stop);
      signal.removeEventListener('abort', abort);
    };
    return { stop, done };
  }

  /** Ends what lasts and waits for everything, though not for ever. */
  async end(): Promise<void> {
    this.#ending = true;
    for (const stop of [...this.#lasting]) stop.abort();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<'late'>((resolve) => {
      timer = setTimeout(() => resolve('late'), PATIENCE_MS);
    });
    while (this.#open.size > 0) {
      if ((await Promise.race([Promise.all(this.#open), late])) === 'late') break;
    }
    clearTimeout(timer);
  }
}
