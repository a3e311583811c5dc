import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { epoch, epochMs, type RunId, runId, type StepKey, seq, sha256, stepKey } from '@/lib/core/events/ids';
import type { Hash, Payload, PayloadRef } from '@/lib/core/events/payload';
import { payloadRefsOf } from '@/lib/core/events/payload-refs';
import type { EventBody, RunEvent } from '@/lib/core/events/run-event';
import { decodeValue, digestOf, encodeValue } from '@/lib/core/events/value-codec';
import { type Draft, extend } from '@/lib/core/journal/extend';
import { newRun } from '@/lib/core/journal/new-run';
import { machineDigestOf } from '@/lib/core/machine/drift';
import type { Machine } from '@/lib/core/machine/machine';
import { emptyState, foldRun } from '@/lib/core/projections/run-state';
import { assertDefined } from '@/lib/core/shared/assert';
import { importers } from '@/lib/ingest/registry';
import { exportPieces } from '@/lib/server/present/export-file';
import { openStore } from '@/lib/stores/prisma/open-store';
import { describeOnPostgres, sqliteDatabase, type TestDatabase } from '@/lib/testing/databases';
import { mutations } from '@/lib/testing/importer-contract';
import { memoryStore } from '@/lib/testing/memory-store';
import { arbitraryForks, driveForks, payloadOf, type TestLineage } from '@/lib/testing/random-journal';
import { exportRun } from './export-run';
import { importTraces } from './import-traces';
import type { Store } from './ports';
import { stateAt } from './state-at';

const hash: Hash = (content) => sha256(createHash('sha256').update(content).digest('hex'));
const moreJournals = Number(process.env['EXPORT_JOURNALS'] ?? 0);
const seed = Number(process.env['EXPORT_SEED'] ?? 1);
const depsOf = (store: Store) => ({ store, hash, importers, judgedFrom: epochMs(0), maxImportDepth: 256 });

const machine: Machine = {
  agent: 'refund-desk',
  provenance: 'declared',
  initial: 'lookup',
  states: {
    lookup: { transitions: ['refund'], tools: ['search_orders'] },
    refund: { transitions: [], tools: ['create_refund'], final: true },
  },
  tools: {
    create_refund: {
      effect: 'external',
      keyed: true,
      verify: true,
      timeoutMs: 5_000,
      settlesWithinMs: 60_000,
      keyValidForMs: 86_400_000,
      retries: 0,
      description: 'ü\u0000\ud800',
    },
  },
};
const machineDigest = machineDigestOf(machine, hash);

/** S36, S24 and values outside JSON, each of which must come back byte for byte. */
const awkward: readonly unknown[] = [
  'nul \u0000 in the middle',
  'lone \ud800 and \udfff',
  '<b onclick=alert(1)>html</b> \u001b[31mansi\u001b[0m \u202ertl',
  { '\u0000': '\ud800', $rerail: 'an own key', __proto__: null, z: 1, a: 2 },
  12_345_678_901_234_567_890n,
  [undefined, Number.NaN, Number.NEGATIVE_INFINITY, -0],
  new Map<unknown, unknown>([[1n, new Set(['\u0000'])]]),
  new Date(0),
  new Uint8Array([0, 255, 128]),
];
const three = 'x\u0000\ud83d\ude00'.repeat(600_000);
const line = `${'r\u202e'.repeat(150_000)}`;

/** A run as a worker and the console would have written it, in batches. */
class Script {
  readonly payloads = new Map<string, Payload>();
  readonly batches: Draft[][] = [];
  #at = 1_700_000_000_000;
  #length = 0;

  put(value: unknown, codec: Payload['codec'] = 'json'): PayloadRef {
    const encoded = encodeValue(value);
    if (!encoded.ok) throw new Error(encoded.problem.why);
    const body = codec === 'bytes' && value instanceof Uint8Array ? value : Buffer.from(encoded.value);
    const digest = hash(body);
    this.payloads.set(digest, { sha256: digest, bytes: body.byteLength, codec, body });
    return { sha256: digest, bytes: body.byteLength, codec };
  }

