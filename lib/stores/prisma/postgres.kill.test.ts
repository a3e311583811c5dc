import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { epochMs, runId } from '@/lib/core/events/ids';
import { ApiClient, claim, type Reply, TestWorker } from '@/lib/testing/api-client';
import { startChild } from '@/lib/testing/child-process';
import { compileProgram } from '@/lib/testing/compiled';
import { describeOnPostgres } from '@/lib/testing/databases';
import { memoryStore } from '@/lib/testing/memory-store';
import { expectWhole, noteAcknowledged } from '@/lib/testing/store-whole';
import { startTestConsole, type TestConsole } from '@/lib/testing/test-console';
import type { Store } from '@/lib/usecases/ports';
import { openStore } from './open-store';

const KILLS = 4;
/** Longer than the suite: no lease lapses in it. */
const LEASE_MS = 3_600_000;

type Program = Awaited<ReturnType<typeof compileProgram>>;

/** The database's own processes for a client that is gone go on with what had reached them: waits until they are through. */
async function untilGone(url: string, name: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (;;) {
      const { rows } = await client.query('SELECT 1 FROM pg_stat_activity WHERE application_name = $1', [
        name,
      ]);
      if (rows.length === 0) return;
      await pause(10);
    }
  } finally {
    await client.end();
  }
}

/** The same database under a name that tells whose connections are whose. */
function named(url: string): { readonly url: string; readonly name: string } {
  const name = `doomed-${randomUUID()}`;
  const target = new URL(url);
  target.searchParams.set('application_name', name);
  return { url: target.href, name };
}

describeOnPostgres('PostgreSQL store and SIGKILL', (url) => {
  let program: Program;
  beforeAll(async () => {
    program = await compileProgram('lib/testing/store-child.ts');
  });
  afterAll(() => program.remove());

  it('S35 has nothing half-written and everything acknowledged after a process was killed during commits, again and again', async () => {
    const acknowledged = new Map<string, number>();
    for (let kill = 0; kill < KILLS; kill += 1) {
      const { url: doomed, name } = named(url());
      const child = startChild(program.file, ['append', doomed]);
      await child.line((line) => line === 'ready');
      child.say('go');
      // After a random number of acknowledgements, with four commits on their way.
      const enough = 1 + Math.floor(Math.random() * 80);
      await child.line(() => child.lines.length > enough);
      child.process.kill('SIGKILL');
      expect((await child.ended()).signal).toBe('SIGKILL');
      noteAcknowledged(child.lines, acknowledged);
      await untilGone(url(), name);
      await expectWhole(url(), acknowledged);
    }
    expect(acknowledged.size).toBe(4);
  }, 60_000);

  it('S35 has nothing of a large import that its process was killed during, and all of those that were acknowledged', async () => {
    const acknowledged = new Map<string, number>();
    const begun = new Set<string>();
    for (let kill = 0; kill < KILLS; kill += 1) {
      const { url: doomed, name } = named(url());
      const child = startChild(program.file, ['import', doomed, String(kill)]);
      await child.line((line) => line === 'ready');
      child.say('go');
      await child.line((line) => line.startsWith('begun large') && line.endsWith('_1'));
      // Somewhere within the second import, or after it.
      await pause(Math.random() * 200);
      child.process.kill('SIGKILL');
      await child.ended();
      noteAcknowledged(child.lines, acknowledged);
      for (const line of child.lines) if (line.startsWith('begun ')) begun.add(line.slice('begun '.length));
      await untilGone(url(), name);
      await expectWhole(url(), acknowledged);
    }
    expect(acknowledged.size).toBeGreaterThanOrEqual(KILLS);
    const store = await openStore({ url: url() });
    // Killed between commit and acknowledgement it is there, and whole.
    const unsaid = await Promise.all(
      [...begun].filter((id) => !acknowledged.has(id)).map((id) => store.run(runId(id))),
    );
    for (const run of unsaid) if (run !== undefined) acknowledged.set(run.runId, 2_500);
    // What is in use is no longer loose.
    await store.payloads.sweep(epochMs(store.clock.now() + 1_000));
    await store.close();
    await expectWhole(url(), acknowledged);
    const client = new pg.Client({ connectionString: url() });
    await client.connect();
    for (const table of ['Event', 'Step', 'Snapshot']) {
      const { rows } = await client.query(
        `SELECT 1 FROM "${table}" WHERE "run" NOT IN (SELECT "key" FROM "Run") LIMIT 1`,
      );
      expect([table, rows]).toEqual([table, []]);
    }
    await client.end();
  }, 120_000);
});

