import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { epochMs } from '@/lib/core/events/ids';
import { startChild } from '@/lib/testing/child-process';
import { compileProgram } from '@/lib/testing/compiled';
import { sqliteDatabase } from '@/lib/testing/databases';
import { append, queued } from '@/lib/testing/store-rows';
import { expectWhole, noteAcknowledged } from '@/lib/testing/store-whole';
import { openStore } from './open-store';

const KILLS = 6;

describe('SQLite store and SIGKILL', () => {
  let program: Awaited<ReturnType<typeof compileProgram>>;
  beforeAll(async () => {
    program = await compileProgram('lib/testing/store-child.ts');
  });
  afterAll(() => program.remove());

  it('S35 has nothing half-written and everything acknowledged after its owner was killed during commits, again and again', async () => {
    const database = sqliteDatabase();
    const acknowledged = new Map<string, number>();
    for (let kill = 0; kill < KILLS; kill += 1) {
      const child = startChild(program.file, ['append', database.url]);
      await child.line((line) => line === 'ready');
      child.say('go');
      // After a random number of acknowledgements, with four commits on their way.
      const enough = 1 + Math.floor(Math.random() * 120);
      await child.line(() => child.lines.length > enough);
      child.process.kill('SIGKILL');
      expect((await child.ended()).signal).toBe('SIGKILL');
      noteAcknowledged(child.lines, acknowledged);
      await expectWhole(database.url, acknowledged);
    }
    const file = new Database(database.file, { readonly: true });
    expect(file.pragma('integrity_check', { simple: true })).toBe('ok');
    file.close();
    await database.remove();
  }, 60_000);

  it('S35 has nothing of a large import that its owner was killed during, and all of those that were acknowledged', async () => {
    const database = sqliteDatabase();
    const acknowledged = new Map<string, number>();
    for (let kill = 0; kill < KILLS; kill += 1) {
      const child = startChild(program.file, ['import', database.url, String(kill)]);
      await child.line((line) => line === 'ready');
      child.say('go');
      await child.line((line) => line.startsWith('begun large') && line.endsWith('_1'));
      // Somewhere within the second import, or after it.
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 120));
      child.process.kill('SIGKILL');
      await child.ended();
      noteAcknowledged(child.lines, acknowledged);
      await expectWhole(database.url, acknowledged);
    }
    expect(acknowledged.size).toBeGreaterThanOrEqual(KILLS);
    const file = new Database(database.file, { readonly: true });
    expect(file.pragma('integrity_check', { simple: true })).toBe('ok');
    for (const table of ['Event', 'Step', 'Snapshot'])
      expect(
        file
          .prepare(`SELECT COUNT(*) FROM "${table}" WHERE "run" NOT IN (SELECT "key" FROM "Run")`)
          .pluck()
          .get(),
      ).toBe(0);
    expect(file.prepare(`SELECT COUNT(*) FROM "Answer" WHERE "key" LIKE 'staging %'`).pluck().get()).toBe(0);
    file.close();
    // What is in use is no longer loose.
    const store = await openStore({ url: database.url });
    await store.payloads.sweep(epochMs(store.clock.now() + 1_000));
    await store.close();
    await expectWhole(database.url, acknowledged);
    await database.remove();
  }, 120_000);

  it('refuses a second process while the first lives, and takes over from one that was killed', async () => {
    const database = sqliteDatabase();
    const owner = startChild(program.file, ['append', database.url]);
    await owner.line((line) => line === 'ready');
    const second = startChild(program.file, ['append', database.url]);
    expect((await second.ended()).code).not.toBe(0);
    expect(second.errors()).toContain('in use by another Rerail process');
    owner.process.kill('SIGKILL');
    await owner.ended();
    const store = await openStore({ url: database.url });
    expect(await append(store, 'run_x', { bodies: [queued] })).toBe(1);
    await store.close();
    await database.remove();
  }, 60_000);
});
