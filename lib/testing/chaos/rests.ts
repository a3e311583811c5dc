import type { RunSummary } from '@/lib/wire/v1/runs';
import { Listener } from './listener';

interface Moved {
  readonly runId: string;
  readonly status: RunSummary['status'];
}

/** A worker has the run, or will: there is nothing for a person to do. */
const IN_HAND: ReadonlySet<RunSummary['status'] | undefined> = new Set(['queued', 'running'] as const);
/** A stream may break or be late to open: whoever waits looks again all the same. */
const LOOK_AGAIN_MS = 1_000;

/** Tells from the console's stream when a run comes to rest, so that nobody asks again and again meanwhile. */
export class Rests {
  readonly #status = new Map<string, RunSummary['status']>();
  readonly #waiting = new Map<string, Set<() => void>>();
  #listening: Promise<void> | undefined;

  constructor(readonly base: () => string) {}

  /** Resolves when the run is not in a worker's hand as far as is known, and after `LOOK_AGAIN_MS` in any case. */
  async rest(runId: string): Promise<void> {
    this.#listening ??= this.#listen();
    if (!IN_HAND.has(this.#status.get(runId))) return;
    const waiting = this.#waiting.get(runId) ?? new Set();
    this.#waiting.set(runId, waiting);
    await new Promise<void>((resolve) => {
      const end = () => {
        clearTimeout(timer);
        waiting.delete(end);
        resolve();
      };
      const timer = setTimeout(end, LOOK_AGAIN_MS);
      waiting.add(end);
    });
  }

  async #listen(): Promise<void> {
    try {
      const listener = await Listener.open<Moved>(this.base(), '', (moved) => this.#heard(moved));
      await listener.ended;
    } catch {
      // The console is down: as long as nobody listens nothing is known, and everybody asks.
    }
    this.#status.clear();
    this.#listening = undefined;
  }

  #heard({ runId, status }: Moved): void {
    this.#status.set(runId, status);
    if (IN_HAND.has(status)) return;
    for (const end of this.#waiting.get(runId) ?? []) end();
  }
}
