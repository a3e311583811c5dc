import Database from 'better-sqlite3';
import pg from 'pg';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { runId } from '@/lib/core/events/ids';
import { ApiClient, TestWorker } from '@/lib/testing/api-client';
import { describeOnPostgres, sqliteDatabase } from '@/lib/testing/databases';
import { append, appendTo, newRunRecord, queued } from '@/lib/testing/store-rows';
import { startTestConsole } from '@/lib/testing/test-console';
import type { Store, WriteContext } from '@/lib/usecases/ports';
import { openStore } from './open-store';

/*
 * What is acknowledged is on disk: no kill of a process can show that it is not, since the kernel keeps what was written.
 * So the databases themselves are asked how they commit.
 */

const FULL = 2;
const NORMAL = 1;

/** A change that is written in parts of which only the last one counts. */
const large = (store: Store, change: (context: WriteContext) => ReturnType<typeof appendTo>) =>
  store.commit<string, never>({
    runId: runId('large'),
    inParts: true,
    decide: (context) => ({ ok: true, value: { value: 'whole', change: change(context) } }),
  });
const events = (count: number) => ({ bodies: Array.from({ length: count }, () => queued) });

describe('SQLite store', () => {
  /** How each transaction of any connection was committed, in order. */
  const commits: number[] = [];
  afterEach(() => {
    vi.restoreAllMocks();
    commits.length = 0;
  });

  function watchCommits(): void {
    const { prepare, exec } = Database.prototype;
    const note = (database: Database.Database, sql: string) => {
      if (/^\s*COMMIT/i.test(sql)) commits.push(Number(database.pragma('synchronous', { simple: true })));
    };
    vi.spyOn(Database.prototype, 'exec').mockImplementation(function (this: Database.Database, sql) {
      note(this, sql);
      return exec.call(this, sql);
    });
    vi.spyOn(Database.prototype, 'prepare').mockImplementation(function (this: Database.Database, sql) {
      const statement = prepare.call(this, sql);
      for (const way of ['run', 'all'] as const) {
        const original = statement[way].bind(statement) as (...args: unknown[]) => unknown;
        statement[way] = ((...args: unknown[]) => {
          note(this, sql);
          return original(...args);
        }) as never;
      }
      return statement;
    } as typeof prepare);
  }

  it('syncs every commit that is acknowledged, also after one that needs no sync, done or failed', async () => {
    const database = sqliteDatabase();
    watchCommits();
    const store = await openStore({ url: database.url });
    const since = commits.length;
    await append(store, 'small', events(1));
    expect(commits.slice(since)).toEqual([FULL]);

    const parts = commits.length;
    await large(store, (context) => appendTo(runId('large'), context, events(6_000)));
    // The parts, then the one that makes them count, then the clearing away of their marks.
    expect(commits.slice(parts).join('')).toMatch(new RegExp(`^${NORMAL}+${FULL}${NORMAL}*$`));
    await append(store, 'small', events(1));
    expect(commits.at(-1)).toBe(FULL);

    const twice = (context: WriteContext) => {
      const change = appendTo(runId('large'), { ...context, run: newRunRecord('large') }, events(6_000));
      return { ...change, events: [...change.events, ...change.events.slice(0, 1)] };
    };
    const before = commits.length;
    await expect(large(store, twice)).rejects.toThrow();
    await append(store, 'small', events(1));
    expect(commits.length).toBeGreaterThan(before);
    expect(commits.at(-1)).toBe(FULL);
    await store.close();
    await database.remove();
  });

  it('commits 40 appends of different runs that come together in one sync, and acknowledges none before it', async () => {
    const database = sqliteDatabase();
    watchCommits();
    const store = await openStore({ url: database.url });
    const since = commits.length;
    const committedFirst = await Promise.all(
      Array.from({ length: 40 }, (_, i) =>
        append(store, `run_${i}`, events(1)).then(() => commits.length - since),
      ),
    );
    expect(commits.slice(since)).toEqual([FULL]);
    expect(committedFirst).toEqual(Array(40).fill(1));
    await store.close();
    await database.remove();
  });

  it('commits what one POST /api/v1/events brings of several runs in one sync, and answers for each after it', async () => {
    watchCommits();
    const console = await startTestConsole({ leaseMs: 60_000 });
    const api = new ApiClient(console.url);
    const workers: TestWorker[] = [];
    for (let n = 0; n < 5; n++) workers.push(await TestWorker.create(api));
    const batches = workers.map((worker, n) => ({
      runId: worker.runId,
      ...worker.batch([worker.enter('plan'), worker.external('plan#1/create_refund#1', { amount: n })]),
    }));
    const since = commits.length;
    const { body } = await api.post('/api/v1/events', { batches });
    expect(commits.slice(since)).toEqual([FULL]);
    expect(body.items).toMatchObject(
      workers.map(({ runId }) => ({ runId, status: 200, answer: { firstSeq: 2, headSeq: 3 } })),
    );
    await console.close();
  });
});

describeOnPostgres('PostgreSQL store', (url) => {
  it('syncs what it commits on a server that would not', async () => {
    const client = new pg.Client({ connectionString: url() });
    await client.connect();
    const { pathname } = new URL(url());
    await client.query(`ALTER DATABASE "${pathname.slice(1)}" SET synchronous_commit = off`);
    const store = await openStore({ url: url() });
    await client.query('CREATE TABLE "Commits" ("how" TEXT)');
    await client.query(
      `CREATE FUNCTION note_commit() RETURNS trigger AS 'BEGIN
         INSERT INTO "Commits" VALUES (current_setting(''synchronous_commit'')); RETURN NEW; END' LANGUAGE plpgsql`,
    );
    await client.query('CREATE TRIGGER noted AFTER INSERT ON "Event" EXECUTE FUNCTION note_commit()');
    await append(store, 'small', events(1));
    await large(store, (context) => appendTo(runId('large'), context, events(6_000)));
    const { rows } = await client.query('SELECT DISTINCT "how" FROM "Commits"');
    expect(rows).toEqual([{ how: 'on' }]);
    await store.close();
    await client.end();
  });
});
