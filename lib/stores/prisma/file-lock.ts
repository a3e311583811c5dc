import Database from 'better-sqlite3';

/** Another process (or another store of this one) has the file. */
export class DatabaseInUse extends Error {
  override readonly name = 'DatabaseInUse';
  constructor(readonly file: string) {
    super(
      `The database ${file} is in use by another Rerail process, and SQLite allows one owner. ` +
        'Stop that process, or set DATABASE_URL to another file or to a PostgreSQL database.',
    );
  }
}

/**
 * Takes the right to write a database file, for as long as the process lives: an open exclusive transaction on a file
 * beside it. The operating system lets go of it however the process ends. Returns the release.
 */
export function lockDatabaseFile(file: string): () => void {
  const lock = new Database(`${file}.lock`, { timeout: 0 });
  try {
    lock.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    lock.close();
    if (error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY'))
      throw new DatabaseInUse(file);
    throw error;
  }
  return () => lock.close();
}
