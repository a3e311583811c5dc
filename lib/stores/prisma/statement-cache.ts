import type { SqlDriverAdapter } from '@prisma/driver-adapter-utils';
import { type Sql, type SqlRow, type SqlValue, sqlite, sqlOver } from './sql';

/*
 * Prisma's adapter compiles every statement anew, which costs a tenth of a millisecond for a long one, and then carries
 * it through a handful of promises and a mapping of types that our statements do not need: an append has nine of them.
 * So the compiled statements are kept here, and run on the adapter's own connection.
 */

/** Of better-sqlite3's statement, what is used. */
interface Statement {
  readonly reader: boolean;
  run(args: readonly SqlValue[]): { readonly changes: number };
  all(args: readonly SqlValue[]): readonly SqlRow[];
  raw(on: boolean): Statement;
}

interface Database {
  prepare(sql: string): Statement;
}

const MOST = 500;

/**
 * Statements on the adapter's connection, each compiled once. By way of the adapter where that is made otherwise than
 * the one that this was written for: slower, and right.
 */
export function keptStatements(adapter: SqlDriverAdapter): Sql {
  const database = (adapter as { readonly client?: Partial<Database> }).client;
  if (typeof database?.prepare !== 'function') return sqlOver(adapter, sqlite);
  const compile = database.prepare.bind(database);
  const kept = new Map<string, Statement>();
  const statement = (text: string): Statement => {
    const known = kept.get(text);
    if (known !== undefined) return known;
    const compiled = compile(text);
    if (compiled.reader) compiled.raw(true);
    // A pragma takes effect when it is compiled, not when it runs.
    if (text.startsWith('PRAGMA')) return compiled;
    if (kept.size >= MOST) kept.clear();
    kept.set(text, compiled);
    return compiled;
  };
  return {
    dialect: sqlite,
    query: async (text, args = []) => {
      const compiled = statement(text);
      if (compiled.reader) return compiled.all(args);
      compiled.run(args);
      return [];
    },
    execute: async (text, args = []) => statement(text).run(args).changes,
  };
}
