import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { epochMs, runId, seq } from '@/lib/core/events/ids';
import { assertDefined } from '@/lib/core/shared/assert';
import { startChild } from '@/lib/testing/child-process';
import { compileProgram } from '@/lib/testing/compiled';
import { sqliteDatabase } from '@/lib/testing/databases';
import { append, queued } from '@/lib/testing/store-rows';
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
      for (const line of child.lines) {
        const [word, run, head] = line.split(' ');
        if (word === 'ack' && run !== undefined)
          acknowledged.set(run, Math.max(acknowledged.get(run) ?? 0, Number(head)));
      }
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
      for (const line of child.lines) {
        const [word, run, head] = line.split(' ');
        if (word === 'ack' && run !== undefined) acknowledged.set(run, Number(head));
      }
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

async function expectWhole(url: string, acknowledged: ReadonlyMap<string, number>): Promise<void> {
  const store = await openStore({ url });
  for (const [id, head] of acknowledged) {
    const run = assertDefined(await store.run(runId(id)), 'an acknowledged run is there');
    expect(run.headSeq).toBeGreaterThanOrEqual(head);
    expect(run.state.seq).toBe(run.headSeq);
    const events = await store.events(runId(id), { limit: 1_000_000 });
    expect(events.map((event) => event.seq)).toEqual(Array.from({ length: run.headSeq }, (_, i) => i + 1));
    const refs = events.flatMap((event) => (event.kind === 'message.appended' ? [event.message.sha256] : []));
    expect(await store.payloads.missing(refs)).toEqual([]);
    expect((await store.steps(runId(id))).length).toBe(run.headSeq);
    const page = await store.runs({ filter: { q: id }, sort: 'created', descending: true, limit: 2 });
    expect(page.items.map((one) => one.headSeq)).toContain(run.headSeq);
    expect((await store.snapshot(runId(id), seq(2 ** 31 - 1)))?.seq).toBe(run.headSeq);
    expect(await store.ledgerVersion(runId(id))).toBe(run.lastBatch);
    expect(await store.effects(runId(id))).toHaveLength(run.lastBatch);
  }
  await store.close();
}
