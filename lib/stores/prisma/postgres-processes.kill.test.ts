import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { epochMs, runId, sha256 } from '@/lib/core/events/ids';
import { importers } from '@/lib/ingest/registry';
import { startChild } from '@/lib/testing/child-process';
import { compileProgram } from '@/lib/testing/compiled';
import { describeOnPostgres } from '@/lib/testing/databases';
import { append, queued } from '@/lib/testing/store-rows';
import { importTraces } from '@/lib/usecases/import-traces';
import { openStore } from './open-store';
import { openPostgresFeed } from './postgres-feed';

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

  it('S34 two consoles that are given one new thread at the same moment store it once, and both answer with its runs', async () => {
    const stores = await Promise.all([openStore({ url: url() }), openStore({ url: url() })]);
    const file = new URL('../../ingest/langgraph/fixtures/forks-of-forks.json', import.meta.url);
    for (let round = 0; round < 8; round++) {
      const text = readFileSync(file, 'utf8').replaceAll('"thread_id": "', `"thread_id": "r${round}-`);
      const answers = await Promise.all(
        stores.flatMap((store) =>
          [1, 2].map(() =>
            importTraces(
              { store, hash: sha256Of, importers, judgedFrom: epochMs(0), maxImportDepth: 256 },
              { bytes: new TextEncoder().encode(text), contentType: 'application/json' },
            ),
          ),
        ),
      );
      const ids = answers.map((answer) => answer.ok && answer.value.runs.map(({ runId: id }) => id));
      expect(ids[0]).toHaveLength(new Set(ids[0] || []).size);
      expect(ids).toEqual(ids.map(() => ids[0]));
      const created = answers.filter((answer) => answer.ok && answer.value.created);
      expect(created.length).toBeLessThanOrEqual(1);
      for (const id of ids[0] || []) {
        const run = await stores[0]?.run(id);
        const events = await stores[1]?.events(id, { limit: 100_000 });
        expect(events?.map((event) => Number(event.seq))).toEqual(
          Array.from({ length: run?.headSeq ?? 0 }, (_, i) => i + 1),
        );
      }
    }
    for (const store of stores) await store.close();
  }, 60_000);

  it('tells of what moved while its listening connection was cut, once it is back, and listens once', async () => {
    const target = new URL(url());
    const proxy = await openProxy(Number(target.port || 5432), target.hostname);
    const proxied = new URL(url());
    proxied.hostname = '127.0.0.1';
    proxied.port = String(proxy.port);
    const store = await openStore({ url: url() });
    const feed = await openPostgresFeed(proxied.href, {
      now: store.clock.now,
      moved: async (since) =>
        (await store.runs({ filter: {}, sort: 'updated', descending: true, limit: 50 })).items
          .filter((run) => run.updatedAt >= since)
          .map((run) => ({
            runId: run.runId,
            headSeq: run.headSeq,
            edition: run.edition,
            status: run.state.status,
            wanted: false,
          })),
    });
    const told = new Map<string, number[]>();
    let heard: () => void = () => undefined;
    feed.subscribe((change) => {
      told.set(change.runId, [...(told.get(change.runId) ?? []), change.headSeq]);
      heard();
    });
    const tells = (id: string, head: number) =>
      new Promise<void>((resolve) => {
        heard = () => {
          if (told.get(id)?.includes(head) === true) resolve();
        };
        heard();
      });
    await append(store, 'before', { bodies: [queued] });
    await tells('before', 1);
    // Cut, and refused at first when it comes again.
    proxy.refuse(2);
    proxy.cut();
    await append(store, 'meanwhile', { bodies: [queued] });
    await tells('meanwhile', 1);
    expect(proxy.refused()).toBe(2);
    told.clear();
    await append(store, 'after', { bodies: [queued] });
    await tells('after', 1);
    expect(told.get('after')).toEqual([1]);
    expect(proxy.open()).toBe(1);
    await feed.close();
    await proxy.close();
    await store.close();
  }, 60_000);
});

const sha256Of = (content: Uint8Array | string) => sha256(createHash('sha256').update(content).digest('hex'));

/** A relay to the server whose connections a test can cut and refuse. */
async function openProxy(port: number, host: string) {
  const pairs = new Set<Socket>();
  let toRefuse = 0;
  let refused = 0;
  const server = createServer((inner) => {
    if (toRefuse > 0) {
      toRefuse -= 1;
      refused += 1;
      inner.destroy();
      return;
    }
    const outer = connect(port, host);
    pairs.add(inner);
    inner.pipe(outer).pipe(inner);
    for (const [one, other] of [
      [inner, outer],
      [outer, inner],
    ] as const) {
      one.on('error', () => undefined);
      one.on('close', () => {
        pairs.delete(inner);
        other.destroy();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    cut: () => {
      for (const inner of pairs) inner.destroy();
    },
    refuse: (times: number) => {
      toRefuse = times;
    },
    refused: () => refused,
    open: () => pairs.size,
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}