  add(...bodies: readonly (EventBody & { readonly by?: 'console'; readonly epoch?: number })[]): number {
    this.#at += 7;
    this.batches.push(
      bodies.map(
        (body) =>
          ({
            ...body,
            at: epochMs(this.#at),
            epoch: epoch(body.epoch ?? 1),
            by: body.by ?? 'worker',
          }) as Draft,
      ),
    );
    this.#length += bodies.length;
    return this.#length;
  }

  step(key: string, input: unknown, result: unknown): void {
    const given = this.put(input);
    this.add({
      kind: 'step.started',
      stepKey: stepKey(key),
      name: 'search_orders',
      step: 'tool',
      effect: 'read',
      attempt: 1,
      input: given,
      inputDigest: digestOf(encoded(input), hash),
    });
    this.add({
      kind: 'step.completed',
      stepKey: stepKey(key),
      attempt: 1,
      recorded: true,
      result: this.put(result),
      usage: { inputTokens: 3 },
    });
  }

  /** A request that begins with `conversation` messages, and its reply in two parts. */
  reply(key: string, conversation: number): void {
    const message = this.put({ role: 'assistant', content: `after ${conversation}` });
    this.add({
      kind: 'step.started',
      stepKey: stepKey(key),
      name: 'desk',
      step: 'llm',
      effect: 'read',
      attempt: 1,
      input: this.put({ messages: [] }),
      inputDigest: hash(`whole request of ${key}`),
      conversation,
    });
    this.add({
      kind: 'step.completed',
      stepKey: stepKey(key),
      attempt: 1,
      recorded: true,
      result: this.put({ finish: 'stop' }),
      message,
    });
    this.add({
      kind: 'step.reused',
      stepKey: stepKey(`${key}9`),
      name: 'desk',
      step: 'llm',
      effect: 'read',
      input: this.put({ messages: [] }),
      inputDigest: hash(`whole request of ${key}`),
      conversation,
      sourceRunId: runId('another run'),
      sourceSeq: seq(1),
      result: this.put({}),
      message: this.put({ role: 'assistant', content: 'from another run' }),
    });
  }

  effect(key: StepKey): number {
    const sent = this.put({ amount: 148 });
    const argsDigest = digestOf('{"amount":148}', hash);
    // A checkpoint that ends its batch cannot know the intent that follows it: the copy must not know it either.
    this.add({
      kind: 'checkpoint.saved',
      trigger: 'before-effect',
      visit: '',
      name: '',
      entrySeq: seq(0),
      othersSeq: seq(0),
    });
    return this.add({
      kind: 'step.started',
      stepKey: key,
      name: 'create_refund',
      step: 'tool',
      effect: 'external',
      attempt: 1,
      input: sent,
      inputDigest: argsDigest,
      intent: {
        idempotencyKey: `key ${key}`,
        generation: 1,
        argsDigest,
        sendBy: epochMs(this.#at + 5_000),
        timeoutMs: 5_000,
        settlesWithinMs: 60_000,
        keyValidForMs: 86_400_000,
        guarded: true,
        verifiable: true,
      },
    });
  }

  async write(store: Store, id: RunId): Promise<void> {
    await store.machines.put(machineDigest, machine);
    await store.payloads.put([...this.payloads.values()]);
    const events: RunEvent[] = [...(await store.events(id, { limit: 1_000_000 }))];
    for (const drafts of this.batches) {
      const done = await store.commit<readonly RunEvent[], never>({
        runId: id,
        effectKeys: 'all',
        decide: ({ run, effects, now }) => {
          const before =
            run ?? newRun({ runId: id, agent: machine.agent, createdAt: epochMs(1_700_000_000_000) });
          const newest = Math.max(...drafts.map((draft) => draft.epoch ?? 1));
          const change = extend(
            { ...before, epoch: epoch(Math.max(before.epoch, newest)) },
            effects,
            drafts,
            { at: now, epoch: before.epoch, by: 'worker' },
            { stateAt: (at) => foldRun(events.slice(0, at)) },
          );
          return { ok: true, value: { value: change.events, change: { ...change, payloads: [] } } };
        },
      });
      if (done.ok) events.push(...done.value);
    }
  }
}

const encoded = (value: unknown): string => {
  const result = encodeValue(value);
  if (!result.ok) throw new Error(result.problem.why);
  return result.value;
};

/** Interruption in the middle of a payment, a probe, a rewind, a question: one of every kind that changes rows. */
function wholeStory(values: readonly unknown[]): Script {
  const script = new Script();
  script.add({
    kind: 'run.started',
    agent: machine.agent,
    machineDigest,
    input: script.put({ order: '4711' }),
    tags: ['eu', 'prüfung'],
  });
  script.add({ kind: 'state.entered', key: 'lookup#1', state: 'lookup', visit: 1 });
  for (const [i, value] of values.entries()) {
    script.step(`lookup#1/search_orders#${i + 1}`, value, { value, i });
    script.add(
      { kind: 'variables.patched', patch: [{ op: 'add', path: `/v${i}`, value: script.put(value) }] },
      { kind: 'message.appended', role: 'user', message: script.put({ role: 'user', content: value }) },
    );
  }
  script.reply('lookup#1/desk#1', values.length);
  script.add({ kind: 'value.recorded', key: stepKey('lookup#1/$time#1'), of: 'time', value: 0.1 });
  const point = script.add({
    kind: 'checkpoint.saved',
    trigger: 'manual',
    visit: 'lookup#1',
    name: '',
    entrySeq: seq(0),
    othersSeq: seq(0),
  });
  script.add(
    { kind: 'state.left', key: 'lookup#1', state: 'lookup', visit: 1, to: 'refund' },
    { kind: 'state.entered', key: 'refund#1', state: 'refund', visit: 1, from: 'lookup' },
  );
  const paid = stepKey('refund#1/create_refund#1');
  const intentSeq = script.effect(paid);
  script.add({ kind: 'run.interrupted', cause: 'lease-lapsed', by: 'console' });
  script.add({
    kind: 'effect.verified',
    stepKey: paid,
    intentSeq: seq(intentSeq),
    outcome: 'happened',
    source: 'probe',
    receipt: 're_1',
    result: script.put({ id: 're_1' }),
    epoch: 2,
  });
  script.add(
    { kind: 'run.rewound', toSeq: seq(point), kept: [paid], commandId: 'c1' as never, by: 'console' },
    { kind: 'run.queued', reason: 'command', by: 'console' },
  );
  script.add({ kind: 'run.resumed', workerId: 'w2' as never, revived: false, by: 'console', epoch: 3 });
  const asked = stepKey('lookup#1/approve#1');
  script.add(
    {
      kind: 'step.started',
      stepKey: asked,
      name: 'approve',
      step: 'human',
      attempt: 1,
      inputDigest: hash(''),
      epoch: 3,
    },
    {
      kind: 'question.asked',
      questionId: 'q1' as never,
      stepKey: asked,
      question: script.put('ok?'),
      questionDigest: hash('q'),
      epoch: 3,
    },
  );
  script.add({ kind: 'run.waiting', on: [{ stepKey: asked, for: 'question' }], epoch: 3 });
  return script;
}

async function exported(store: Store, id: RunId): Promise<Buffer> {
  const run = await exportRun({ store, hash }, { runId: id });
  if (!run.ok) throw new Error(run.problem.detail);
  const blocks: Uint8Array[] = [];
  for await (const block of exportPieces(run.value.parts)) blocks.push(block);
  return Buffer.concat(blocks);
}

async function upload(store: Store, bytes: Uint8Array) {
  return importTraces(depsOf(store), { bytes, contentType: 'application/x-ndjson' });
}

async function everythingOf(store: Store, id: RunId) {
  const run = assertDefined(await store.run(id), 'the run is stored');
  const events = await store.events(id, { limit: 1_000_000 });
  const refs = new Map(
    events
      .flatMap((event) => JSON.stringify(event).match(/[0-9a-f]{64}/g) ?? [])
      .map((digest) => [digest, digest]),
  );
  const payloads = await store.payloads.many([...refs.keys()].map(sha256));
  return {
    events,
    state: run.state,
    lineage: [run.root, run.parent, run.source, run.createdAt, run.headSeq, run.epoch],
    steps: await store.steps(id),
    checkpoints: await store.checkpoints(id),
    questions: await store.questions(id),
    effects: await store.effects(run.root),
    payloads: [...payloads.values()]
      .map(({ sha256: digest, bytes, codec, body }) => [digest, bytes, codec, hash(body)])
      .sort(),
    machine:
      run.state.machineDigest === undefined ? undefined : await store.machines.get(run.state.machineDigest),
  };
}

/** The suite against a store that receives, over so many random journals; the sender is always another one. */
function identitySuite(open: () => Promise<Store>, journals: number): void {
  let here: Store;
  let there: Store;
  let folder: TestDatabase;
  beforeAll(async () => {
    folder = sqliteDatabase();
    here = await openStore({ url: folder.url });
    there = await open();
  });
  afterAll(async () => {
    await here.close();
    await there.close();
    await folder.remove();
  });

  it('S30 S36 S24 a run with U+0000, lone surrogates, BigInt and 3 MB values is the identical run elsewhere, as a mirror', async () => {
    const id = runId('whole story \u{1f600} /#%');
    await wholeStory([...awkward, three, { line }]).write(here, id);
    const file = await exported(here, id);
    const answer = await upload(there, file);
    expect(answer).toMatchObject({
      ok: true,
      value: { created: true, warnings: [], runs: [{ runId: id, format: 'rerail', status: 'waiting' }] },
    });
    expect(await everythingOf(there, id)).toEqual(await everythingOf(here, id));
    expect((await there.run(id))?.home).toBe('mirror');
    expect((await exported(there, id)).equals(file)).toBe(true);
    const last = (await there.steps(id)).find(
      ({ stepKey: key }) => key === `lookup#1/search_orders#${awkward.length + 1}`,
    );
    const kept = await there.payloads.get(assertDefined(last?.input, 'the input is stored').sha256);
    expect(decodeValue(Buffer.from(assertDefined(kept, 'the payload is stored').body).toString())).toBe(
      three,
    );
  });

  it('S34 the same file again doubles nothing; a longer one of the same run adds what is new', async () => {
    const id = runId('grows');
    const script = wholeStory(['a', 1n]);
    await script.write(here, id);
    const file = await exported(here, id);
    expect(await upload(there, file)).toMatchObject({ ok: true, value: { created: true } });
    const before = await everythingOf(there, id);
    expect(await upload(there, file)).toMatchObject({
      ok: true,
      value: { created: false, runs: [{ added: 0 }] },
    });
    expect(await everythingOf(there, id)).toEqual(before);

    const more = new Script();
    more.add({
      kind: 'question.answered',
      questionId: 'q1' as never,
      stepKey: stepKey('lookup#1/approve#1'),
      value: more.put(true),
      actor: 'ada',
      commandId: 'c2' as never,
      by: 'console',
      epoch: 3,
    });
    more.add({
      kind: 'run.rewound',
      toSeq: seq(5),
      kept: [],
      commandId: 'c3' as never,
      by: 'console',
      epoch: 3,
    });
    await more.write(here, id);
    const longer = await exported(here, id);
    expect(await upload(there, longer)).toMatchObject({
      ok: true,
      value: { created: false, runs: [{ added: 2 }] },
    });
    expect(await everythingOf(there, id)).toEqual(await everythingOf(here, id));
    expect((await exported(there, id)).equals(longer)).toBe(true);
    // The older file brings nothing and takes nothing away.
    const old = await upload(there, file);
    expect(old).toMatchObject({ ok: true, value: { runs: [{ added: 0 }] } });
    expect((await exported(there, id)).equals(longer)).toBe(true);
  });

  it('refuses another content under a known id, and says at home that the run lives here', async () => {
    const id = runId('contested');
    await wholeStory(['a']).write(here, id);
    const file = await exported(here, id);
    expect(await upload(here, file)).toMatchObject({
      ok: true,
      value: { created: false, runs: [{ added: 0 }] },
    });
    expect((await here.run(id))?.home).toBe('here');

    const other = memoryStore();
    await wholeStory(['b']).write(other, id);
    const rival = await exported(other, id);
    expect(await upload(here, rival)).toMatchObject({ ok: false, problem: { kind: 'home-here', runId: id } });
    expect(await upload(there, file)).toMatchObject({ ok: true });
    expect(await upload(there, rival)).toMatchObject({ ok: false, problem: { kind: 'differs', runId: id } });
    expect((await exported(there, id)).equals(file)).toBe(true);
    expect((await exported(here, id)).equals(file)).toBe(true);
  });

  it('S35 a file that was cut off anywhere leaves nothing behind, and the retry succeeds', async () => {
    const id = runId('cut');
    await wholeStory(['a', '\u0000']).write(here, id);
    const file = await exported(here, id);
    for (const at of [1, 40, 400, Math.floor(file.length / 2), file.length - 40, file.length - 2]) {
      const answer = await upload(there, file.subarray(0, at));
      expect(answer.ok).toBe(false);
      if (!answer.ok && answer.problem.kind === 'malformed')
        expect(answer.problem.errors[0]?.path).toMatch(/^(line|byte) \d+/);
      expect(await there.run(id)).toBeUndefined();
    }
    expect(await upload(there, file)).toMatchObject({ ok: true, value: { created: true } });
  });

  it('export → upload is the identity for any values', async () => {
    const value = fc.anything({
      withBigInt: true,
      withDate: true,
      withMap: true,
      withSet: true,
      withTypedArray: false,
      maxDepth: 3,
    });
    let n = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(value, fc.string({ unit: 'binary' }), fc.constantFrom(...awkward)), {
          maxLength: 8,
        }),
        async (values) => {
          const recordable = values.filter((one) => encodeValue(one).ok);
          n += 1;
          const id = runId(`any ${n}`);
          await wholeStory(recordable).write(here, id);
          const file = await exported(here, id);
          expect(await upload(there, file)).toMatchObject({
            ok: true,
            value: { created: true, warnings: [] },
          });
          expect(await everythingOf(there, id)).toEqual(await everythingOf(here, id));
          expect((await exported(there, id)).equals(file)).toBe(true);
        },
      ),
      { numRuns: 15, seed },
    );
  });

  it(
    'export → upload is the identity for any journals: forks, rewinds, doubts, decisions, questions',
    async () => {
      let n = 0;
      const seen = new Set<string>();
      await fc.assert(
        fc.asyncProperty(arbitraryForks(), fc.nat(), async (choices, pick) => {
          n += 1;
          const lineage = driveForks(choices, runId(`journal ${n}`));
          const home = await homeOf(lineage);
          for (const id of lineage.runs.keys()) {
            const file = await exported(home, id);
            expect(await upload(there, file)).toMatchObject({
              ok: true,
              value: { created: true, warnings: [], runs: [{ runId: id, format: 'rerail' }] },
            });
            expect((await exported(there, id)).equals(file)).toBe(true);
          }
          for (const [id, { run, events }] of lineage.runs) {
            for (const { kind, inherited } of events)
              seen.add(inherited === undefined ? kind : `${kind} inherited`);
            const copy = await everythingOf(there, id);
            expect(copy).toEqual(await everythingOf(home, id));
            expect(copy.state).toEqual(foldRun(events));
            const mirror = assertDefined(await there.run(id), 'the run is stored');
            expect(mirror.home).toBe('mirror');
            const at = seq(pick % (run.headSeq + 1));
            expect((await stateAt({ store: there }, mirror, at)).state).toEqual(
              foldRun(events.slice(0, at), emptyState(run.state.agent)),
            );
          }
        }),
        { numRuns: Math.max(journals, moreJournals), seed, endOnFailure: true },
      );
      for (const kind of [
        'step.started inherited',
        'run.rewound',
        'effect.verified',
        'effect.decided',
        'question.answered',
      ])
        expect(seen, kind).toContain(kind);
    },
    30_000 + moreJournals * 2_000,
  );
}

