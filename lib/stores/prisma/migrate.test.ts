import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Database from 'better-sqlite3';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  describeOnPostgres,
  postgresDatabase,
  postgresServer,
  sqliteDatabase,
} from '@/lib/testing/databases';
import { migratePostgres, migrateSqlite } from './migrate';

interface Migrated {
  /** Names of what was applied. */
  readonly migrate: () => Promise<readonly string[]>;
  readonly tables: () => Promise<readonly string[]>;
  readonly close: () => Promise<void>;
}

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'rerail-migrations-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function write(name: string, sql: string): void {
  mkdirSync(path.join(folder, name), { recursive: true });
  writeFileSync(path.join(folder, name, 'migration.sql'), sql);
}

function suite(open: () => Promise<Migrated>): void {
  let database: Migrated;
  beforeEach(async () => {
    database = await open();
    write('0001_first', 'CREATE TABLE first (a INTEGER);');
  });
  afterEach(() => database.close());

  it('applies what is pending in the order of names, once', async () => {
    expect(await database.migrate()).toEqual(['0001_first']);
    write('0003_third', 'CREATE TABLE third (a INTEGER);');
    write('0002_second', 'CREATE TABLE second (a INTEGER);');
    expect(await database.migrate()).toEqual(['0002_second', '0003_third']);
    expect(await database.migrate()).toEqual([]);
    expect(await database.tables()).toEqual(['first', 'second', 'third']);
  });

  it('refuses a migration that was edited after it was applied, and changes nothing', async () => {
    await database.migrate();
    write('0001_first', 'CREATE TABLE first (a INTEGER, b INTEGER);');
    write('0002_second', 'CREATE TABLE second (a INTEGER);');
    await expect(database.migrate()).rejects.toThrow('Migration 0001_first was edited after it was applied');
    expect(await database.tables()).toEqual(['first']);
  });

  it('refuses a database that a newer build has used, and names the migration', async () => {
    write('0002_second', 'CREATE TABLE second (a INTEGER);');
    await database.migrate();
    rmSync(path.join(folder, '0002_second'), { recursive: true });
    await expect(database.migrate()).rejects.toThrow(
      'has migration 0002_second, which this build does not know',
    );
  });

  it('leaves nothing of several where one of them fails, and applies all of them once it is mended', async () => {
    write('0002_second', 'CREATE TABLE second (a INTEGER); CREATE TABLE first (a INTEGER);');
    await expect(database.migrate()).rejects.toThrow(/first/);
    expect(await database.tables()).toEqual([]);
    write('0002_second', 'CREATE TABLE second (a INTEGER);');
    expect(await database.migrate()).toEqual(['0001_first', '0002_second']);
  });
}

describe('migrations on SQLite', () => {
  suite(async () => {
    const { file, remove } = sqliteDatabase();
    return {
      migrate: async () => migrateSqlite(file, folder),
      tables: async () => {
        const db = new Database(file);
        const names = db
          .prepare(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE '\\_%' ESCAPE '\\' ORDER BY name",
          )
          .pluck()
          .all() as string[];
        db.close();
        return names;
      },
      close: remove,
    };
  });
});

describeOnPostgres('migrations on PostgreSQL', () => {
  suite(async () => {
    const { url, remove } = await postgresDatabase(postgresServer() as string);
    return {
      migrate: () => migratePostgres(url, folder),
      tables: async () => {
        const client = new pg.Client({ connectionString: url });
        await client.connect();
        const { rows } = await client.query<{ name: string }>(
          "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' AND tablename <> '_prisma_migrations' ORDER BY tablename",
        );
        await client.end();
        return rows.map(({ name }) => name);
      },
      close: remove,
    };
  });
});
