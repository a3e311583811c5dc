import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { runId } from '@/lib/core/events/ids';
import { startChild } from '@/lib/testing/child-process';
import { compileProgram } from '@/lib/testing/compiled';
import { describeOnPostgres } from '@/lib/testing/databases';
import { append, queued } from '@/lib/testing/store-rows';
import { openStore } from './open-store';

describeOnPostgres('PostgreSQL store with several processes', (url) => {
  let program: Awaited<ReturnType<typeof compileProgram>>;
  beforeAll(async () => {
    program = await compileProgram('lib/testing/store-child.ts');
  });
  afterAll(() => program.remove());

  it('S11 keeps one journal gapless, gives each effect to one process, and tells this one of every move', async () => {
    const names = ['left', 'right'];
    // Both migrate the empty database at once.
    const children = names.map((name) => startChild(program.file, ['race', url(), name]));
    await Promise.all(children.map((child) => child.line((line) => line === 'ready')));
    const store = await openStore({ url: url() });
    await append(store, 'shared', { bodies: [queued] });
    const heads: number[] = [];
    let heard: () => void = () => undefined;
    const last = new Promise<void>((resolve) => {
      heard = resolve;
    });
    const LAST = 1 + 2 * 60 * names.length;
    store.feed.subscribe((change) => {
      if (change.runId !== 'shared') return;
      heads.push(change.headSeq);
      if (change.headSeq === LAST) heard();
    });
    for (const child of children) child.say('go');
    const won = await Promise.all(
      children.map(async (child) => Number((await child.line((line) => line.startsWith('won '))).slice(4))),
    );
    await last;

    expect(won.reduce((sum, one) => sum + one, 0)).toBe(20);
    const shared = runId('shared');
    const events = await store.events(shared, { limit: 10_000 });
    expect(events.map((event) => event.seq)).toEqual(Array.from({ length: LAST }, (_, i) => i + 1));
    expect(await store.effects(shared)).toHaveLength(20);
    expect(await store.ledgerVersion(shared)).toBe(20);
    expect(heads).toHaveLength(60 * names.length);
    const refs = events.flatMap((event) => (event.kind === 'message.appended' ? [event.message.sha256] : []));
    expect(await store.payloads.missing(refs)).toEqual([]);

    for (const child of children) child.process.stdin?.end();
    expect(await Promise.all(children.map((child) => child.ended()))).toEqual(
      names.map(() => ({ code: 0, signal: null })),
    );
    await store.close();
  }, 60_000);

  it('takes times from the database, not from this machine', async () => {
    const real = Date.now;
    const anHourAhead = vi.spyOn(Date, 'now').mockImplementation(() => real() + 3_600_000);
    const store = await openStore({ url: url() });
    const inCommit = await store.commit<number, never>({
      runId: runId('clock'),
      decide: (context) => ({ ok: true, value: { value: context.now, change: undefined } }),
    });
    expect(Math.abs(store.clock.now() - real())).toBeLessThan(1_000);
    expect(Math.abs((inCommit.ok ? inCommit.value : 0) - real())).toBeLessThan(1_000);
    anHourAhead.mockRestore();
    await store.close();
  });
});
