import { apiUrl, getJson, runPath } from './api';
import type { Page, RunSummary } from './api-types';

/** So many of the runs that moved last are known by name; of others the count tells whether one is new. */
const KNOWN = 200;

/**
 * Tells runs that came after it was begun from those that were there. A run's own times do not: a file that is uploaded
 * today may hold a run of last year. So a run that moves is new where it is not known and there is one more than before.
 */
export class ArrivalWatch {
  readonly #known = new Set<string>();
  readonly #arrived = new Set<string>();
  #before: number | undefined;

  /** How many runs there were; undefined until `look` has been answered. */
  get before(): number | undefined {
    return this.#before;
  }

  /** Reads what is there. The first time it is all known; later what is not known has arrived meanwhile, oldest first. */
  async look(signal: AbortSignal): Promise<readonly RunSummary[]> {
    const answer = await getJson<Page<RunSummary>>(apiUrl('/runs', { limit: KNOWN }), signal);
    if (!answer.ok || signal.aborted) return [];
    const { items, total } = answer.value;
    if (this.#before === undefined) {
      this.#before = total;
      for (const { id } of items) this.#known.add(id);
      return [];
    }
    return [...items].reverse().filter((run) => this.#judge(run.id, total));
  }

  /** The run, where it has arrived; also when it moves on after that. */
  async moved(runId: string, signal: AbortSignal): Promise<RunSummary | undefined> {
    if (this.#before === undefined || this.#known.has(runId)) return undefined;
    const [run, count] = await Promise.all([
      getJson<RunSummary>(apiUrl(runPath(runId)), signal),
      getJson<Page<RunSummary>>(apiUrl('/runs', { limit: 1 }), signal),
    ]);
    if (!run.ok || !count.ok) return undefined;
    return this.#judge(runId, count.value.total) ? run.value : undefined;
  }

  #judge(runId: string, total: number): boolean {
    if (this.#arrived.has(runId)) return true;
    if (this.#known.has(runId)) return false;
    const isNew = total > (this.#before ?? 0) + this.#arrived.size;
    (isNew ? this.#arrived : this.#known).add(runId);
    return isNew;
  }
}
