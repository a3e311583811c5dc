import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { epoch, epochMs, runId, seq, sha256, stepKey } from '@/lib/core/events/ids';
import type { Hash } from '@/lib/core/events/payload';
import type { NewEvent, RunEvent } from '@/lib/core/events/run-event';
import { extend } from '@/lib/core/journal/extend';
import { newRun } from '@/lib/core/journal/new-run';
import { foldRun } from '@/lib/core/projections/run-state';
import { assertDefined } from '@/lib/core/shared/assert';
import { importers } from '@/lib/ingest/registry';
import { openStore } from '@/lib/stores/prisma/open-store';
import { describeOnPostgres, sqliteDatabase, type TestDatabase } from '@/lib/testing/databases';
import { memoryStore } from '@/lib/testing/memory-store';
import { arbitraryLineage, TestLineage } from '@/lib/testing/random-journal';
import { importTraces } from './import-traces';
import type { Change, ImportedRun, Importer, Store } from './ports';

const hash: Hash = (content) => sha256(createHash('sha256').update(content).digest('hex'));
const upload = (store: Store, bytes: Uint8Array, format?: string) =>
  importTraces(
    { store, hash, importers, judgedFrom: epochMs(0), maxImportDepth: 256 },
    { bytes, contentType: 'application/json', ...(format && { format }) },
  );

const fixture = (name: string) =>
  readFileSync(new URL(`../ingest/langgraph/fixtures/${name}`, import.meta.url));
const shared = new URL('../../../shared/traces/engines/langgraph-server/', import.meta.url);

/** Everything that a reader could see of the store's runs. */
async function contents(store: Store) {
  const { items } = await store.runs({ filter: {}, sort: 'created', descending: false, limit: 1_000 });
  return Promise.all(
    items.map(async ({ runId, state, root, parent, home, source, createdAt }) => ({
      run: { runId, state, root, parent, home, source, createdAt },
      events: await store.events(runId, { limit: 100_000 }),
      steps: await store.steps(runId),
      checkpoints: await store.checkpoints(runId),
      questions: await store.questions(runId),
    })),
  );
}

/** The store's state is what its journal folds to, and its rows point into the journal. */
async function expectSound(store: Store): Promise<void> {
  for (const { run, events, steps, checkpoints } of await contents(store)) {
    expect(foldRun(events)).toEqual(run.state);
    expect(events.map((event) => event.seq)).toEqual(events.map((_, i) => i + 1));
    expect(new Set(steps.map((step) => `${step.line} ${step.stepKey}`)).size).toBe(steps.length);
    for (const { seq: at } of checkpoints) expect(events[at - 1]?.kind).toBe('checkpoint.saved');
    for (const event of events) {
      if (event.inherited === undefined) continue;
      const [source] = await store.events(event.inherited.runId, {
        after: seq(event.inherited.seq - 1),
        limit: 1,
      });
      expect(source?.kind).toBe(event.kind);
    }
  }
}