/** Everything that is stored of these runs and of their children. */
async function stored(store: Store, ids: readonly string[]): Promise<unknown> {
  const seen = new Set(ids);
  for (const id of ids) for (const { runId: member } of await store.lineage(runId(id))) seen.add(member);
  return Promise.all(
    [...seen].sort().map(async (id) => {
      const events = await store.events(runId(id), { limit: 100_000 });
      return {
        run: await store.run(runId(id)),
        events,
        steps: await store.steps(runId(id)),
        effects: await store.effects(runId(id)),
        questions: await store.questions(runId(id)),
        checkpoints: await store.checkpoints(runId(id)),
        lost: await store.payloads.missing(
          events.flatMap((event) =>
            'result' in event && event.result !== undefined ? [event.result.sha256] : [],
          ),
        ),
      };
    }),
  );
}

/** A request that writes, and the runs that it writes to. */
interface Prepared {
  readonly send: (to: ApiClient) => Promise<Reply>;
  readonly runs: readonly string[];
}

const step = (n: number) => `plan#1/lookup#${n}`;
const REFUND = 'plan#1/create_refund#1';
const QUESTION = 'plan#1/approve#1';

/** An order on a run, given under the same id however often it is sent. */
function ordered({ runId: id }: TestWorker, order: Record<string, unknown>): Prepared {
  const given = { ...order, commandId: randomUUID() };
  return { send: (to) => to.command(id, given), runs: [id] };
}

/** The same, for an order that carries out a plan. */
async function planned(api: ApiClient, worker: TestWorker, ask: Record<string, unknown>): Promise<Prepared> {
  const { body: plan } = await api.plan(worker.runId, ask);
  return ordered(worker, { ...ask, planDigest: plan.digest });
}

/** A run with a checkpoint and a failed end, given back. */
async function failed(api: ApiClient): Promise<TestWorker> {
  const worker = await TestWorker.create(api);
  await worker.write(worker.enter('plan'), worker.read(step(1)), worker.done(step(1)));
  const point = { visit: 'plan#1', name: '', entrySeq: 0, othersSeq: 0 };
  await worker.write({ kind: 'checkpoint.saved', trigger: 'manual', ...point });
  await worker.write({ kind: 'run.failed', cause: 'error', error: { type: 'Error', message: 'boom' } });
  await worker.release('done');
  return worker;
}

/** A run whose refund's outcome nobody knows, given back. */
async function inDoubt(api: ApiClient): Promise<{ readonly worker: TestWorker; readonly intentSeq: number }> {
  const worker = await TestWorker.create(api);
  await worker.write(worker.enter('plan'));
  const intentSeq = await worker.write(worker.external(REFUND));
  const error = { type: 'Timeout', message: 'no answer' };
  await worker.write(
    { kind: 'step.failed', stepKey: REFUND, attempt: 1, failure: 'timeout', error, final: true },
    { kind: 'run.waiting', on: [{ stepKey: REFUND, for: 'in-doubt' }] },
  );
  await worker.release('waiting');
  return { worker, intentSeq };
}

/** A run that waits for a person, given back. */
async function asking(api: ApiClient): Promise<{ readonly worker: TestWorker; readonly digest: unknown }> {
  const worker = await TestWorker.create(api);
  const asked = worker.ask(QUESTION);
  await worker.write(worker.enter('plan'), worker.start(QUESTION, { step: 'human' }), asked);
  await worker.write({ kind: 'run.waiting', on: [{ stepKey: QUESTION, for: 'question' }] });
  await worker.release('waiting');
  return { worker, digest: asked['questionDigest'] };
}

