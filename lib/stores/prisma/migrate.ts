import { createHash, randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import Database from 'better-sqlite3';
import pg from 'pg';

interface Migration {
  readonly name: string;
  readonly sql: string;
  readonly checksum: string;
}

interface Applied {
  readonly migration_name: string;
  readonly checksum: string;
}

/** The history table as Prisma writes it. */
const historyTable = (time: string) =>
  `CREATE TABLE IF NOT EXISTS "_prisma_migrations" ("id" VARCHAR(36) PRIMARY KEY NOT NULL, "checksum" VARCHAR(64) NOT NULL,` +
  ` "finished_at" ${time}, "migration_name" VARCHAR(255) NOT NULL, "logs" TEXT, "rolled_back_at" ${time},` +
  ` "started_at" ${time} NOT NULL DEFAULT CURRENT_TIMESTAMP, "applied_steps_count" INTEGER NOT NULL DEFAULT 0)`;
const APPLIED =
  'SELECT migration_name, checksum FROM "_prisma_migrations" WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL';

/**
 * Where the migrations of a provider lie: under `root`, or under the nearest folder above the working directory that
 * has them. Not from `import.meta`, which a bundler moves.
 */
export function migrationsFolder(provider: 'sqlite' | 'postgres', root?: string): string {
  const inside = path.join('prisma', provider, 'migrations');
  if (root !== undefined) return path.join(root, inside);
  for (let folder = process.cwd(); ; folder = path.dirname(folder)) {
    if (existsSync(path.join(folder, inside))) return path.join(folder, inside);
    if (folder === path.dirname(folder))
      throw new Error(`No ${inside} in ${process.cwd()} or above it: start Rerail from its own folder.`);
  }
}

function migrationsIn(folder: string): readonly Migration[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort()
    .map((name) => {
      const sql = readFileSync(path.join(folder, name, 'migration.sql'), 'utf8');
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
    });
}

/** Throws where the database is newer than this build, or a migration was edited after it was applied. */
function pending(all: readonly Migration[], applied: readonly Applied[]): readonly Migration[] {
  const checksums = new Map(applied.map((row) => [row.migration_name, row.checksum]));
  for (const name of checksums.keys())
    if (!all.some((migration) => migration.name === name))
      throw new Error(
        `The database has migration ${name}, which this build does not know: it was used by a newer Rerail.`,
      );
  return all.filter((migration) => {
    const checksum = checksums.get(migration.name);
    if (checksum !== undefined && checksum !== migration.checksum)
      throw new Error(`Migration ${migration.name} was edited after it was applied to this database.`);
    return checksum === undefined;
  });
}

/** Applies what is pending, all or nothing. Returns the names of what it applied. */
export function migrateSqlite(file: string, folder: string): readonly string[] {
  const db = new Database(file, { timeout: 10_000 });
  try {
    db.pragma('journal_mode = WAL');
    db.pragma('foreign_keys = OFF');
    db.exec('BEGIN IMMEDIATE');
    try {
      db.exec(historyTable('DATETIME'));
      const todo = pending(migrationsIn(folder), db.prepare<[], Applied>(APPLIED).all());
      const record = db.prepare(
        'INSERT INTO "_prisma_migrations" (id, checksum, migration_name, started_at, finished_at, applied_steps_count) VALUES (?, ?, ?, ?, ?, 1)',
      );
      for (const { name, sql, checksum } of todo) {
        db.exec(sql);
        record.run(randomUUID(), checksum, name, Date.now(), Date.now());
      }
      db.exec('COMMIT');
      return todo.map(({ name }) => name);
    } catch (error) {
      if (db.inTransaction) db.exec('ROLLBACK');
      throw error;
    }
  } finally {
    db.close();
  }
}

/** The lock that Prisma's own migrations take: two processes that start together wait for each other. */
const MIGRATE_LOCK = 72_707_369;

/** Applies what is pending, all or nothing. Returns the names of what it applied. */
export async function migratePostgres(url: string, folder: string): Promise<readonly string[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query('SELECT pg_advisory_lock($1)', [MIGRATE_LOCK]);
    // What fails in here is rolled back with the connection.
    await client.query('BEGIN');
    await client.query(historyTable('TIMESTAMPTZ'));
    const todo = pending(migrationsIn(folder), (await client.query<Applied>(APPLIED)).rows);
    for (const { name, sql, checksum } of todo) {
      await client.query(sql);
      await client.query(
        'INSERT INTO "_prisma_migrations" (id, checksum, migration_name, started_at, finished_at, applied_steps_count) VALUES ($1, $2, $3, now(), now(), 1)',
        [randomUUID(), checksum, name],
      );
    }
    await client.query('COMMIT');
    return todo.map(({ name }) => name);
  } finally {
    await client.end();
  }
}
