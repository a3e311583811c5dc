import type { Sql } from './sql';

/** One caller's part of a transaction. */
export interface Job<Part, Outcome> {
  /** Two jobs that share a key are never in one transaction, and keep their order. */
  keys(): Promise<readonly string[]>;
  /** Reads and decides; `undefined` writes nothing, and the job has settled itself. Called again after a failed group. */
  prepare(): Promise<Part | undefined>;
  /** Its part is synced. */
  done(part: Part, outcome: Outcome): void;
  failed(error: unknown): void;
}

const MAX_GROUP = 256;

/**
 * Group commit: jobs that arrive while the loop turns share one transaction and one sync. Everything is read and decided
 * before the transaction begins, which is sound because nothing else writes and no two jobs of a group share a key.
 * Where a group's transaction fails, each of its jobs is tried alone, so that only the faulty one is told.
 */
export class WriteQueue<Part, Outcome> {
  #waiting: Job<Part, Outcome>[] = [];
  #draining: Promise<void> | undefined;

  constructor(
    private readonly sql: Sql,
    private readonly write: (parts: readonly Part[]) => Promise<Outcome>,
    /** Whether a part need not be on disk before a later one is: a sync covers all that was written before it. */
    private readonly needsNoSync: (part: Part) => boolean = () => false,
  ) {}

  add(job: Job<Part, Outcome>): void {
    this.#waiting.push(job);
    this.#draining ??= this.#drain();
  }

  /** Resolves when nothing waits any more. */
  async idle(): Promise<void> {
    while (this.#draining !== undefined) await this.#draining;
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      // Requests that are being read now join the group.
      await new Promise<void>((resolve) => setImmediate(resolve));
      await this.#runGroup(await this.#take());
    }
    this.#draining = undefined;
  }

  async #take(): Promise<readonly Job<Part, Outcome>[]> {
    const waiting = this.#waiting;
    this.#waiting = [];
    const taken: Job<Part, Outcome>[] = [];
    const left: Job<Part, Outcome>[] = [];
    const busy = new Set<string>();
    for (const job of waiting) {
      const keys = await keysOrFailure(job);
      if (keys === undefined) continue;
      const free = taken.length < MAX_GROUP && !keys.some((key) => busy.has(key));
      (free ? taken : left).push(job);
      for (const key of keys) busy.add(key);
    }
    this.#waiting = [...left, ...this.#waiting];
    return taken;
  }

  async #runGroup(jobs: readonly Job<Part, Outcome>[]): Promise<void> {
    const prepared: { readonly job: Job<Part, Outcome>; readonly part: Part }[] = [];
    for (const job of jobs) {
      try {
        const part = await job.prepare();
        if (part !== undefined) prepared.push({ job, part });
      } catch (error) {
        job.failed(error);
      }
    }
    if (prepared.length === 0) return;
    let outcome: Outcome;
    try {
      outcome = await this.#transaction(prepared.map(({ part }) => part));
    } catch (error) {
      const [only, ...others] = prepared;
      if (only !== undefined && others.length === 0) only.job.failed(error);
      else for (const { job } of prepared) await this.#runGroup([job]);
      return;
    }
    for (const { job, part } of prepared) job.done(part, outcome);
  }

  async #transaction(parts: readonly Part[]): Promise<Outcome> {
    if (!parts.every(this.needsNoSync)) return this.#synced(parts);
    await this.sql.query('PRAGMA synchronous = NORMAL');
    try {
      return await this.#synced(parts);
    } finally {
      await this.sql.query('PRAGMA synchronous = FULL');
    }
  }

  async #synced(parts: readonly Part[]): Promise<Outcome> {
    await this.sql.execute('BEGIN IMMEDIATE');
    try {
      const outcome = await this.write(parts);
      await this.sql.execute('COMMIT');
      return outcome;
    } catch (error) {
      // SQLite may have rolled back by itself (disk full): the first error is the one to tell.
      await this.sql.execute('ROLLBACK').catch(() => undefined);
      throw error;
    }
  }
}

async function keysOrFailure(
  job: Pick<Job<unknown, unknown>, 'keys' | 'failed'>,
): Promise<readonly string[] | undefined> {
  try {
    return await job.keys();
  } catch (error) {
    job.failed(error);
    return undefined;
  }
}
