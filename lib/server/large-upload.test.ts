import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiClient, TestWorker } from '@/lib/testing/api-client';
import { feedRun } from '@/lib/testing/bench/feed';
import { startTestConsole } from '@/lib/testing/test-console';

const EVENTS = 40_000;

describe('a large upload', () => {
  let folder = '';
  let entry = '';
  let file = new Uint8Array();
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'rerail-large-'));
    const { buildServer } = (await import(pathToFileURL(resolve(import.meta.dirname, 'build.mjs')).href)) as {
      buildServer: (outfile: string) => Promise<string>;
    };
    entry = await buildServer(resolve(process.cwd(), `.rerail/test-large-${process.pid}/main.mjs`));
    const source = await startTestConsole();
    const api = new ApiClient(source.url);
    await feedRun(
      { send: async (method, path, body) => (await api.send(method, `/api/v1${path}`, body, {})).body },
      'large',
      EVENTS,
    );
    file = new Uint8Array(await (await fetch(`${source.url}/api/v1/runs/large/export`)).arrayBuffer());
    await source.close();
  }, 120_000);
  afterAll(async () => {
    await rm(resolve(entry, '..'), { recursive: true, force: true });
    await rm(folder, { recursive: true, force: true });
  });

  it('leaves the event loop and the write queue to others: heartbeats and appends are answered during it, and it is seen whole', async () => {
    const console = await startTestConsole({
      leaseMs: 5_000,
      decoder: resolve(entry, '../decode-worker.mjs'),
    });
    const api = new ApiClient(console.url);
    const worker = await TestWorker.create(api);
    await worker.write(worker.enter('plan'));
    const loop = { since: performance.now(), longest: 0, over: false };
    const watch = () => {
      const now = performance.now();
      loop.longest = Math.max(loop.longest, now - loop.since);
      loop.since = now;
      if (!loop.over) setImmediate(watch);
    };
    setImmediate(watch);
    const upload = fetch(`${console.url}/api/v1/traces`, { method: 'POST', body: file }).then(
      async (reply) => {
        loop.over = true;
        return {
          status: reply.status,
          body: (await reply.json()) as { readonly runs: readonly { events: number }[] },
        };
      },
    );
    const beats: number[] = [];
    while (!loop.over) {
      const began = performance.now();
      expect((await worker.heartbeat()).status).toBe(200);
      beats.push(performance.now() - began);
      const seen = await api.get('/api/v1/runs/large');
      if (seen.status === 200) expect(seen.body.headSeq).toBeGreaterThanOrEqual(EVENTS);
      expect((await worker.append(worker.read(`plan#1/lookup#${beats.length}`))).status).toBe(200);
    }
    const done = await upload;
    expect(done.status).toBe(201);
    const head = done.body.runs[0]?.events ?? 0;
    expect(head).toBeGreaterThanOrEqual(EVENTS);
    const longestBeat = Math.max(...beats);
    process.stdout.write(
      `large upload: ${(file.byteLength / 1e6).toFixed(1)} MB, ${beats.length} heartbeats, longest ${longestBeat.toFixed(0)} ms, loop held at most ${loop.longest.toFixed(0)} ms\n`,
    );
    expect(beats.length).toBeGreaterThan(5);
    // A lease is 5 s here; on a machine that does nothing else a beat takes a few milliseconds.
    expect(longestBeat).toBeLessThan(1_500);
    expect((await api.get(worker.path)).body.status).toBe('running');
    const events = await console.store.events('large' as never, { limit: head + 1 });
    expect(events.map(({ seq }) => Number(seq))).toEqual(Array.from({ length: head }, (_, i) => i + 1));
    const again = await fetch(`${console.url}/api/v1/traces`, { method: 'POST', body: file });
    expect(again.status).toBe(200);
    await console.close();
  }, 120_000);
});
