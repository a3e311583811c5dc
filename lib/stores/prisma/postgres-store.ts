import { setTimeout as pause } from 'node:timers/promises';
import { PrismaPg } from '@prisma/adapter-pg';
import { isDriverAdapterError, type SqlDriverAdapter } from '@prisma/driver-adapter-utils';
import { type EpochMs, epochMs, type RunId, type Sha256 } from '@/lib/core/events/ids';
import { wantedBy } from '@/lib/core/journal/wanted';
import { statusNow } from '@/lib/core/projections/run-status';
import { assertDefined } from '@/lib/core/shared/assert';
import type { Result } from '@/lib/core/shared/result';
import type { RunMoved, Store, WriteAsk } from '@/lib/usecases/ports';
import { assertChange } from './assert-change';
import { auditStore, fillAudit } from './audit-rows';
import { machineStore, type Writer, workerStore } from './catalogue';
import { migratePostgres, migrationsFolder } from './migrate';
import { fromColumn, toColumn } from './packed';
import { payloadReader, payloadSweep } from './payload-reader';
import { openPostgresFeed } from './postgres-feed';
import { postgresClient } from './prisma-client';
import { readContext, readRun } from './read-context';
import type { RunRow } from './rows';
import { movedSince, runReader } from './run-reader';
import { shareStore } from './shares';
import { postgres, type Sql, sqlOver } from './sql';
import { type RunWrite, writeRows } from './write-rows';

export interface PostgresStoreOptions {
  /** `postgres://…` */
  readonly url: string;
  /** Folder that has `prisma/`; found from the working directory otherwise. */
  readonly root?: string;
  /** Connections for commits and reads; one more listens. 10 by default. */
  readonly connections?: number;
}

/** A transaction that lost a race (deadlock, serialisation, the same row made twice) is tried again this often. */
const MAX_TRIES = 10;

/**
 * The store on a PostgreSQL database that several processes share. A commit is one transaction under a lock on the
 * lineage, which covers the run, its ledger, and rows that do not exist yet. Times are the database's.
 */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  const { url } = options;
  await migratePostgres(url, migrationsFolder('postgres', options.root));
  const factory = new PrismaPg({ connectionString: url, max: options.connections ?? 10 });
  const adapter = await factory.connect();
  const client = postgresClient(new PrismaPg({ connectionString: url, max: 2 }));
  const sql = sqlOver(adapter, postgres);
  const clock = await databaseClock(sql);
  /** Leases are judged from then on, as the console judges them. */
  const openedAt = clock.now();
  const feed = await openPostgresFeed(url, {
    now: clock.now,
    moved: (since) => movedSince(sql, since, { now: clock.now(), judgedFrom: openedAt }),
  });
  /** A run's root never changes. */
  const roots = new Map<RunId, RunId>();

  async function rootOf(transaction: Sql, id: RunId): Promise<RunId | undefined> {
    const known = roots.get(id);
    if (known !== undefined) return known;
    const [row] = await transaction.query('SELECT "root" FROM "Run" WHERE "runId" = ?', [toColumn(id)]);
    return row === undefined ? undefined : (fromColumn(String(row[0])) as RunId);
  }

  async function commitOnce<Value, Problem>(
    transaction: Sql,
    ask: WriteAsk<Value, Problem>,
  ): Promise<{ readonly answer: Result<Value, Problem>; readonly moved?: readonly RunMoved[] } | 'again'> {
    const root = (await rootOf(transaction, ask.runId)) ?? ask.root ?? ask.runId;
    const together = [root, ...(ask.also ?? []).map((other) => other.root)];
    await lock(transaction, together, ask.answerKey);
    await holdLoose(
      transaction,
      (ask.payloads ?? []).map(({ sha256 }) => sha256),
    );
    const row = await readRun(transaction, ask.runId);
    if (row !== undefined) {
      if (roots.size > MAX_ROOTS) roots.clear();
      roots.set(ask.runId, row.record.root);
      // The run was made meanwhile, in another lineage than the one that is locked.
      if (row.record.root !== root) return 'again';
    }
    const { now, ledgerVersion } = await clock.read(transaction, root);
    const also = new Map<RunId, RunRow>();
    for (const { runId } of ask.also ?? []) {
      const other = await readRun(transaction, runId);
      if (other !== undefined) also.set(runId, other);
    }
    const context = await readContext(transaction, ask, { row, root, ledgerVersion, now, also });
    const decided = ask.decide(context);
    if (!decided.ok) return { answer: decided };
    const { value, change } = decided.value;
    const answer = { ok: true, value } as const;
    if (change === undefined) return { answer };
    assertChange(ask.runId, context, change);
    const runs: RunWrite[] = [{ change, before: row }];
    for (const other of change.also ?? []) {
      const known = also.get(other.run.runId);
      assertChange(other.run.runId, { ...context, run: known?.record }, other);
      runs.push({ change: other, before: known });
    }
    await holdLoose(
      transaction,
      runs.flatMap(({ change: { payloads } }) => payloads.map(({ sha256 }) => sha256)),
    );
    await writeRows(transaction, {
      at: now,
      runs,
      loose: [],
      mayBeLoose: () => true,
    });
    const moved = runs.map(({ change: { run } }) => ({
      runId: run.runId,
      headSeq: run.headSeq,
      edition: run.edition,
      status: statusNow(run, now, openedAt),
      wanted: wantedBy(run) !== undefined,
    }));
    for (const one of moved) await feed.announce(transaction, one);
    return { answer, moved };
  }

  async function commit<Value, Problem>(ask: WriteAsk<Value, Problem>): Promise<Result<Value, Problem>> {
    for (let tries = 1; ; tries += 1) {
      const done = await attempt(
        () =>
          inTransaction(
            adapter,
            (transaction) => commitOnce(transaction, ask),
            (outcome) => outcome !== 'again' && outcome.moved !== undefined,
          ),
        tries,
      );
      if (done === 'again') continue;
      for (const moved of done.moved ?? []) feed.publish(moved);
      return done.answer;
    }
  }

  const write: Writer = async (statements) => {
    for (let tries = 1; ; tries += 1) {
      const done = await attempt(async () => {
        await inTransaction(adapter, statements, () => true);
        return 'done' as const;
      }, tries);
      if (done === 'done') return;
    }
  };

  await write(async (transaction) => {
    // Processes that start together fill it once.
    await transaction.execute('SELECT pg_advisory_xact_lock(hashtextextended(?, 0))', ['audit']);
    await fillAudit(transaction);
  });

  return {
    ...runReader(sql),
    commit,
    payloads: {
      ...payloadReader(sql),
      put: (payloads) =>
        payloads.length === 0
          ? Promise.resolve()
          : write(async (transaction) => {
              await writeRows(transaction, {
                at: clock.now(),
                runs: [],
                loose: payloads,
                mayBeLoose: () => true,
              });
            }),
      sweep: payloadSweep(sql, write),
    },
    machines: machineStore(client, write),
    workers: workerStore(client, write),
    shares: shareStore(client, write),
    audit: auditStore(sql, write),
    feed,
    clock: { now: clock.now },
    async close() {
      await feed.close();
      await client.$disconnect();
      await adapter.dispose();
    },
  };
}

