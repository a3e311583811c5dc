import { copyFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { seq } from '@/lib/core/events/ids';
import { payloadRefsOf } from '@/lib/core/events/payload-refs';
import type { RunEvent } from '@/lib/core/events/run-event';
import { extend } from '@/lib/core/journal/extend';
import { newRun } from '@/lib/core/journal/new-run';
import type { EffectRecord, RunRecord } from '@/lib/core/projections/records';
import { foldRun } from '@/lib/core/projections/run-state';
import { canonicalJson, type Json } from '@/lib/core/shared/canonical-json';
import { openSqliteStore } from '@/lib/stores/prisma/sqlite-store';
import type { RunCursor, Store } from '@/lib/usecases/ports';
import { scratchFolder } from './scratch';

const repository = fileURLToPath(new URL('../../../', import.meta.url));

/** The file that a killed console left, as the next one would find it: a copy, so that the file itself stays as it is. */
export async function leftBehind<Value>(
  file: string,
  read: (left: {
    readonly store: Store;
    readonly runs: readonly RunRecord[];
    readonly gaps: readonly string[];
  }) => Promise<Value>,
): Promise<Value> {
  const folder = await scratchFolder('copy');
  try {
    const copy = join(folder, 'copy.db');
    await copyFile(file, copy);
    // The part of the database that is not yet in its main file; nobody moves it, since the console is dead.
    await copyFile(`${file}-wal`, `${copy}-wal`).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
    const gaps = gapsIn(copy);
    const store = await openSqliteStore({ file: copy, root: repository });
    try {
      return await read({ store, runs: await allRuns(store), gaps });
    } finally {
      await store.close();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Runs whose head is not the number of their events, counted by SQL of its own. */
function gapsIn(file: string): readonly string[] {
  const db = new Database(file);
  try {
    const rows = db
      .prepare(
        `SELECT r."runId" AS id, r."headSeq" AS head, count(e."seq") AS n, coalesce(max(e."seq"), 0) AS last
         FROM "Run" r LEFT JOIN "Event" e ON e."run" = r."key" GROUP BY r."key"`,
      )
      .all() as { readonly id: string; readonly head: number; readonly n: number; readonly last: number }[];
    return rows.flatMap(({ id, head, n, last }) =>
      head === n && head === last ? [] : [`${id}: head ${head}, ${n} events, last ${last}`],
    );
  } finally {
    db.close();
  }
}

async function allRuns(store: Store): Promise<readonly RunRecord[]> {
  const runs: RunRecord[] = [];
  let cursor: RunCursor | undefined;
  do {
    const page = await store.runs({
      filter: {},
      sort: 'created',
      descending: false,
      limit: 500,
      ...(cursor === undefined ? {} : { cursor }),
    });
    runs.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return runs;
}

/** A run's whole journal. */
export const journalIn = (store: Store, run: RunRecord): Promise<readonly RunEvent[]> =>
  store.events(run.runId, { limit: run.headSeq + 1 });

/**
 * Everything in the file of a killed console that is not whole: a gap in a journal, a row that is not what folding the
 * journal gives, a payload that is referred to and not there. Empty where nothing half-written is visible.
 */
export const foldBroken = (file: string): Promise<readonly string[]> =>
  leftBehind(file, async ({ store, runs, gaps }) => {
    const broken = [...gaps];
    for (const run of runs)
      broken.push(...(await runBroken(store, run)).map((what) => `${run.runId}: ${what}`));
    return broken;
  });

async function runBroken(store: Store, run: RunRecord): Promise<readonly string[]> {
  const events = await journalIn(store, run);
  const broken = events.flatMap((event, at) =>
    event.seq === at + 1 ? [] : [`seq ${event.seq} in place ${at + 1}`],
  );
  if (run.headSeq !== events.length) broken.push(`head ${run.headSeq}, ${events.length} events`);
  const ledger = await store.effects(run.root);
  const folded = foldRows(run, events, ledger);
  const compare = (what: string, stored: unknown, wanted: unknown) => {
    const [left, right] = [text(stored), text(wanted)];
    if (left !== right) broken.push(`${what} is not the fold: stored ${left}, folded ${right}`);
  };
  const rows = (items: Iterable<unknown>) => [...items].map((item) => text(item)).sort();
  compare('state', run.state, foldRun(events, begun(run).state));
  compare('state', run.state, folded.run.state);
  compare('steps', rows(await store.steps(run.runId)), rows(folded.steps.values()));
  compare('questions', rows(await store.questions(run.runId)), rows(folded.questions.values()));
  compare('checkpoints', rows(await store.checkpoints(run.runId)), rows(folded.checkpoints.values()));
  compare('ledger', rows(ledger), rows(folded.effects.values()));
  for (let snapshot = await store.snapshot(run.runId, run.headSeq); snapshot !== undefined; ) {
    compare(
      `snapshot ${snapshot.seq} and its tail`,
      foldRun(events.slice(snapshot.seq), snapshot.state),
      run.state,
    );
    snapshot = await store.snapshot(run.runId, seq(snapshot.seq - 1));
  }
  const missing = await store.payloads.missing([
    ...new Set(events.flatMap((event) => payloadRefsOf(event).map((ref) => ref.sha256))),
  ]);
  broken.push(...missing.map((digest) => `payload ${digest} is missing`));
  return broken;
}

const text = (value: unknown): string => canonicalJson(value as Json);

/** The run before its first event; a replay that nobody has claimed has no other word of its agent. */
const begun = (stored: RunRecord): RunRecord => newRun({ ...stored, agent: stored.state.agent });

/** Rows that the journal gives when it is folded from its first event, one at a time; what else the lineage sent stands. */
function foldRows(stored: RunRecord, events: readonly RunEvent[], ledger: readonly EffectRecord[]) {
  const steps = new Map<string, unknown>();
  const effects = new Map<string, EffectRecord>();
  for (const effect of ledger)
    if (effect.runId !== stored.runId) effects.set(`${effect.generation} ${effect.stepKey}`, effect);
  const questions = new Map<string, unknown>();
  const checkpoints = new Map<number, unknown>();
  let run = begun(stored);
  const stateAt = (at: number) => foldRun(events.slice(0, at), begun(stored).state);
  for (const { seq: _seq, runId: _runId, version: _version, ...draft } of events) {
    const { at, epoch, by } = draft;
    const more = extend(run, [...effects.values()], [draft], { at, epoch, by }, { stateAt });
    run = more.run;
    for (const step of more.steps) steps.set(`${step.line} ${step.stepKey}`, step);
    for (const effect of more.effects) effects.set(`${effect.generation} ${effect.stepKey}`, effect);
    for (const question of more.questions) questions.set(`${question.line} ${question.questionId}`, question);
    for (const checkpoint of more.checkpoints) checkpoints.set(checkpoint.seq, checkpoint);
  }
  return { run, steps, effects, questions, checkpoints };
}
