import { DatabaseProblem } from './database-problem';
import { codesOf, isStorageFull } from './error-codes';

/** What is wrong with a database file, and what to do, in one sentence; undefined where the error says nothing of it. */
export function unusable(file: string, error: unknown): DatabaseProblem | undefined {
  if (error instanceof DatabaseProblem) return undefined;
  const codes = codesOf(error);
  const is = (...names: readonly string[]) =>
    codes.some((code) => names.some((name) => code.startsWith(name)));
  const other = 'set DATABASE_URL to another file';
  if (is('SQLITE_NOTADB'))
    return new DatabaseProblem(`The file ${file} is no SQLite database: move it away, or ${other}.`);
  if (is('SQLITE_CORRUPT'))
    return new DatabaseProblem(
      `The database ${file} is damaged, or only a part of it: put a backup in its place, or ${other}.`,
    );
  if (
    is(
      'SQLITE_CANTOPEN',
      'SQLITE_READONLY',
      'SQLITE_PERM',
      'EACCES',
      'EPERM',
      'EROFS',
      'EISDIR',
      'ENOTDIR',
      'EEXIST',
      'ELOOP',
    )
  )
    return new DatabaseProblem(
      `The database ${file} cannot be opened for writing: it has to be a file, in a folder, that this user may write; or ${other}.`,
    );
  if (isStorageFull(error))
    return new DatabaseProblem(
      `There is no room on the disk of the database ${file}: free some, or ${other}.`,
    );
  return undefined;
}
