import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { PrismaBetterSqlite3 } from '@prisma/adapter-better-sqlite3';
import { type EpochMs, epochMs, type RunId, type Sha256 } from '@/lib/core/events/ids';
import type { Payload } from '@/lib/core/events/payload';
import { wantedBy } from '@/lib/core/journal/wanted';
import { statusNow } from '@/lib/core/projections/run-status';
import { assertDefined } from '@/lib/core/shared/assert';
import type { Result } from '@/lib/core/shared/result';
import type { Change, Store, WriteAsk } from '@/lib/usecases/ports';
import { assertChange } from './assert-change';
import { auditStore, fillAudit } from './audit-rows';
import { machineStore, type Writer, workerStore } from './catalogue';
import { lockDatabaseFile, realFile } from './file-lock';
import { HotRuns } from './hot-runs';
import { LocalFeed } from './local-feed';
import { migrateSqlite, migrationsFolder } from './migrate';
import { payloadReader, payloadSweep } from './payload-reader';
import { digestsIn } from './payload-refs';
import { sqliteClient } from './prisma-client';
import { readContext, readLedgerVersion, readRun } from './read-context';
import type { RunRow } from './rows';
import { runReader } from './run-reader';
import { shareStore } from './shares';
import type { Sql } from './sql';
import { abandon, isLarge, recoverStaged, settle, stage } from './staging';
import { keptStatements } from './statement-cache';
import { unusable } from './unusable-file';
import { type Job, WriteQueue } from './write-queue';
import { changesLedger, newestByConsole, type RunWrite, writeRows } from './write-rows';

export interface SqliteStoreOptions {
  /** Path of the database file; its folder is made. */
  readonly file: string;
  /** Folder that has `prisma/`; found from the working directory otherwise. */
  readonly root?: string;
  /** The store's clock; the system's by default. */
  readonly now?: () => EpochMs;
}

/** One caller's rows in a group. */
interface Part {
  /** The asked run's, then those that go with it. */
  readonly runs?: readonly RunWrite[];
  readonly loose?: readonly Payload[];
  /** Statements of its own. */
  readonly write?: (sql: Sql) => Promise<void>;
  /** Counts only with a later part, whose sync covers it. */
  readonly staged?: true;
}

/**
 * The store on one SQLite file, which this process owns: throws `DatabaseInUse` where another has it. All writes go
 * through one queue with group commit, synced (WAL, `synchronous=FULL`) before they are acknowledged; reads have
 * connections of their own and see committed rows only.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const named = path.resolve(options.file);
  let unlock: (() => void) | undefined;
  try {
    mkdirSync(path.dirname(named), { recursive: true });
    // A lock is taken, and a log kept, beside the file itself, by whatever name it is opened.
    const file = realFile(named);
    unlock = lockDatabaseFile(file);
    migrateSqlite(file, migrationsFolder('sqlite', options.root));
    return await openOwned(file, unlock, options.now ?? (() => epochMs(Date.now())));
  } catch (error) {
    unlock?.();
    throw unusable(named, error) ?? error;
  }
}

/** The log is copied into the file every 16 MB: at SQLite's own 1,000 pages every large batch would pay for that. */
const PRAGMAS =
  'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = OFF;' +
  ' PRAGMA wal_autocheckpoint = 4096; PRAGMA journal_size_limit = 67108864;';

/** A filter that no index serves looks at every run: of 100,000 in 40 ms as mapped memory, where reading page by page takes 140. */
const READING = 'PRAGMA mmap_size = 1073741824;';

