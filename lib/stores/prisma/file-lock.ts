import { readlinkSync, realpathSync } from 'node:fs';
import path from 'node:path';
import Database from 'better-sqlite3';
import { DatabaseProblem } from './database-problem';

/** Another process (or another store of this one) has the file. */
export class DatabaseInUse extends DatabaseProblem {
  override readonly name = 'DatabaseInUse';
  constructor(readonly file: string) {
    super(
      `The database ${file} is in use by another Rerail process, and SQLite allows one owner. ` +
        'Stop that process, or set DATABASE_URL to another file or to a PostgreSQL database.',
    );
  }
}

/** The file itself, whatever links lead to it; it need not exist yet, its folder must. */
export function realFile(file: string): string {
  try {
    return realpathSync(file);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  const target = linkOf(file);
  return target === undefined
    ? path.join(realpathSync(path.dirname(file)), path.basename(file))
    : realFile(path.resolve(path.dirname(file), target));
}

/** Where a link that leads to no file points; undefined where there is no link either. */
function linkOf(file: string): string | undefined {
  try {
    return readlinkSync(file);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

const isMissing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ENOENT';

/**
 * Takes the right to write a database file, for as long as the process lives: an open exclusive transaction on a file
 * beside it. The operating system lets go of it however the process ends. Returns the release. The file beside it can
 * be removed, and a hard link has another one: so nobody else may have the database itself open either.
 */
export function lockDatabaseFile(file: string): () => void {
  const lock = new Database(`${file}.lock`, { timeout: 0 });
  try {
    exclusively(lock, file, 'BEGIN EXCLUSIVE');
    refuseOpened(file);
  } catch (error) {
    lock.close();
    throw error;
  }
  return () => lock.close();
}

/** Every open connection of an owner holds a lock on the file itself, by its inode; this one goes with none of them. */
function refuseOpened(file: string): void {
  const db = new Database(file, { timeout: 0 });
  try {
    db.pragma('locking_mode = EXCLUSIVE');
    exclusively(db, file, 'BEGIN EXCLUSIVE; COMMIT');
  } finally {
    db.close();
  }
}

function exclusively(db: Database.Database, file: string, sql: string): void {
  try {
    db.exec(sql);
  } catch (error) {
    if (error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY'))
      throw new DatabaseInUse(file);
    throw error;
  }
}
