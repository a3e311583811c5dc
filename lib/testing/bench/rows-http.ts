import { rmSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { startWorker } from '@/lib/sdk/index';
import { appended, takeSamples } from './agents';
import { type BenchConsole, startConsole } from './console-process';
import { appendTimes, feedRun } from './feed';
import { type Figure, figure, percentile, timed } from './figures';
import { bareCommitMs, bareRoundTripMs, bareRowsPerSecond } from './floor';
import { MINIMUM_BYTES, seededRandom, TURNS } from './workload';

/* Rows that need a console: each starts its own, over a file of its own. */

async function withConsole<Result>(
  folder: string,
  work: (console: BenchConsole) => Promise<Result>,
): Promise<Result> {
  const console = await startConsole(folder);
  try {
    return await work(console);
  } finally {
    await console.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function runAgent(console: BenchConsole, agent: string, input: unknown): Promise<string> {
  const worker = await startWorker({
    console: console.url,
    agents: [new URL('./agents.mjs', import.meta.url)],
    handleSignals: false,
    // The code that waits for the disk awaits something foreign, and is told so.
    onWarning: () => undefined,
    onPoint: (point) => {
      if (point === 'append:after') appended();
    },
  });
  try {
    const { runId } = await worker.start(agent, { input });
    for (;;) {
      const { status } = await console.getJson<{ status: string }>(`/runs/${runId}`);
      if (status === 'completed') return runId;
      if (status !== 'running' && status !== 'queued') throw new Error(`the run of ${agent} is ${status}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  } finally {
    await worker.stop();
  }
}

/** Bytes of the whole database after VACUUM: journal, rows, payloads, indexes. */
function bytesAfterVacuum(file: string): number {
  const db = new Database(file);
  db.pragma('wal_checkpoint(TRUNCATE)');
  db.exec('vacuum');
  const bytes =
    Number(db.pragma('page_count', { simple: true })) * Number(db.pragma('page_size', { simple: true }));
  db.close();
  return bytes;
}

/** A packed reference in an event's body, as its digest. */
const REF = /"&([\w-]{43})[jtb]/g;
/** A row's header, key and its entry in the index, roughly. */
const EVENT_ROW = 24;
const PAYLOAD_ROW = 80;

/**
 * Bytes a turn that the turns in `[from, to)` added, a checkpoint being the end of each: events, step rows, snapshots,
 * and the payloads that no turn before them had.
 */
function bytesOfTurns(file: string, from: number, to: number): number {
  const db = new Database(file, { readonly: true });
  const column = <Value>(sql: string, ...args: unknown[]) =>
    db
      .prepare(sql)
      .pluck()
      .all(...args) as Value[];
  const ends = column<number>('select seq from "Checkpoint" order by seq');
  const first = ends[from - 1] ?? 0;
  const last = ends[to - 1] ?? 0;
  const bodiesIn = (after: number, upTo: number) =>
    column<string>('select body from "Event" where seq > ? and seq <= ?', after, upTo);
  const digestsIn = (bodies: readonly string[]) =>
    new Set(bodies.flatMap((body) => [...body.matchAll(REF)].map(([, digest]) => digest ?? '')));
  const bodies = bodiesIn(first, last);
  const before = digestsIn(bodiesIn(0, first));
  const sizeOf = db.prepare('select length(body) from "Payload" where sha256 = ?').pluck();
  let bytes = bodies.reduce((sum, body) => sum + Buffer.byteLength(body) + EVENT_ROW, 0);
  for (const digest of digestsIn(bodies)) {
    if (before.has(digest)) continue;
    bytes += Number(sizeOf.get(Buffer.from(digest, 'base64url')) ?? 0) + PAYLOAD_ROW;
  }
  for (const sql of [
    'select length(record) + length(stepKey) * 2 from "Step" where startedSeq > ? and startedSeq <= ?',
    'select length(state) from "Snapshot" where seq > ? and seq <= ?',
  ])
    bytes += column<number>(sql, first, last).reduce((sum, size) => sum + size, 0);
  db.close();
  return bytes / (to - from);
}

/** Turns whose growth is compared: so many after the first, and the last ones. */
const COMPARED = 12;

async function conversationOf(folder: string, agent: string, name: string): Promise<readonly Figure[]> {
  const dbFolder = join(folder, name);
  const console = await startConsole(dbFolder);
  await runAgent(console, agent, {});
  await console.stop();
  const bytes = bytesAfterVacuum(console.dbFile);
  const early = bytesOfTurns(console.dbFile, 0, COMPARED);
  const late = bytesOfTurns(console.dbFile, TURNS - COMPARED, TURNS);
  rmSync(dbFolder, { recursive: true, force: true });
  return [
    figure(`${name}.bytes`, bytes, 'B', MINIMUM_BYTES),
    figure(`${name}.growth-per-turn`, late, 'B', early),
  ];
}

/** The conversation through the SDK and HTTP, as messages alone. */
export const conversationRows = (folder: string): Promise<readonly Figure[]> =>
  conversationOf(folder, 'bench-conversation', 'conversation-200');

/** The same as llm steps that each send all of it again. */
export const llmConversationRows = (folder: string): Promise<readonly Figure[]> =>
  conversationOf(folder, 'bench-conversation-llm', 'conversation-200-llm');

const STEPS = 2_000;

/** Steps of the agent, in milliseconds. The first ones pay for the run's beginning. */
async function stepsOf(console: BenchConsole, agent: string): Promise<readonly number[]> {
  await runAgent(console, agent, { steps: 500 });
  takeSamples();
  const runId = await runAgent(console, agent, { steps: STEPS });
  const { counts } = await console.getJson<{ counts: { steps: number } }>(`/runs/${runId}`);
  const samples = takeSamples();
  if (counts.steps !== STEPS || samples.length !== STEPS)
    throw new Error(`${counts.steps} steps were recorded, ${samples.length} were measured`);
  return samples.slice(10);
}

export async function recordedStepRows(folder: string): Promise<readonly Figure[]> {
  const commit = await bareCommitMs(folder);
  const roundTrip = await bareRoundTripMs();
  const floor = commit + roundTrip;
  return withConsole(join(folder, 'steps'), async (console) => {
    const durable = await stepsOf(console, 'bench-steps-durable');
    const seen = await stepsOf(console, 'bench-steps-seen');
    const effect = await stepsOf(console, 'bench-steps-effect');
    const append = await appendTimes(console, 'bench-append', STEPS);
    return [
      figure('recorded-step.p50', percentile(durable, 0.5), 'ms', floor),
      figure('recorded-step.p95', percentile(durable, 0.95), 'ms'),
      figure('recorded-step.code-waits-p50', percentile(seen, 0.5), 'ms', floor),
      figure('recorded-step.effect-p50', percentile(effect, 0.5), 'ms', floor),
      figure('recorded-step.append-alone-p50', percentile(append, 0.5), 'ms', floor),
      figure('recorded-step.floor-commit-p50', commit, 'ms'),
      figure('recorded-step.floor-round-trip-p50', roundTrip, 'ms'),
    ];
  });
}

/** Three checkpoints a visit of 25 events: 700 of them after 234 visits. */
const EVENTS_FOR_700_CHECKPOINTS = 5_850;

async function allCheckpoints(console: BenchConsole, runId: string) {
  const response = await fetch(`${console.url}/api/v1/runs/${runId}/checkpoints?limit=1000`);
  const text = await response.text();
  return {
    bytes: Buffer.byteLength(text),
    items: (JSON.parse(text) as { items: readonly { seq: number }[] }).items,
  };
}

export async function checkpointRows(folder: string): Promise<readonly Figure[]> {
  return withConsole(join(folder, 'checkpoints'), async (console) => {
    await feedRun(console, 'bench', EVENTS_FOR_700_CHECKPOINTS);
    const { bytes, items } = await allCheckpoints(console, 'bench');
    if (items.length < 700) throw new Error(`${items.length} checkpoints, 700 were expected`);
    const list = await timed(50, () => allCheckpoints(console, 'bench'));
    const random = seededRandom(1);
    const state = await timed(300, () => {
      const checkpoint = items[Math.floor(random() * items.length)];
      return console.getJson(`/runs/bench/state?at=${checkpoint?.seq}`);
    });
    return [
      figure('checkpoints-700.list-p50', percentile(list, 0.5), 'ms'),
      figure('checkpoints-700.list-bytes', (bytes / items.length) * 700, 'B'),
      figure('checkpoints-700.state-p50', percentile(state, 0.5), 'ms'),
    ];
  });
}

const stateTimes = async (console: BenchConsole, runId: string, head: number) => {
  const random = seededRandom(2);
  return timed(300, () => console.getJson(`/runs/${runId}/state?at=${1 + Math.floor(random() * head)}`));
};

export async function stateRows(folder: string): Promise<readonly Figure[]> {
  return withConsole(join(folder, 'state'), async (console) => {
    const small = await feedRun(console, 'small', 10_000);
    const p95Small = percentile(await stateTimes(console, 'small', small), 0.95);
    const large = await feedRun(console, 'large', 1_000_000);
    const p95Large = percentile(await stateTimes(console, 'large', large), 0.95);
    return [
      figure('state-at.10000-events-p95', p95Small, 'ms'),
      figure('state-at.1000000-events-p95', p95Large, 'ms', p95Small),
    ];
  });
}

const UPLOAD_EVENTS = 100_000;

export async function uploadRows(folder: string): Promise<readonly Figure[]> {
  const exported = await withConsole(join(folder, 'exporter'), async (console) => {
    await feedRun(console, 'bench', UPLOAD_EVENTS);
    return new Uint8Array(await (await fetch(`${console.url}/api/v1/runs/bench/export`)).arrayBuffer());
  });
  const bare = bareRowsPerSecond(folder);
  return withConsole(join(folder, 'upload'), async (console) => {
    const began = performance.now();
    const answer = (await console.send('POST', '/traces', exported)) as {
      readonly runs: readonly { readonly events: number }[];
    };
    const seconds = (performance.now() - began) / 1_000;
    const events = answer.runs.reduce((sum, run) => sum + run.events, 0);
    return [figure('upload.native-rows', events / seconds, 'rows/s', bare)];
  });
}
