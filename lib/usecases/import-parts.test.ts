import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { epochMs, type RunId, runId, seq, sha256 } from '@/lib/core/events/ids';
import { newRun } from '@/lib/core/journal/new-run';
import { emptyState, foldRun } from '@/lib/core/projections/run-state';
import { assertDefined } from '@/lib/core/shared/assert';
import { openStore } from '@/lib/stores/prisma/open-store';
import { describeOnPostgres, sqliteDatabase } from '@/lib/testing/databases';
import { importTools } from '@/lib/testing/importer-contract';
import { memoryStore } from '@/lib/testing/memory-store';
import { type CallLine, callLines, callsImporter } from '@/lib/testing/parts-importer';
import { onlyRow } from './heartbeat';
import { importTraces } from './import-traces';
import type { ImportedRun, Importer, Store } from './ports';
import { stateAt } from './state-at';
import type { ImportTracesDeps, UploadAsk } from './upload';

const depsOf = (store: Store): ImportTracesDeps => ({
  store,
  hash: importTools.hash,
  judgedFrom: epochMs(0),
  importers: [callsImporter],
  maxImportDepth: 64,
});
const send = (store: Store, calls: readonly CallLine[], more: Partial<UploadAsk> = {}) =>
  importTraces(depsOf(store), { bytes: callLines(calls), contentType: '', ...more });

async function sent(store: Store, calls: readonly CallLine[], more: Partial<UploadAsk> = {}) {
  const answer = await send(store, calls, more);
  if (!answer.ok) throw new Error(JSON.stringify(answer.problem));
  return answer.value;
}

const call = (over: Partial<CallLine> & Pick<CallLine, 'id'>): CallLine => ({
  run: 'trace-1',
  name: 'lookup',
  at: 10,
  end: 20,
  ...over,
});

/** All that a reader could see of a run, but for when it was written and how often. */
async function contentOf(store: Store, id: RunId) {
  const run = assertDefined(await store.run(id), 'the run is there');
  const { updatedAt: _at, edition: _edition, ledgerVersion: _version, ...record } = run;
  const parts = await store.parts(id);
  return {
    record,
    events: await store.events(id, { limit: 100_000 }),
    steps: await store.steps(id),
    effects: await store.effects(id),
    checkpoints: await store.checkpoints(id),
    questions: await store.questions(id),
    parts: parts.map(({ id: part, body }) => [part, Buffer.from(body).toString()]),
  };
}