const requests: Readonly<Record<string, (api: ApiClient) => Promise<Prepared>>> = {
  append: async (api) => {
    const worker = await TestWorker.create(api);
    await worker.write(worker.enter('plan'));
    const batch = worker.batch(
      [2, 3, 4].flatMap((n) => [worker.read(step(n), { n }), worker.done(step(n), { n })]),
    );
    return { send: (to) => to.post(`${worker.path}/events`, batch), runs: [worker.runId] };
  },
  resume: async (api) => planned(api, await failed(api), { mode: 'resume' }),
  rewind: async (api) => {
    const worker = await failed(api);
    const { body } = await api.get(`${worker.path}/checkpoints`);
    return planned(api, worker, { mode: 'rewind', from: body.items[0].id });
  },
  fork: async (api) => {
    const edits = [{ path: '/variables/note', value: 'new' }];
    return planned(api, await failed(api), { mode: 'fork', from: 'latest', edits });
  },
  replay: async (api) => {
    const worker = await failed(api);
    // A replay is ordered where a worker has shown that it has the code; this one finds nothing to do, or an older order.
    await claim(api, { waitMs: 0 });
    return planned(api, worker, { mode: 'replay', from: 'start' });
  },
  verify: async (api) => ordered((await inDoubt(api)).worker, { mode: 'verify', stepKey: REFUND }),
  decide: async (api) => {
    const { worker, intentSeq } = await inDoubt(api);
    const decision = { intentSeq, outcome: 'happened', result: { value: { id: 're_1' } } };
    return ordered(worker, { mode: 'decide', decisions: { [REFUND]: decision } });
  },
  answer: async (api) => {
    const { worker, digest } = await asking(api);
    return ordered(worker, { mode: 'answer', questionId: QUESTION, questionDigest: digest, value: true });
  },
  cancel: async (api) => ordered((await asking(api)).worker, { mode: 'cancel' }),
  pause: async (api) => {
    const worker = await TestWorker.create(api);
    await worker.write(worker.enter('plan'));
    return ordered(worker, { mode: 'pause' });
  },
  upload: async () => {
    const elsewhere = await startTestConsole({ store: memoryStore() });
    const { path, runId: id } = await failed(new ApiClient(elsewhere.url));
    const text = await (await fetch(`${elsewhere.url}${path}/export`)).text();
    await elsewhere.close();
    return { send: (to) => to.post('/api/v1/traces', text), runs: [id] };
  },
};

/** When the process dies, told by the statement that it is at; whether anything may be, or must be, there. */
const points = [
  { text: 'INSERT INTO "Event"', when: 'sent', there: 'nothing' },
  { text: 'COMMIT', when: 'before', there: 'nothing' },
  { text: 'COMMIT', when: 'sent', there: 'nothing or all' },
  { text: 'COMMIT', when: 'after', there: 'all' },
] as const;

/** Whether the database got a commit that was on its way is the same question for every order: it is asked for these. */
const IN_FLIGHT = ['append', 'resume', 'fork', 'upload'];

const kills = Object.keys(requests).flatMap((name) =>
  points
    .filter(({ there }) => there !== 'nothing or all' || IN_FLIGHT.includes(name))
    .map((point) => ({ name, ...point })),
);

describeOnPostgres('the console on PostgreSQL and SIGKILL', (url) => {
  let program: Program;
  /** Another console on the same database. */
  let other: TestConsole;
  let api: ApiClient;
  beforeAll(async () => {
    program = await compileProgram('lib/testing/doomed-console-child.ts');
    other = await startTestConsole({ databaseUrl: url(), leaseMs: LEASE_MS });
    api = new ApiClient(other.url);
  });
  afterAll(async () => {
    await other?.close();
    program.remove();
  });

  it.each(kills)(
    'S35 $name, killed at $text ($when): $there is there, and the retry at another console succeeds once',
    async ({ name, text, when, there }) => {
      const doomed = named(url());
      const child = startChild(program.file, [doomed.url]);
      const line = await child.line((one) => one.startsWith('rerail: http'));
      const request = await (requests[name] as (typeof requests)[string])(api);
      const before = await stored(other.store, request.runs);
      child.say(`arm ${text} 1 ${when}`);
      await child.line((one) => one === 'armed');
      const given = request.send(new ApiClient(line.slice('rerail: '.length)));
      await expect(given).rejects.toThrow();
      expect((await child.ended()).signal).toBe('SIGKILL');
      await untilGone(url(), doomed.name);

      const seen = await stored(other.store, request.runs);
      const retried = await request.send(api);
      expect(retried.status).toBeLessThan(300);
      const after = await stored(other.store, request.runs);
      expect(after).not.toEqual(before);
      expect(seen).toEqual(
        there === 'nothing' ? before : there === 'all' ? after : isDeepEqual(seen, before) ? before : after,
      );
      expect((await request.send(api)).status).toBeLessThan(300);
      expect(await stored(other.store, request.runs)).toEqual(after);
      expect(JSON.stringify(after)).not.toMatch(/"lost":\["/);
    },
    60_000,
  );
});

const isDeepEqual = (one: unknown, two: unknown) => JSON.stringify(one) === JSON.stringify(two);
