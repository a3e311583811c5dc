import type { SqlDriverAdapter } from '@prisma/driver-adapter-utils';

/*
 * Prisma's adapter compiles every statement anew, which costs a tenth of a millisecond for a long one: an append has
 * seven. It binds by `prepare(sql).bind(args)`, and better-sqlite3 lets a statement be bound once, so what is kept here
 * is the compiled statement, given its arguments when it runs.
 */

/** Of better-sqlite3's statement, what Prisma's adapter uses. */
interface Statement {
  readonly reader: boolean;
  run(args: readonly unknown[]): unknown;
  all(args: readonly unknown[]): readonly unknown[];
  raw(on: boolean): Statement;
  columns(): readonly unknown[];
}

interface Database {
  prepare(sql: string): Statement;
}

interface Bound {
  readonly reader: boolean;
  run(): unknown;
  columns(): readonly unknown[];
  raw(): { all(): readonly unknown[] };
}

const MOST = 500;

/**
 * Keeps the compiled statements of the adapter's connection. Does nothing where the adapter is made otherwise than the
 * one that this was written for: slower, and right.
 */
export function keepStatements(adapter: SqlDriverAdapter): void {
  const database = (adapter as { readonly client?: Partial<Database> }).client;
  if (typeof database?.prepare !== 'function') return;
  const compile = database.prepare.bind(database);
  const kept = new Map<string, (args: readonly unknown[]) => Bound>();
  const keep = (sql: string) => {
    const statement = compile(sql);
    let columns: readonly unknown[] | undefined;
    if (statement.reader) statement.raw(true);
    const binder = (args: readonly unknown[]): Bound => ({
      reader: statement.reader,
      run: () => statement.run(args),
      columns: () => {
        columns ??= statement.columns();
        return columns;
      },
      raw: () => ({ all: () => statement.all(args) }),
    });
    // A pragma takes effect when it is compiled, not when it runs.
    if (sql.startsWith('PRAGMA')) return binder;
    if (kept.size >= MOST) kept.clear();
    kept.set(sql, binder);
    return binder;
  };
  const prepare = (sql: string) => {
    const bind = kept.get(sql) ?? keep(sql);
    return { ...bind([]), bind: (args: readonly unknown[]) => bind(args) };
  };
  Object.assign(database, { prepare });
}
