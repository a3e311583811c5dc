import type { Sha256 } from '@/lib/core/events/ids';
import type { Payload } from '@/lib/core/events/payload';
import type { RunEvent } from '@/lib/core/events/run-event';
import type { Change } from '@/lib/usecases/ports';
import type { Writer } from './catalogue';
import { digestsIn } from './payload-refs';
import { eventFromRow, eventSelect } from './rows';
import type { Sql } from './sql';
import {
  clearStaged,
  reserveRun,
  settlePayloads,
  stageCheckpoints,
  stagedKeys,
  stageParts,
  stageRows,
  unmarkStaged,
} from './write-rows';

/*
 * A large change of a new run is written in parts, each a transaction of its own between everybody else's, under a
 * number that no run has yet; the run's own row, in the last one, makes it visible whole. Payloads are loose until then.
 */

/** A change of more events is written in parts. */
const LARGE = 2_000;
const ROWS_AT_ONCE = 1_000;
const SNAPSHOTS_AT_ONCE = 50;
const PARTS_AT_ONCE = 500;
const BYTES_AT_ONCE = 2_097_152;

export const isLarge = (change: Change): boolean => change.events.length > LARGE;

export interface Stage {
  readonly write: Writer;
  readonly put: (payloads: readonly Payload[]) => Promise<void>;
  readonly now: () => Parameters<typeof reserveRun>[2];
}

/** Writes everything of a new run but its own row and its lineage's ledger. Returns its number. */
export async function stage(change: Change, { write, put, now }: Stage): Promise<number> {
  let key = 0;
  await write(async (sql) => {
    key = await reserveRun(sql, change, now());
  });
  for (const payloads of payloadParts(change.payloads)) await put(payloads);
  const { events } = change;
  for (const part of parts(events, ROWS_AT_ONCE)) await write((sql) => stageRows(sql, key, { events: part }));
  for (const steps of parts(change.steps, ROWS_AT_ONCE)) await write((sql) => stageRows(sql, key, { steps }));
  for (const questions of parts(change.questions, ROWS_AT_ONCE))
    await write((sql) => stageRows(sql, key, { questions }));
  for (const checkpoints of parts(change.checkpoints, ROWS_AT_ONCE))
    await write((sql) => stageCheckpoints(sql, key, checkpoints, events));
  for (const some of parts(change.parts ?? [], PARTS_AT_ONCE))
    await write((sql) => stageParts(sql, key, some));
  for (const snapshots of parts(change.snapshots, SNAPSHOTS_AT_ONCE))
    await write((sql) => stageRows(sql, key, { snapshots }));
  return key;
}

/**
 * After the last part: the payloads are in use, as `settled` hears too. Until this is done, what opens the file again
 * does it.
 */
export async function settle(
  key: number,
  events: readonly RunEvent[],
  write: Writer,
  settled: (digests: readonly Sha256[]) => void = () => undefined,
): Promise<void> {
  const before = new Set<Sha256>();
  for (const part of parts(events, ROWS_AT_ONCE)) {
    const digests = [...digestsIn(part)].filter((digest) => !before.has(digest));
    for (const digest of digests) before.add(digest);
    if (digests.length > 0) await write((sql) => settlePayloads(sql, digests));
    settled(digests);
  }
  await write(async (sql) => {
    await unmarkStaged(sql, key);
  });
}

/** Clears away what was staged and is not wanted any more. */
export async function abandon(key: number, write: Writer): Promise<void> {
  for (let more = true; more; ) {
    await write(async (sql) => {
      more = await clearStaged(sql, key, ROWS_AT_ONCE);
    });
  }
  await write(async (sql) => {
    await unmarkStaged(sql, key);
  });
}

/** Finishes or clears away what a process that died was staging. Nobody else has the file yet. */
export async function recoverStaged(sql: Sql): Promise<void> {
  const write: Writer = async (statements) => {
    await sql.execute('BEGIN IMMEDIATE');
    await statements(sql);
    await sql.execute('COMMIT');
  };
  for (const key of await stagedKeys(sql)) {
    const [run] = await sql.query('SELECT 1 FROM "Run" WHERE "key" = ?', [key]);
    if (run === undefined) await abandon(key, write);
    else await settle(key, await eventsOf(sql, key), write);
  }
}

async function eventsOf(sql: Sql, key: number): Promise<readonly RunEvent[]> {
  const rows = await sql.query(`${eventSelect} WHERE e."run" = ?`, [key]);
  // Whose events they are does not matter here: only what they refer to.
  return rows.map((row) => eventFromRow('' as RunEvent['runId'], row));
}

function* parts<Item>(items: readonly Item[], size: number): Generator<readonly Item[]> {
  for (let at = 0; at < items.length; at += size) yield items.slice(at, at + size);
}

function* payloadParts(payloads: readonly Payload[]): Generator<readonly Payload[]> {
  let some: Payload[] = [];
  let bytes = 0;
  for (const payload of payloads) {
    some.push(payload);
    bytes += payload.bytes;
    if (some.length < ROWS_AT_ONCE && bytes < BYTES_AT_ONCE) continue;
    yield some;
    some = [];
    bytes = 0;
  }
  if (some.length > 0) yield some;
}
