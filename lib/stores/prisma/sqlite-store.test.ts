import { describe, expect, it } from 'vitest';
import { runId } from '@/lib/core/events/ids';
import { sqliteDatabase } from '@/lib/testing/databases';
import { storeContract } from '@/lib/testing/store-contract';
import { append, queued } from '@/lib/testing/store-rows';
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