function suite(open: () => Promise<Store>): void {
  let store: Store;
  beforeAll(async () => {
    store = await open();
  });
  afterAll(() => store.close());

  it.runIf(existsSync(shared))(
    'S34 a LangGraph thread, again, then with its forks: nothing doubled, the late parts added',
    async () => {
      const history = readFileSync(new URL('thread-history.json', shared));
      const forked = readFileSync(new URL('thread-history-after-forks.json', shared));
      expect(await upload(store, history)).toMatchObject({
        ok: true,
        value: { created: true, runs: [{ steps: 10, checkpoints: 10, status: 'completed' }] },
      });
      const first = await contents(store);
      expect(await upload(store, history)).toMatchObject({
        ok: true,
        value: { created: false, runs: [{ added: 0 }] },
      });
      expect(await contents(store)).toEqual(first);

      const late = await upload(store, forked);
      expect(late).toMatchObject({ ok: true, value: { created: true } });
      const all = await contents(store);
      expect(all.length).toBe(4);
      expect(all.find(({ run }) => run.runId === first[0]?.run.runId)).toEqual(first[0]);
      expect(await upload(store, forked)).toMatchObject({
        ok: true,
        value: { created: false, runs: [{ added: 0 }, { added: 0 }, { added: 0 }, { added: 0 }] },
      });
      expect(await upload(store, history)).toMatchObject({ ok: true, value: { created: false } });
      expect(await contents(store)).toEqual(all);
      await expectSound(store);
    },
  );

  it('S34 a thread that is uploaded as it grows is the thread uploaded once, late results and forks added', async () => {
    for (const name of [
      'forks-of-forks.json',
      'retry-and-second-turn.json',
      'parallel.json',
      'messages-trimmed.json',
    ]) {
      const states: unknown[] = JSON.parse(fixture(name).toString());
      for (let n = 1; n <= states.length; n += 1) {
        expect(await upload(store, Buffer.from(JSON.stringify(states.slice(-n))))).toMatchObject({
          ok: true,
        });
      }
      const whole = await upload(store, Buffer.from(JSON.stringify(states)));
      expect(whole).toMatchObject({ ok: true, value: { created: false } });
      if (whole.ok) expect(whole.value.runs.every(({ added }) => added === 0)).toBe(true);
    }
    await expectSound(store);
  });

  it('S34 a result that was not there the first time is added behind what is stored', async () => {
    const thread = '0191a2b3-0000-7000-8000-00000000ff01';
    const at = (n: number) => ({
      thread_id: thread,
      checkpoint_id: `1f0b000${n}-0000-6000-8000-000000000000`,
      checkpoint_ns: '',
    });
    const state = (n: number, next: readonly string[], tasks: readonly unknown[], source: string) => ({
      values: { n },
      next,
      tasks,
      metadata: { source, thread_id: thread, graph_id: 'g' },
      created_at: `2026-03-04T05:00:0${n}Z`,
      checkpoint: at(n),
      parent_checkpoint: n === 1 ? null : at(n - 1),
    });
    const task = (name: string, result: unknown) => ({ id: name, name, error: null, interrupts: [], result });
    // The process died while b ran; a and c had ended.
    const died = [state(1, ['a', 'b', 'c'], [task('a', 1), task('b', null), task('c', 3)], 'loop')];
    const wentOn = [
      state(2, [], [], 'loop'),
      state(1, ['a', 'b', 'c'], [task('a', 1), task('b', 2), task('c', 3)], 'loop'),
    ];
    expect(await upload(store, Buffer.from(JSON.stringify(died)))).toMatchObject({
      ok: true,
      value: { runs: [{ status: 'unknown', steps: 3 }] },
    });
    const answer = await upload(store, Buffer.from(JSON.stringify(wentOn)));
    expect(answer).toMatchObject({
      ok: true,
      value: { created: false, runs: [{ status: 'completed', steps: 3, checkpoints: 2 }] },
    });
    const steps = await store.steps(
      assertDefined(answer.ok ? answer.value.runs[0] : undefined, 'one run').runId,
    );
    expect(steps.map(({ name, status }) => [name, status])).toEqual([
      ['a', 'completed'],
      ['b', 'completed'],
      ['c', 'completed'],
    ]);
    await expectSound(store);
  });

  it('S35 several runs of one upload are stored together or not at all', async () => {
    const draft = (id: string) =>
      extend(
        newRun({ runId: runId(id), agent: 'a', createdAt: epochMs(1), home: 'mirror' }),
        [],
        [{ kind: 'run.started', agent: 'a', tags: [] }],
        { at: epochMs(1), epoch: epoch(1), by: 'worker' },
      );
    const change = (id: string) => ({ ...draft(id), payloads: [] });
    const commit = (also: readonly Change[]) =>
      store.commit<undefined, never>({
        runId: runId('first'),
        decide: () => ({ ok: true, value: { value: undefined, change: { ...change('first'), also } } }),
      });
    // The database refuses the third run, whose id the second one took in the same transaction.
    await expect(commit([change('second'), change('second')])).rejects.toThrow();
    expect([await store.run(runId('first')), await store.run(runId('second'))]).toEqual([
      undefined,
      undefined,
    ]);
    await commit([change('second')]);
    expect((await store.run(runId('second')))?.headSeq).toBe(1);
    expect(await store.events(runId('second'), { limit: 9 })).toHaveLength(1);
  });

  it('refuses another history under the id of a known thread and stores none of the file', async () => {
    const states: { values: unknown; checkpoint: { thread_id: string } }[] = JSON.parse(
      fixture('retry-and-second-turn.json').toString(),
    );
    const moved = (values: unknown) =>
      Buffer.from(
        JSON.stringify(states.map((state) => ({ ...state, values }))).replaceAll(
          '000000000006',
          '0000000000ee',
        ),
      );
    expect(await upload(store, moved({ a: 1 }))).toMatchObject({ ok: true });
    const before = await contents(store);
    expect(await upload(store, moved({ a: 2 }))).toMatchObject({ ok: false, problem: { kind: 'differs' } });
    expect(await contents(store)).toEqual(before);
  });
}

