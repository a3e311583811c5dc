import { PrismaBetterSqlite3 } from '@prisma/adapter-better-sqlite3';
import { DriverAdapterError } from '@prisma/driver-adapter-utils';
import { expect, it } from 'vitest';
import { sqliteDatabase } from '@/lib/testing/databases';
import { isStorageFull } from './error-codes';
import { sqlite, sqlOver } from './sql';

it('a full disk is told from any other failure, as the adapters word them', async () => {
  const database = sqliteDatabase();
  const adapter = await new PrismaBetterSqlite3({ url: database.url }).connect();
  await adapter.executeScript(
    'PRAGMA journal_mode = WAL; CREATE TABLE t (a BLOB); PRAGMA max_page_count = 3;',
  );
  const sql = sqlOver(adapter, sqlite);
  const failure = (text: string) =>
    sql.execute(text).then(
      () => undefined,
      (error: unknown) => error,
    );
  expect(isStorageFull(await failure('INSERT INTO t VALUES (zeroblob(100000))'))).toBe(true);
  expect(isStorageFull(await failure('INSERT INTO nowhere VALUES (1)'))).toBe(false);
  await adapter.dispose();
  await database.remove();

  const ofPostgres = (code: string) =>
    new DriverAdapterError({
      kind: 'postgres',
      code,
      originalCode: code,
      severity: 'ERROR',
      message: 'no',
      detail: undefined,
      column: undefined,
      hint: undefined,
    });
  expect(isStorageFull(ofPostgres('53100'))).toBe(true);
  expect(isStorageFull(ofPostgres('40001'))).toBe(false);
  expect(isStorageFull(Object.assign(new Error('write'), { code: 'ENOSPC' }))).toBe(true);
  expect(isStorageFull(undefined)).toBe(false);
});
