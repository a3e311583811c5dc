import { PrismaBetterSqlite3 } from '@prisma/adapter-better-sqlite3';
import { expect, it } from 'vitest';
import { keptStatements } from './statement-cache';

async function connected() {
  const adapter = await new PrismaBetterSqlite3({ url: 'file::memory:' }).connect();
  return { sql: keptStatements(adapter), close: () => adapter.dispose() };
}

it('gives each run of a kept statement its own arguments, and sees what changed in between', async () => {
  const { sql, close } = await connected();
  await sql.execute('CREATE TABLE t (id INTEGER PRIMARY KEY, text TEXT)');
  for (const text of ['a', 'b', null])
    expect(await sql.execute('INSERT INTO t (text) VALUES (?)', [text])).toBe(1);
  const of = async (id: number) =>
    (await sql.query('SELECT text FROM t WHERE id = ?', [id])).map(([text]) => text);
  expect([await of(1), await of(2), await of(3), await of(4)]).toEqual([['a'], ['b'], [null], []]);
  await expect(sql.query('SELECT nothing FROM t')).rejects.toThrow();
  await sql.execute(`ALTER TABLE t ADD COLUMN more TEXT DEFAULT 'm'`);
  expect((await sql.query('SELECT * FROM t WHERE id = ?', [1]))[0]).toEqual([expect.anything(), 'a', 'm']);
  await close();
});

it('sets a pragma as often as it is asked to', async () => {
  const { sql, close } = await connected();
  const level = async () => Number((await sql.query('PRAGMA synchronous'))[0]?.[0]);
  for (const [name, value] of [
    ['NORMAL', 1],
    ['FULL', 2],
    ['NORMAL', 1],
    ['FULL', 2],
  ] as const) {
    await sql.query(`PRAGMA synchronous = ${name}`);
    expect(await level()).toBe(value);
  }
  await close();
});