describe('imports in memory', () => suite(async () => memoryStore()));

describe('imports on SQLite', () => {
  let database: TestDatabase;
  suite(() => {
    database = sqliteDatabase();
    return openStore({ url: database.url });
  });
  afterAll(() => database.remove());
});

describeOnPostgres('imports on PostgreSQL', (url) => suite(() => openStore({ url: url() })));

describe('formats', () => {
  it('an unknown one is refused with the list of those that are known', async () => {
    const answer = await upload(memoryStore(), Buffer.from('{"resource":[]}'));
    expect(answer).toMatchObject({
      ok: false,
      problem: {
        kind: 'unknown-format',
        known: [{ format: 'rerail' }, { format: 'langgraph' }, { format: 'otlp' }],
        errors: [{ path: 'body' }],
      },
    });
    expect(await upload(memoryStore(), Buffer.from('[]'), 'nosuch')).toMatchObject({
      ok: false,
      problem: { kind: 'unknown-format', errors: [{ path: 'query.format' }] },
    });
  });

  it('of two importers never both recognise a file', () => {
    for (const name of ['window.json', 'with-graph.json']) {
      expect(
        importers.filter((importer) => importer.recognises(fixture(name).toString(), '')).map(({ id }) => id),
      ).toEqual(['langgraph']);
    }
  });
});

/** A file that holds exactly these runs. */
const holding = (runs: readonly ImportedRun[]): Importer => ({
  kind: 'file',
  id: 'test',
  title: 'test',
  recognises: () => true,
  decode: () => ({ ok: true, value: { runs, warnings: [] } }),
});

const asImported = ({ runs }: TestLineage): readonly ImportedRun[] =>
  [...runs.values()].map(({ run, events }) => ({
    runId: run.runId,
    root: run.root,
    ...(run.parent && { parent: run.parent }),
    source: run.source,
    agent: run.state.agent,
    createdAt: run.createdAt,
    epoch: run.epoch,
    events,
    payloads: new Map(),
    growth: 'exact',
  }));

