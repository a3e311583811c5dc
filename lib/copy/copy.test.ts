import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { epochMs, runId } from '@/lib/core/events/ids';
import { payloadRefsOf } from '@/lib/core/events/payload-refs';
import { type CopyPage, copyFile, copyLimits } from '@/lib/server/copy-file';
import { ApiClient, hash, TestWorker } from '@/lib/testing/api-client';
import { memoryStore } from '@/lib/testing/memory-store';
import { driveForks, payloadOf, type TestLineage, testMachine } from '@/lib/testing/random-journal';
import { startTestConsole, type TestConsole } from '@/lib/testing/test-console';
import { type CopyLimits, copyRun } from '@/lib/usecases/copy-run';
import type { Store } from '@/lib/usecases/ports';
import { type Copied, readCopy, unpacked } from './content';
import { copySource, READ_ONLY } from './copy-source';

const seed = Number(process.env['COPY_SEED'] ?? 1);
const journals = Number(process.env['COPY_JOURNALS'] ?? 12);

const page: CopyPage = {
  head: '<!doctype html><title>',
  body: '</title><script type="application/octet-stream" id="rerail-copy">',
  tail: '</script><p id="after"></p>',
};

async function storeOf(lineage: TestLineage): Promise<Store> {
  const store = memoryStore({ now: () => epochMs(lineage.now + 1_000) });
  for (const stored of lineage.runs.values()) {
    const { lease: _lease, ...run } = stored.run;
    const payloads = new Map(
      stored.events.flatMap(payloadRefsOf).map((ref) => [ref.sha256, payloadOf(ref)] as const),
    );
    const digest = run.state.machineDigest;
    if (digest !== undefined) await store.machines.put(digest, testMachine);
    await store.commit<undefined, never>({
      runId: run.runId,
      root: run.root,
      decide: () => ({
        ok: true,
        value: {
          value: undefined,
          change: {
            ...stored,
            run: { ...run, home: 'mirror' },
            payloads: [...payloads.values()],
            steps: [...stored.steps.values()],
            effects: lineage.ledger().filter((row) => row.runId === run.runId),
            questions: [...stored.questions.values()],
          },
        },
      }),
    });
  }
  return store;
}

const depsOf = (store: Store) => ({ store, hash, judgedFrom: epochMs(0), leaseMs: 1_000 });
const notice = { at: '2026-11-30T07:00:00.000Z', by: 'ada', console: '127.0.0.1:3000', limits: copyLimits };

async function fileOf(
  store: Store,
  id: string,
  limits: CopyLimits = copyLimits,
  title = id,
): Promise<string> {
  const copied = await copyRun(depsOf(store), { runId: runId(id), limits });
  if (!copied.ok) throw new Error(copied.problem.detail);
  return new Response(copyFile(page, title, { ...notice, limits }, copied.value.parts)).text();
}

const dataOf = (file: string): string =>
  /<script type="application\/octet-stream" id="rerail-copy">([^<]*)<\/script>/.exec(file)?.[1] ?? '';
const copyOf = async (store: Store, id: string, limits?: CopyLimits): Promise<Copied> =>
  readCopy(dataOf(await fileOf(store, id, limits)));

/** Every read that a run's page may ask for. */
async function readsOf(store: Store, id: string): Promise<readonly string[]> {
  const run = await store.run(runId(id));
  const head = run?.headSeq ?? 0;
  const path = `/api/v1/runs/${encodeURIComponent(id)}`;
  const seqs = [...new Set([0, 1, 2, Math.ceil(head / 3), Math.ceil(head / 2), head - 1, head])];
  const keys = (await store.steps(runId(id))).map(({ stepKey }) => stepKey);
  const events = await store.events(runId(id), { limit: 10_000 });
  return [
    path,
    `${path}/questions`,
    `${path}/steps?limit=5000`,
    `${path}/steps?limit=3`,
    `${path}/steps?limit=2&cursor=${Math.ceil(head / 2)}`,
    `${path}/checkpoints?limit=5000`,
    `${path}/effects?limit=5000`,
    `${path}/buckets?n=7`,
    `${path}/events?limit=1000`,
    `${path}/events?after=2&before=${head}&limit=5`,
    `${path}/events?kinds=run.interrupted,run.failed,step.completed&order=desc&limit=4`,
    ...seqs.flatMap((at) => [
      `${path}/graph?at=${at}`,
      `${path}/graph?at=${at}&lists=none`,
      `${path}/state?at=${at}`,
      `${path}/effects?at=${at}`,
      `${path}/messages?at=${at}&limit=3`,
      `${path}/diff?from=${Math.max(0, at - 3)}&to=${at}`,
    ]),
    ...[...new Set(keys)].map((key) => `${path}/steps/${encodeURIComponent(key)}`),
    ...[...new Set(events.flatMap(payloadRefsOf).map((ref) => ref.sha256))].map(
      (digest) => `/api/v1/payloads/${digest}`,
    ),
    ...(run?.state.machineDigest === undefined ? [] : [`/api/v1/machines/${run.state.machineDigest}`]),
    `${path}/steps/nothing`,
    `${path}/state?at=x`,
  ];
}

let open: TestConsole | undefined;
afterEach(async () => {
  await open?.close();
  open = undefined;
});