const MAX_ROOTS = 10_000;

/** Runs `work`; keeps what it wrote where `keep` says so, else nothing. */
async function inTransaction<Outcome>(
  adapter: SqlDriverAdapter,
  work: (sql: Sql) => Promise<Outcome>,
  keep: (outcome: Outcome) => boolean,
): Promise<Outcome> {
  const transaction = await adapter.startTransaction();
  const sql = sqlOver(transaction, postgres);
  try {
    const outcome = await work(sql);
    await sql.execute(keep(outcome) ? 'COMMIT' : 'ROLLBACK');
    await transaction.commit();
    return outcome;
  } catch (error) {
    // Where the connection is gone this fails too: the first error is the one to tell.
    await sql.execute('ROLLBACK').catch(() => undefined);
    await transaction.rollback();
    throw error;
  }
}

/** `again` where the transaction lost a race that it may win the next time. */
async function attempt<Outcome>(work: () => Promise<Outcome>, tries: number): Promise<Outcome | 'again'> {
  try {
    return await work();
  } catch (error) {
    if (!lostRace(error) || tries >= MAX_TRIES) throw error;
    await pause(Math.random() * tries * 5);
    return 'again';
  }
}

const lostRace = (error: unknown): boolean =>
  isDriverAdapterError(error) &&
  (error.cause.kind === 'TransactionWriteConflict' || error.cause.kind === 'UniqueConstraintViolation');

/** Serialises the lineages, then the caller's answer, until the transaction ends; what it commits will be synced. */
async function lock(transaction: Sql, roots: readonly RunId[], answerKey: string | undefined): Promise<void> {
  // In one order everywhere, so that nobody waits for one who waits for him.
  for (const root of [...new Set(roots)].sort())
    await transaction.execute(
      `SELECT set_config('synchronous_commit', 'on', true), pg_advisory_xact_lock(hashtextextended(?, 0))`,
      [`lineage ${toColumn(root)}`],
    );
  if (answerKey !== undefined)
    await transaction.execute('SELECT pg_advisory_xact_lock(hashtextextended(?, 0))', [
      `answer ${toColumn(answerKey)}`,
    ]);
}

/**
 * Keeps a sweep away from payloads that the decision finds stored, or that its change brings and may find stored, or
 * waits for the sweep that has them.
 */
async function holdLoose(transaction: Sql, digests: readonly Sha256[]): Promise<void> {
  if (digests.length === 0) return;
  const { rows, unhex } = postgres;
  await transaction.query(
    `SELECT 1 FROM "Loose" WHERE "sha256" IN (SELECT ${unhex('v.value->>0')} FROM ${rows}) ORDER BY "sha256" FOR UPDATE`,
    [JSON.stringify(digests.map((digest) => [digest]))],
  );
}

const DATABASE_NOW = 'CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)';
/** A reading that took longer says too little about the difference of the clocks. */
const GOOD_READING_MS = 100;

/** The database's clock: read in every commit; in between, this process's clock corrected by the newest good reading. */
async function databaseClock(sql: Sql) {
  let ahead = 0;
  const note = (databaseMs: number, sentAt: number, first = false): EpochMs => {
    const heardAt = Date.now();
    if (first || heardAt - sentAt <= GOOD_READING_MS) ahead = databaseMs - (sentAt + heardAt) / 2;
    return epochMs(databaseMs);
  };
  const sentAt = Date.now();
  const [row] = await sql.query(`SELECT ${DATABASE_NOW}`);
  note(Number(assertDefined(row, 'the clock answers')[0]), sentAt, true);
  return {
    now: () => epochMs(Math.round(Date.now() + ahead)),
    async read(transaction: Sql, root: RunId) {
      const asked = Date.now();
      const [found] = await transaction.query(
        `SELECT ${DATABASE_NOW}, COALESCE((SELECT "version" FROM "Ledger" WHERE "root" = ?), 0)`,
        [toColumn(root)],
      );
      const [now, version] = assertDefined(found, 'the clock answers');
      return { now: note(Number(now), asked), ledgerVersion: Number(version) };
    },
  };
}