async function expectSound(store: Store, id: RunId): Promise<void> {
  const run = assertDefined(await store.run(id), 'the run is there');
  const events = await store.events(id, { limit: 100_000 });
  expect(events.map((event) => event.seq)).toEqual(Array.from({ length: run.headSeq }, (_, i) => i + 1));
  expect(foldRun(events, emptyState(run.state.agent))).toEqual(run.state);
  for (const at of [1, Math.ceil(run.headSeq / 2), run.headSeq]) {
    const { state } = await stateAt({ store }, run, seq(at));
    expect(state).toEqual(foldRun(events.slice(0, at), emptyState(run.state.agent)));
  }
  const digests = [...new Set(JSON.stringify(events).match(/(?<="sha256":")[0-9a-f]{64}/g) ?? [])];
  expect(await store.payloads.missing(digests.map(sha256))).toEqual([]);
}

/** Calls of one trace that overlap, share names, and of which some pay or save. */
const trace = fc
  .array(
    fc.record({
      name: fc.constantFrom('lookup', 'ask', 'refund'),
      at: fc.integer({ min: 0, max: 40 }),
      length: fc.integer({ min: 0, max: 30 }),
      pays: fc.boolean(),
      saves: fc.boolean(),
    }),
    { minLength: 1, maxLength: 12 },
  )
  .map((calls): readonly CallLine[] => [
    ...calls.map(
      ({ name, at, length, pays, saves }, i): CallLine => ({
        run: 'trace-1',
        id: `p${i}`,
        name,
        at,
        end: at + length,
        ...(pays && { pays }),
        ...(saves && { saves }),
      }),
    ),
    { run: 'trace-1', id: 'root', name: 'desk', at: 0, end: 100, root: true },
  ]);

/** The calls in requests: in any order, some of them twice. */
const requestsOf = (calls: readonly CallLine[]) =>
  fc
    .tuple(
      fc.shuffledSubarray([...calls], { minLength: calls.length, maxLength: calls.length }),
      fc.array(fc.integer({ min: 1, max: 4 }), { minLength: calls.length, maxLength: calls.length }),
      fc.shuffledSubarray([...calls]),
    )
    .map(([order, sizes, again]) => {
      const requests: (readonly CallLine[])[] = [];
      for (let at = 0, i = 0; at < order.length; i += 1) {
        const size = sizes[i] ?? 1;
        requests.push([...order.slice(at, at + size), ...again.slice(i, i + 1)]);
        at += size;
      }
      return requests;
    });

let runsMade = 0;

function suite(open: () => Promise<Store>, traces: number): void {
  let store: Store;
  beforeAll(async () => {
    store = await open();
  });
  afterAll(() => store.close());

  it('makes the same run of the same parts, in whatever requests and order they come, whole after each of them', async () => {
    const requests = trace.chain(requestsOf);
    await fc.assert(
      fc.asyncProperty(requests, async (asked) => {
        runsMade += 1;
        const id = runId(`trace-${runsMade}`);
        const came: CallLine[] = [];
        for (const request of asked) {
          const calls = request.map((one) => ({ ...one, run: id }));
          came.push(...calls);
          await sent(store, calls);
          const atOnce = memoryStore();
          await sent(atOnce, came);
          await expectSound(store, id);
          expect(await contentOf(store, id)).toEqual(await contentOf(atOnce, id));
        }
      }),
      { numRuns: traces },
    );
  }, 120_000);

  it('S34 tells what was added, adds nothing twice, and says how often what stood before was replaced', async () => {
    const id = runId('s34');
    const calls = Array.from({ length: 30 }, (_, i) =>
      call({ run: 's34', id: `p${i}`, name: `n${i}`, at: 10 * i, end: 10 * i + 5 }),
    );
    expect(await sent(store, calls)).toMatchObject({
      created: true,
      runs: [{ runId: 's34', format: 'calls', status: 'unknown', events: 62, steps: 30, added: 62 }],
    });
    const first = await contentOf(store, id);
    expect(await sent(store, calls)).toEqual({
      created: false,
      rejected: 0,
      warnings: [],
      runs: [
        { runId: id, format: 'calls', status: 'unknown', events: 62, steps: 30, checkpoints: 0, added: 0 },
      ],
    });
    expect(await contentOf(store, id)).toEqual(first);
    expect(await store.edition(id)).toBe(0);

    const late = ['a', 'b', 'c'].map((name, i) =>
      call({ run: 's34', id: `late-${name}`, name, at: 101 + i, end: 104 + i }),
    );
    expect(await sent(store, [...calls, ...late])).toMatchObject({
      created: false,
      runs: [{ events: 68, steps: 33, added: 6 }],
    });
    expect(await store.edition(id)).toBe(1);
    expect((await store.run(id))?.edition).toBe(1);
    expect((await store.events(id, { limit: 20 })).slice(0, 19)).toEqual(first.events.slice(0, 19));
    await expectSound(store, id);
  });

  it('appends what comes at the end without replacing anything', async () => {
    await sent(store, [call({ run: 'grows', id: 'a' })]);
    await sent(store, [call({ run: 'grows', id: 'b', at: 30, end: 40 })]);
    expect(await store.run(runId('grows'))).toMatchObject({ edition: 0, headSeq: 6 });
  });

  it('keeps the first content of a part, and names the part that says something else', async () => {
    await sent(store, [call({ run: 'twice', id: 'a', result: 'first' })]);
    const before = await contentOf(store, runId('twice'));
    const again = await sent(store, [
      call({ run: 'twice', id: 'a', result: 'second' }),
      call({ run: 'twice', id: 'a', result: 'first' }),
    ]);
    expect(again.warnings).toEqual([
      { path: 'run twice, part a', message: 'is there already with another content; the first one stays' },
    ]);
    expect(await contentOf(store, runId('twice'))).toEqual(before);
  });

  it('takes all of a request or nothing: a run that has its home here is left alone, and so are the others', async () => {
    const home = newRun({ runId: runId('at-home'), agent: 'desk', createdAt: epochMs(1) });
    await store.commit({
      runId: home.runId,
      decide: () => ({ ok: true, value: { value: undefined, change: onlyRow(home) } }),
    });
    const calls = [call({ run: 'beside', id: 'a' }), call({ run: 'at-home', id: 'b' })];
    expect(await send(store, calls)).toMatchObject({
      ok: false,
      problem: { kind: 'home-here', runId: 'at-home' },
    });
    expect(await store.run(runId('beside'))).toBeUndefined();
    expect(await sent(store, calls, { asTheyCome: true })).toMatchObject({
      rejected: 1,
      warnings: [{ path: 'run at-home' }],
      runs: [{ runId: 'beside', added: 4 }],
    });
    expect(await store.run(home.runId)).toEqual(home);
  });

  it('puts requests that wait together, and tells each its own', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        sent(store, [
          call({ run: 'crowd', id: `c${i}`, name: `n${i}`, at: 1_000 - i, end: 2_000 }),
          call({ run: `own-${i}`, id: 'x' }),
        ]),
      ),
    );
    for (const [i, { runs }] of answers.entries())
      expect(runs.map((run) => run.runId)).toEqual(['crowd', `own-${i}`]);
    expect(answers.reduce((sum, { runs }) => sum + (runs[0]?.added ?? 0), 0)).toBe(42);
    // At most the first goes alone: the others came meanwhile, and go together.
    expect((await store.run(runId('crowd')))?.edition).toBeLessThanOrEqual(1);
    await expectSound(store, runId('crowd'));
  });

  it('names what it could not read, with its place, and takes the rest', async () => {
    const bytes = Buffer.concat([callLines([call({ run: 'partly', id: 'a' })]), Buffer.from('\n{"no": 1}')]);
    expect(await importTraces(depsOf(store), { bytes, contentType: '' })).toMatchObject({
      ok: true,
      value: { rejected: 1, warnings: [{ path: 'line 3' }], runs: [{ runId: 'partly', added: 4 }] },
    });
  });

  describe('a run that another one was forked from', () => {
    /** As a fork's acceptance leaves it. */
    const forked = async (id: string) => {
      const parent = assertDefined(await store.run(runId(id)), 'the parent is there');
      const child = newRun({
        runId: runId(`${id}-child`),
        agent: 'desk',
        createdAt: epochMs(5),
        root: parent.root,
        parent: { runId: parent.runId, seq: parent.headSeq, mode: 'fork' },
      });
      await store.commit({
        runId: child.runId,
        root: parent.root,
        decide: () => ({ ok: true, value: { value: undefined, change: onlyRow(child) } }),
      });
    };

    it('keeps what stood, and what comes late is appended at its end, again and again', async () => {
      const calls = [
        call({ run: 'parent', id: 'a', name: 'a' }),
        call({ run: 'parent', id: 'c', name: 'c', at: 50, end: 60 }),
      ];
      await sent(store, calls);
      const stood = (await contentOf(store, runId('parent'))).events;
      await forked('parent');
      for (const [i, name] of ['b', 'd'].entries()) {
        const late = await sent(store, [call({ run: 'parent', id: name, name, at: 30 - i, end: 40 })]);
        expect(late).toMatchObject({ warnings: [{ path: 'run parent' }], runs: [{ added: 2 }] });
        expect(late.warnings[0]?.message).toContain('appended at its end');
      }
      const { events } = await contentOf(store, runId('parent'));
      expect(events.slice(0, stood.length)).toEqual(stood);
      expect(events).toHaveLength(stood.length + 4);
      expect(await store.edition(runId('parent'))).toBe(0);
      await expectSound(store, runId('parent'));
    });

    it('keeps a part that would change what stood, and says that the journal does not show it', async () => {
      await sent(store, [call({ run: 'fixed', id: 'b', at: 30, end: 40 })]);
      await forked('fixed');
      const before = await contentOf(store, runId('fixed'));
      // The same name earlier: `lookup#1` would be another call.
      const late = await sent(store, [call({ run: 'fixed', id: 'a', at: 5, end: 8 })], { asTheyCome: true });
      expect(late.warnings[0]?.message).toContain('the journal does not show it');
      const after = await contentOf(store, runId('fixed'));
      expect(after.events).toEqual(before.events);
      expect(after.parts.map(([id]) => id)).toEqual(['a', 'b']);
    });
  });

  it('does not add parts to a run that was imported without them, nor a longer journal to one that has them', async () => {
    await sent(store, [call({ run: 'sent', id: 'a' })]);
    const made = callsImporter.assemble(
      runId('copied'),
      [{ id: 'a', body: Buffer.from(JSON.stringify(call({ run: 'copied', id: 'a' }))) }],
      importTools,
    ).run;
    const file = (run: ImportedRun): Importer => ({
      kind: 'file',
      id: 'file',
      title: 'a file',
      recognises: () => true,
      decode: () => ({ ok: true, value: { runs: [{ ...run, growth: 'exact' }], warnings: [] } }),
    });
    const upload = (run: ImportedRun) =>
      importTraces(
        { ...depsOf(store), importers: [file(run)] },
        { bytes: Buffer.from('x'), contentType: '' },
      );
    expect(await upload(made)).toMatchObject({ ok: true, value: { created: true } });
    expect(await send(store, [call({ run: 'copied', id: 'b' })])).toMatchObject({
      ok: false,
      problem: { kind: 'differs', runId: 'copied' },
    });

    const here = await contentOf(store, runId('sent'));
    const same: ImportedRun = { ...made, runId: runId('sent'), root: runId('sent'), events: here.events };
    expect(await upload(same)).toMatchObject({ ok: true, value: { created: false } });
    const longer = [
      ...here.events,
      { ...assertDefined(here.events[0], 'it has events'), kind: 'run.completed' as const, seq: seq(5) },
    ];
    expect(await upload({ ...same, events: longer })).toMatchObject({
      ok: false,
      problem: { kind: 'differs', runId: 'sent', seq: 5 },
    });
  });
}

describe('parts in memory', () => suite(async () => memoryStore(), 40));

describe('parts in SQLite', () => {
  const database = sqliteDatabase();
  suite(() => openStore({ url: database.url }), 8);
  afterAll(() => database.remove());
});

describeOnPostgres('parts in PostgreSQL', (url) => suite(() => openStore({ url: url() }), 4));