/** A store with a random lineage as its home has it. */
async function homeOf(lineage: TestLineage): Promise<Store> {
  const store = memoryStore();
  for (const stored of lineage.runs.values()) {
    const { run, events, checkpoints, snapshots } = stored;
    const refs = events.flatMap(payloadRefsOf).map((ref) => [ref.sha256, payloadOf(ref)] as const);
    const { lease: _lease, ...released } = run;
    const change = {
      run: released,
      events,
      payloads: [...new Map(refs).values()],
      steps: [...stored.steps.values()],
      effects: lineage.ledger().filter((row) => row.runId === run.runId),
      questions: [...stored.questions.values()],
      checkpoints,
      snapshots,
    };
    await store.commit<undefined, never>({
      runId: run.runId,
      root: run.root,
      decide: () => ({ ok: true, value: { value: undefined, change } }),
    });
  }
  return store;
}

describe('export and upload, received by SQLite', () => {
  let database: TestDatabase;
  identitySuite(() => {
    database = sqliteDatabase();
    return openStore({ url: database.url });
  }, 10);
  afterAll(() => database.remove());
});

describeOnPostgres('export and upload, received by PostgreSQL', (url) =>
  identitySuite(() => openStore({ url: url() }), 4),
);

describe('damaged exports', () => {
  it('are refused with a place or stored whole, and never thrown at', async () => {
    const source = memoryStore();
    const id = runId('damaged');
    await wholeStory(['a', awkward[3]]).write(source, id);
    const file = await exported(source, id);
    for (const damaged of mutations(file, 300, 7)) {
      const store = memoryStore();
      const answer = await importTraces(depsOf(store), { bytes: damaged, contentType: '', format: 'rerail' });
      if (answer.ok)
        expect((await exported(store, answer.value.runs[0]?.runId ?? id)).equals(file)).toBe(true);
      else
        expect(answer.problem).toMatchObject({
          kind: expect.stringMatching(/malformed|too-deep/),
          errors: [{ path: expect.stringMatching(/./) }],
        });
    }
  });

  it('whose digest is right and whose journal ends what never began are stored whole, and every such event is counted and named', async () => {
    const source = memoryStore();
    const id = runId('nonsense');
    const lost = (n: number) => stepKey(`a#1/b#${n}`);
    const script = new Script();
    for (let n = 1; n <= 7; n += 1)
      script.add({ kind: 'step.completed', stepKey: lost(n), attempt: 1, recorded: true });
    script.add({ kind: 'state.entered', key: 'b#1', state: 'b', visit: 1 });
    script.step('b#1/search_orders#1', 1, 2);
    script.add(
      {
        kind: 'step.failed',
        stepKey: lost(1),
        attempt: 1,
        failure: 'error',
        error: { type: 'Error', message: 'no' },
        final: true,
      },
      { kind: 'state.left', key: 'a#1', state: 'a', visit: 1 },
      { kind: 'question.expired', questionId: 'q' as never, stepKey: lost(1) },
      { kind: 'state.left', key: 'b#1', state: 'b', visit: 1 },
    );
    await script.write(source, id);
    const store = memoryStore();
    const file = await exported(source, id);
    const kept = 'kept in the journal, and nothing else is shown of it';
    const path = `run ${id}`;
    expect(await upload(store, file)).toMatchObject({
      ok: true,
      value: {
        runs: [{ steps: 1 }],
        warnings: [
          {
            path,
            message: `step.completed of what never began: a#1/b#1 at seq 1, a#1/b#2 at seq 2, a#1/b#3 at seq 3, a#1/b#4 at seq 4, a#1/b#5 at seq 5 and 2 more; ${kept}`,
          },
          { path, message: `step.failed of what never began: a#1/b#1 at seq 11; ${kept}` },
          { path, message: `state.left of what never began: a#1 at seq 12; ${kept}` },
          { path, message: `question.expired of what never began: q at seq 13; ${kept}` },
        ],
      },
    });
    expect((await exported(store, id)).equals(file)).toBe(true);
    expect((await store.steps(id)).map((step) => step.stepKey)).toEqual(['b#1/search_orders#1']);
  });
});