describe('a fork that was run elsewhere', () => {
  it('does not un-confirm what its home run paid, though its own refund was rejected', async () => {
    const lineage = new TestLineage();
    const key = stepKey('work#1/refund#1');
    lineage.worker([{ kind: 'state.entered', key: 'work#1', state: 'work', visit: 1 }]);
    const refund: NewEvent = {
      kind: 'step.started',
      stepKey: key,
      name: 'refund',
      step: 'tool',
      effect: 'external',
      attempt: 1,
      inputDigest: hash('a'),
      intent: {
        idempotencyKey: 'k',
        generation: 1,
        argsDigest: hash('a'),
        sendBy: epochMs(lineage.now + 500),
        timeoutMs: 200,
        settlesWithinMs: 300,
        keyValidForMs: 60_000,
        guarded: true,
        verifiable: true,
      },
    };
    const before = lineage.of().run.headSeq;
    lineage.worker([
      refund,
      { kind: 'step.completed', stepKey: key, attempt: 1, recorded: true, receipt: 're_1' },
    ]);
    const forkId = runId('run_abroad');
    lineage.fork(forkId, before);
    const [root, fork] = asImported(lineage);
    if (!root || !fork) throw new Error('two runs');
    const append = (body: NewEvent, i: number): RunEvent => ({
      ...body,
      runId: forkId,
      seq: seq(fork.events.length + 1 + i),
      at: epochMs(lineage.now),
      epoch: epoch(1),
      by: 'worker',
      version: 1,
    });
    const rejected: NewEvent = {
      kind: 'step.failed',
      stepKey: key,
      attempt: 1,
      failure: 'rejected',
      error: { type: 'E', message: 'no' },
      final: true,
    };
    const abroad = { ...fork, events: [...fork.events, ...[refund, rejected].map(append)] };
    const store = memoryStore();
    const home = lineage.of();
    await store.commit({
      runId: home.run.runId,
      root: home.run.root,
      decide: () => ({
        ok: true,
        value: {
          value: undefined,
          change: {
            run: home.run,
            events: home.events,
            payloads: [],
            steps: [...home.steps.values()],
            effects: lineage.ledger(),
            questions: [],
            checkpoints: [],
            snapshots: [],
          },
        },
      }),
    });
    const answer = await importTraces(
      { store, hash, importers: [holding([abroad])], judgedFrom: epochMs(0), maxImportDepth: 256 },
      { bytes: new Uint8Array([1]), contentType: '' },
    );
    expect(answer).toMatchObject({ ok: true });
    expect(await store.effects(lineage.root)).toMatchObject([
      { runId: lineage.root, status: 'confirmed', receipt: 're_1' },
    ]);
  });
});

describe('random journals', () => {
  const deps = (store: Store, runs: readonly ImportedRun[]) => ({
    store,
    hash,
    importers: [holding(runs)],
    judgedFrom: epochMs(0),
    maxImportDepth: 256,
  });

  it('give the rows by import that they gave batch by batch, whole or in two uploads', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryLineage(200), fc.nat(), async (lineage, cut) => {
        const whole = asImported(lineage);
        const store = memoryStore();
        const parts = whole.map((run) => ({
          ...run,
          events: run.events.slice(0, 1 + (cut % run.events.length)),
        }));
        const bytes = new Uint8Array([1]);
        expect(await importTraces(deps(store, parts), { bytes, contentType: '' })).toMatchObject({
          ok: true,
        });
        expect(await importTraces(deps(store, whole), { bytes, contentType: '' })).toMatchObject({
          ok: true,
          value: { created: false },
        });
        for (const { run, events, steps, checkpoints, questions } of lineage.runs.values()) {
          expect(await store.events(run.runId, { limit: 100_000 })).toEqual(events);
          expect((await store.run(run.runId))?.state).toEqual(run.state);
          expect(await store.checkpoints(run.runId)).toEqual(checkpoints);
          expect(
            new Map((await store.steps(run.runId)).map((step) => [`${step.line} ${step.stepKey}`, step])),
          ).toEqual(steps);
          expect(
            new Map(
              (await store.questions(run.runId)).map((question) => [
                `${question.line} ${question.questionId}`,
                question,
              ]),
            ),
          ).toEqual(questions);
        }
        if (lineage.runs.size === 1)
          expect(
            new Map(
              (await store.effects(lineage.root)).map((effect) => [
                `${effect.generation} ${effect.stepKey}`,
                effect,
              ]),
            ),
          ).toEqual(new Map(lineage.effects));
      }),
      { numRuns: 40 },
    );
  });
});