describe('a copy of a run', () => {
  it('answers every read of the page as a link to the run does, for random runs, forks and rewinds', async () => {
    const numbers = fc.array(fc.array(fc.nat({ max: 10_000 }), { minLength: 20, maxLength: 200 }), {
      minLength: 2,
      maxLength: 3,
    });
    let compared = 0;
    let rewinds = 0;
    await fc.assert(
      fc.asyncProperty(numbers, async (choices) => {
        const lineage = driveForks(choices, runId('root'));
        const store = await storeOf(lineage);
        open = await startTestConsole({ store });
        const api = new ApiClient(open.url);
        for (const id of lineage.runs.keys()) {
          rewinds += lineage.runs.get(id)?.run.state.rewinds.length ?? 0;
          const source = copySource(await copyOf(store, id));
          const link = (await api.post(`/api/v1/runs/${encodeURIComponent(id)}/shares`, {})).body.path;
          const behind = link.replace('/shared/', '/api/v1/shared/');
          for (const url of await readsOf(store, id)) {
            const mine = await source.fetch(url, {});
            const theirs = await fetch(`${open.url}${url.replace('/api/v1', behind)}`);
            const text = (await theirs.text()).replaceAll('A shared link only shows the run.', READ_ONLY);
            expect([url, mine.status, alike(await mine.text())]).toEqual([url, theirs.status, alike(text)]);
            compared += 1;
          }
        }
        await open.close();
        open = undefined;
      }),
      { numRuns: journals, seed, endOnFailure: true },
    );
    expect(compared).toBeGreaterThan(journals * 50);
    expect(rewinds).toBeGreaterThan(0);
  }, 120_000);

  it('is data that no parser of HTML sees anything in, whatever the run holds', async () => {
    const store = memoryStore();
    const open = ['</script><script>alert(1)</script>', '<!--<script>', '\u2028\u2029', ']]>', '"\'`&lt;'];
    const id = `r ${open.join(' ')}`;
    await writeRun(store, id, open.join('\n'));
    const file = await fileOf(store, id);
    const data = dataOf(file);
    expect(data).toMatch(/^[A-Za-z0-9+/=]+$/);
    expect(file.startsWith(page.head)).toBe(true);
    expect(file.endsWith(page.tail)).toBe(true);
    // The title is the one text of the run that stands there as it is.
    expect(file.split('<script')).toHaveLength(2);
    expect(file).not.toContain('<!--');
    const copied = await readCopy(data);
    expect(copied.copy.run.runId).toBe(id);
    const texts = [...copied.payloads.values()].map(({ body }) => new TextDecoder().decode(body));
    expect(texts).toContain(JSON.stringify(open.join('\n')));
  });

  it('names what was left out for its size, and refuses it with that reason', async () => {
    const store = memoryStore();
    await writeRun(store, 'r', 'x'.repeat(5_000));
    const limits = { payloadBytes: 1_000, totalBytes: 10_000 };
    const copied = await copyOf(store, 'r', limits);
    const [left] = copied.leftOut.values();
    expect(copied.leftOut.size).toBe(1);
    expect(left?.bytes).toBe(5_002);
    const answer = await copySource(copied).fetch(`/api/v1/payloads/${left?.sha256}`, {});
    expect(answer.status).toBe(404);
    const problem = await answer.json();
    expect(problem.type).toBe('urn:rerail:problem:left-out');
    expect(problem.detail).toContain('5,002 bytes');
    expect(problem.detail).toContain('1,000 bytes');
    // Together they may be too large as well.
    const none = await copyOf(store, 'r', { payloadBytes: 10_000, totalBytes: 5_001 });
    expect([...none.leftOut.values()].map(({ bytes }) => bytes)).toEqual([5_002]);
  });

  it('refuses every order, with the reason', async () => {
    const store = memoryStore();
    await writeRun(store, 'r', 1);
    const source = copySource(await copyOf(store, 'r'));
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
      const answer = await source.fetch('/api/v1/runs/r/commands', { method });
      expect(answer.status).toBe(405);
      expect((await answer.json()).detail).toBe(READ_ONLY);
    }
    const run = await (await source.fetch('/api/v1/runs/r', {})).json();
    const reasons = Object.values(run.actions as Record<string, { possible: boolean; reason: string }>);
    expect(reasons.length).toBeGreaterThan(5);
    for (const action of reasons) expect(action).toEqual({ possible: false, reason: READ_ONLY });
    expect((await source.fetch('/api/v1/runs', {})).status).toBe(404);
    expect((await source.fetch('/api/v1/runs/other', {})).status).toBe(404);
  });

  it('says so where the file was cut short', async () => {
    const store = memoryStore();
    await writeRun(store, 'r', 'x'.repeat(200_000));
    const data = dataOf(await fileOf(store, 'r'));
    await expect(readCopy(data.slice(0, Math.floor(data.length / 8) * 4))).rejects.toThrow();
    await expect(readCopy('')).rejects.toThrow();
  });

  it('unpacks what was packed, at any length', async () => {
    for (const length of [0, 1, 2, 3, 300_000]) {
      const text = 'ü€😀'.repeat(length);
      let read = '';
      const reader = unpacked(gzipSync(text, { level: 0 }).toString('base64')).getReader();
      for (let part = await reader.read(); !part.done; part = await reader.read()) read += part.value;
      expect(read === text).toBe(true);
    }
  });
});

/** JSON as a value, so that the order of members does not count; nor does by which way a state was folded. */
function alike(text: string): unknown {
  try {
    return JSON.parse(text, (name, value) => (name === 'folded' ? undefined : value));
  } catch {
    return text;
  }
}

async function writeRun(store: Store, id: string, value: unknown): Promise<void> {
  const console = await startTestConsole({ store });
  try {
    const worker = await TestWorker.create(new ApiClient(console.url), { runId: id, input: value });
    await worker.write({ kind: 'run.completed' });
  } finally {
    await console.close();
  }
}