async function openOwned(file: string, unlock: () => void, now: () => EpochMs): Promise<Store> {
  const writer = await new PrismaBetterSqlite3({ url: `file:${file}` }).connect();
  await writer.executeScript(PRAGMAS);
  const readers = new PrismaBetterSqlite3({ url: `file:${file}`, readonly: true });
  const reading = await readers.connect();
  await reading.executeScript(READING);
  const client = sqliteClient(readers);

  const sql = keptStatements(writer);
  const readSql = keptStatements(reading);
  const hot = new HotRuns();
  const feed = new LocalFeed();
  /** Leases are judged from then on, as the console judges them. */
  const openedAt = now();
  // Ledger versions and loose payloads are this process's alone to change, so that a hot append need not ask for them.
  const ledgers = new Map<RunId, number>();
  await recoverStaged(sql);
  await fillAuditOnce(sql);
  const loose = new Set(await looseDigests(sql));
  let closed = false;

  const queue = new WriteQueue<Part, ReadonlyMap<RunId, number>>(
    sql,
    async (parts) => {
      const runs = parts.flatMap((part) => part.runs ?? []);
      const keys = await writeRows(sql, {
        at: now(),
        runs,
        loose: parts.flatMap((part) => part.loose ?? []),
        mayBeLoose: (digest) => loose.has(digest),
        loosened: (digests) => {
          for (const digest of digests) loose.add(digest);
        },
      });
      for (const { write } of parts) await write?.(sql);
      return keys;
    },
    ({ staged }) => staged === true,
  );

  function submit(job: Job<Part, ReadonlyMap<RunId, number>>): void {
    if (closed) job.failed(new Error('The store is closed'));
    else queue.add(job);
  }

  async function rowOf(id: RunId): Promise<RunRow | undefined> {
    const known = hot.get(id);
    if (known !== undefined) return known;
    const row = await readRun(sql, id);
    if (row !== undefined) hot.set(row);
    return row;
  }

  async function ledgerVersionOf(root: RunId): Promise<number> {
    const known = ledgers.get(root);
    if (known !== undefined) return known;
    const version = await readLedgerVersion(sql, root);
    if (ledgers.size > MAX_LEDGERS) ledgers.clear();
    ledgers.set(root, version);
    return version;
  }

  /** After the commit: what later decisions and reads may now see. */
  function remember({ change, before, staged }: RunWrite, newKeys: ReadonlyMap<RunId, number>): void {
    const { run } = change;
    let ledgerVersion = ledgers.get(run.root) ?? 0;
    if (changesLedger(change)) {
      ledgerVersion += 1;
      ledgers.set(run.root, ledgerVersion);
      const owner = hot.get(run.root);
      if (owner !== undefined) hot.set({ ...owner, record: { ...owner.record, ledgerVersion } });
    }
    hot.set({
      key: assertDefined(newKeys.get(run.runId), 'a stored run has a number'),
      consoleSeq: newestByConsole(change, before?.consoleSeq),
      record: { ...run, ledgerVersion: run.root === run.runId ? ledgerVersion : 0 },
    });
    if (staged !== undefined) return;
    const used = digestsIn(change.events);
    for (const { sha256 } of change.payloads) if (!used.has(sha256)) loose.add(sha256);
    if (loose.size > 0) for (const digest of used) loose.delete(digest);
  }

  function commit<Value, Problem>(ask: WriteAsk<Value, Problem>): Promise<Result<Value, Problem>> {
    return new Promise((resolve, reject) => {
      let answer: Result<Value, Problem> | undefined;
      /** Numbers of the changes that were staged. */
      let staged: ReadonlyMap<Change, number> | undefined;
      const job: Job<Part, ReadonlyMap<RunId, number>> = {
        async keys() {
          const root = (await rowOf(ask.runId))?.record.root ?? ask.root ?? ask.runId;
          const others = (ask.also ?? []).flatMap((other) => [`run ${other.runId}`, `run ${other.root}`]);
          const keys = [`run ${ask.runId}`, `run ${root}`, ...others];
          return ask.answerKey === undefined ? keys : [...keys, `answer ${ask.answerKey}`];
        },
        async prepare() {
          const row = await rowOf(ask.runId);
          const root = row?.record.root ?? ask.root ?? ask.runId;
          const ledgerVersion = await ledgerVersionOf(root);
          const also = new Map<RunId, RunRow>();
          for (const { runId } of ask.also ?? []) {
            const other = await rowOf(runId);
            if (other !== undefined) also.set(runId, other);
          }
          const context = await readContext(sql, ask, { row, root, ledgerVersion, now: now(), also });
          const decided = ask.decide(context);
          const change = decided.ok ? decided.value.change : undefined;
          answer = decided.ok ? { ok: true, value: decided.value.value } : decided;
          if (change === undefined) {
            forget(staged, answer);
            return undefined;
          }
          const together = [change, ...(change.also ?? [])];
          const large =
            ask.inParts === true && staged === undefined
              ? together.filter(
                  (one) => isLarge(one) && (one === change ? row : also.get(one.run.runId)) === undefined,
                )
              : [];
          if (large.length > 0) {
            stageAll(large).then((numbers) => {
              staged = numbers;
              submit(job);
            }, reject);
            return undefined;
          }
          assertChange(ask.runId, context, change);
          const runs: RunWrite[] = [{ change, before: row, staged: staged?.get(change) }];
          for (const other of change.also ?? []) {
            const known = also.get(other.run.runId);
            assertChange(other.run.runId, { ...context, run: known?.record }, other);
            runs.push({ change: other, before: known, staged: staged?.get(other) });
          }
          return { runs };
        },
        done({ runs = [] }, newKeys) {
          for (const written of runs) remember(written, newKeys);
          const given = assertDefined(answer, 'a commit decides before it is done');
          if (staged === undefined) resolve(given);
          else void settleAll(staged).finally(() => resolve(given));
          for (const { change } of runs) {
            const { runId, headSeq, edition } = change.run;
            feed.publish({
              runId,
              headSeq,
              edition,
              status: statusNow(change.run, now(), openedAt),
              wanted: wantedBy(change.run) !== undefined,
            });
          }
        },
        failed: (error) => {
          // What stays behind where this fails too is cleared away when the file is opened again.
          void abandonAll(staged).finally(() => reject(error));
        },
      };
      const forget = (numbers: typeof staged, given: Result<Value, Problem>) => {
        if (numbers === undefined) resolve(given);
        else void abandonAll(numbers).finally(() => resolve(given));
      };
      submit(job);
    });
  }

  async function stageAll(changes: readonly Change[]): Promise<ReadonlyMap<Change, number>> {
    const numbers = new Map<Change, number>();
    try {
      for (const change of changes)
        numbers.set(
          change,
          await stage(change, { write: writeStaged, put: puttingPayloads({ staged: true }), now }),
        );
    } catch (error) {
      await abandonAll(numbers);
      throw error;
    }
    return numbers;
  }

  async function settleAll(numbers: ReadonlyMap<Change, number>): Promise<void> {
    for (const [{ events }, key] of numbers)
      await settle(key, events, writeStaged, (digests) => {
        for (const digest of digests) loose.delete(digest);
      }).catch(() => undefined);
  }

  async function abandonAll(numbers: ReadonlyMap<Change, number> | undefined): Promise<void> {
    for (const key of numbers?.values() ?? []) await abandon(key, writeStaged).catch(() => undefined);
  }

  const puttingPayloads =
    (more: Pick<Part, 'staged'>) =>
    (payloads: readonly Payload[]): Promise<void> =>
      payloads.length === 0
        ? Promise.resolve()
        : new Promise((resolve, reject) =>
            submit({
              keys: async () => [],
              prepare: async () => ({ loose: payloads, ...more }),
              done: () => {
                for (const { sha256 } of payloads) loose.add(sha256);
                resolve();
              },
              failed: reject,
            }),
          );

  const writing =
    (more: Pick<Part, 'staged'>): Writer =>
    (statements) =>
      new Promise((resolve, reject) =>
        submit({
          keys: async () => [],
          prepare: async () => ({ write: statements, ...more }),
          done: () => resolve(),
          failed: reject,
        }),
      );

  const write = writing({});
  const writeStaged = writing({ staged: true });

  return {
    ...runReader(readSql),
    commit,
    run: async (id) => hot.get(id)?.record ?? (await readRun(readSql, id))?.record,
    payloads: {
      ...payloadReader(readSql),
      put: puttingPayloads({}),
      sweep: payloadSweep(readSql, write, (digests) => {
        for (const digest of digests) loose.delete(digest);
      }),
    },
    machines: machineStore(client, write),
    workers: workerStore(client, write),
    shares: shareStore(client, write),
    audit: auditStore(readSql, write),
    feed,
    clock: { now },
    async close() {
      closed = true;
      await queue.idle();
      await client.$disconnect();
      await reading.dispose();
      await writer.dispose();
      unlock();
    },
  };
}

/** Before anybody else writes: this process owns the file. */
async function fillAuditOnce(sql: Sql): Promise<void> {
  await sql.execute('BEGIN IMMEDIATE');
  try {
    await fillAudit(sql);
    await sql.execute('COMMIT');
  } catch (error) {
    await sql.execute('ROLLBACK');
    throw error;
  }
}

const MAX_LEDGERS = 10_000;

async function looseDigests(sql: Sql): Promise<readonly Sha256[]> {
  const rows = await sql.query('SELECT lower(hex("sha256")) FROM "Loose"');
  return rows.map(([digest]) => String(digest) as Sha256);
}
