import type { RunId } from '@/lib/core/events/ids';
import type { RunRow } from './rows';

const CAPACITY = 1_000;

/**
 * Rows of the runs that are being written, so that an append to a live run reads nothing. Sound only where this
 * process is the only writer, and where a row enters after its commit.
 */
export class HotRuns {
  readonly #rows = new Map<RunId, RunRow>();

  get(id: RunId): RunRow | undefined {
    return this.#rows.get(id);
  }

  /** The least recently written row makes room. */
  set(row: RunRow): void {
    const id = row.record.runId;
    this.#rows.delete(id);
    this.#rows.set(id, row);
    if (this.#rows.size <= CAPACITY) return;
    const [oldest] = this.#rows.keys();
    if (oldest !== undefined) this.#rows.delete(oldest);
  }
}
