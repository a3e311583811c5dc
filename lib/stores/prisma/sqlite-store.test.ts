import { linkSync, mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { runId } from '@/lib/core/events/ids';
import { sqliteDatabase } from '@/lib/testing/databases';
import { storeContract } from '@/lib/testing/store-contract';
import { append, queued } from '@/lib/testing/store-rows';
import { DatabaseProblem } from './database-problem';
import { DatabaseInUse } from './file-lock';
import { openStore } from './open-store';

describe('SQLite store', () => {
  storeContract({ durable: true, parts: true }, async () => {
    const database = sqliteDatabase();
    let store = await openStore({ url: database.url });
    return {
      store,
      async reopen() {
        await store.close();
        store = await openStore({ url: database.url });
        return store;
      },
      async close() {
        await store.close();
        await database.remove();
      },
    };
  });

  it('refuses a file that is open already, says so, and takes it once it is closed', async () => {
    const database = sqliteDatabase();
    const first = await openStore({ url: database.url });
    await expect(openStore({ url: database.url })).rejects.toThrow(DatabaseInUse);
    await expect(openStore({ url: database.url })).rejects.toThrow(/in use by another Rerail process/);
    expect(await append(first, 'run_a', { bodies: [queued] })).toBe(1);
    await first.close();
    const second = await openStore({ url: database.url });
    expect((await second.run(runId('run_a')))?.headSeq).toBe(1);
    await second.close();
    await database.remove();
  });

  it.each([
    ['a symbolic link to the file', (file: string, other: string) => symlinkSync(file, other)],
    [
      'a link to its folder',
      (file: string, other: string) => symlinkSync(path.dirname(file), path.dirname(other)),
    ],
    ['a hard link', (file: string, other: string) => linkSync(file, other)],
    ['its own name once the lock beside it was removed', (file: string) => rmSync(`${file}.lock`)],
  ])('refuses a file that is open already by %s', async (name, link) => {
    const database = sqliteDatabase();
    const first = await openStore({ url: database.url });
    const folder = path.dirname(database.file);
    const other = name.includes('folder')
      ? path.join(folder, 'linked', 'rerail.db')
      : name.includes('lock')
        ? database.file
        : path.join(folder, 'other.db');
    link(database.file, other);
    await expect(openStore({ url: `file:${other}` })).rejects.toThrow(DatabaseInUse);
    expect(await append(first, 'run_a', { bodies: [queued] })).toBe(1);
    await first.close();
    const second = await openStore({ url: `file:${other}` });
    expect((await second.run(runId('run_a')))?.headSeq).toBe(1);
    await second.close();
    await database.remove();
  });

  it('opens what a link points to where nothing is there yet, and locks that', async () => {
    const database = sqliteDatabase();
    const link = path.join(path.dirname(database.file), 'link.db');
    symlinkSync('rerail.db', link);
    const first = await openStore({ url: `file:${link}` });
    await expect(openStore({ url: database.url })).rejects.toThrow(DatabaseInUse);
    await first.close();
    await database.remove();
  });

  it.each<readonly [string, (file: string) => void, RegExp]>([
    ['garbage', (file) => writeFileSync(file, 'this is no database '.repeat(500)), /is no SQLite database/],
    ['a folder', (file) => mkdirSync(file), /cannot be opened/],
    ['cut short', (file) => truncateSync(file, 20_000), /is damaged/],
  ])('says in one sentence what is wrong with a file that is %s', async (name, spoil, sentence) => {
    const database = sqliteDatabase();
    if (name === 'cut short') await (await openStore({ url: database.url })).close();
    spoil(database.file);
    const opened = openStore({ url: database.url });
    await expect(opened).rejects.toThrow(sentence);
    await expect(opened).rejects.toThrow(DatabaseProblem);
    await expect(opened).rejects.toThrow(database.file);
    await database.remove();
  });

  it('finishes what it was given before it closes, and refuses what comes after', async () => {
    const database = sqliteDatabase();
    const store = await openStore({ url: database.url });
    const waiting = Array.from({ length: 20 }, (_, i) => append(store, `run_${i}`, { bodies: [queued] }));
    const closed = store.close();
    await expect(append(store, 'late', { bodies: [queued] })).rejects.toThrow('closed');
    expect(await Promise.all(waiting)).toHaveLength(20);
    await closed;
    await database.remove();
  });

  it('names what a database URL must be', () => {
    expect(() => openStore({ url: 'mysql://x' })).toThrow(/must begin with file: or postgres:/);
  });
});
