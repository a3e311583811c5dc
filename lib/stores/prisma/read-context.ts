import type { EpochMs, RunId, Sha256 } from '@/lib/core/events/ids';
import { epochMs, runId, sha256 } from '@/lib/core/events/ids';
import type { RunEvent } from '@/lib/core/events/run-event';
import type { EffectRecord } from '@/lib/core/projections/records';
import type { AnswerRecord, BatchRecord, WriteAsk, WriteContext } from '@/lib/usecases/ports';
import { byConsole } from './event-codes';
import { fromColumn, toColumn } from './packed';
import {
  batchFromRow,
  eventFromRow,
  eventSelect,
  type RunRow,
  recordFrom,
  runFromRow,
  runSelect,
} from './rows';
import type { Sql } from './sql';

type AnyAsk = Omit<WriteAsk<unknown, unknown>, 'decide'>;

/** What `decide` sees, read on a connection that nothing else writes to for the lineage meanwhile. */
export async function readContext(
  sql: Sql,
  ask: AnyAsk,
  known: {
    readonly row: RunRow | undefined;
    readonly root: RunId;
    readonly ledgerVersion: number;
    readonly now: EpochMs;
    readonly also: ReadonlyMap<RunId, RunRow>;
  },
): Promise<WriteContext> {
  const { row, root } = known;
  return {
    now: known.now,
    run: row?.record,
    ledgerVersion: known.ledgerVersion,
    effects: ask.effectKeys === undefined ? [] : await readEffects(sql, root, ask.effectKeys),
    batch: await readBatch(sql, row, ask.batch),
    answer: ask.answerKey === undefined ? undefined : await readAnswer(sql, ask.answerKey),
    others: await readOthers(sql, ask.runId, row, ask.othersAfter),
    missingPayloads: await readMissing(sql, ask.payloads ?? []),
    also: new Map([...known.also].map(([id, { record }]) => [id, record])),
  };
}

export async function readRun(sql: Sql, id: RunId): Promise<RunRow | undefined> {
  const [row] = await sql.query(`${runSelect} WHERE r."runId" = ?`, [toColumn(id)]);
  return row === undefined ? undefined : runFromRow(row);
}

export async function readLedgerVersion(sql: Sql, root: RunId): Promise<number> {
  const [row] = await sql.query('SELECT "version" FROM "Ledger" WHERE "root" = ?', [toColumn(root)]);
  return Number(row?.[0] ?? 0);
}

export async function readEffects(
  sql: Sql,
  root: RunId,
  keys: NonNullable<AnyAsk['effectKeys']>,
): Promise<readonly EffectRecord[]> {
  const { rows, bytewise } = sql.dialect;
  const select = 'SELECT "record" FROM "Effect" WHERE "root" = ?';
  const order = ` ORDER BY "intentSeq", "stepKey"${bytewise}, "generation"`;
  const found =
    keys === 'all'
      ? await sql.query(select + order, [toColumn(root)])
      : keys.length === 0
        ? []
        : await sql.query(`${select} AND "stepKey" IN (SELECT v.value->>0 FROM ${rows})${order}`, [
            toColumn(root),
            JSON.stringify(keys.map((key) => [toColumn(key)])),
          ]);
  return found.map(([record]) => recordFrom<EffectRecord>(record));
}

async function readBatch(
  sql: Sql,
  row: RunRow | undefined,
  asked: AnyAsk['batch'],
): Promise<BatchRecord | undefined> {
  if (asked === undefined || row === undefined) return undefined;
  const { epoch, lastBatch } = row.record;
  if (asked.epoch > epoch || (asked.epoch === epoch && asked.batch > lastBatch)) return undefined;
  const [found] = await sql.query(
    'SELECT "epoch", "batch", "digest", "firstSeq", "headSeq", "seenSeq" FROM "Batch" WHERE "run" = ? AND "epoch" = ? AND "batch" = ?',
    [row.key, asked.epoch, asked.batch],
  );
  return found === undefined ? undefined : batchFromRow(found);
}

export async function readAnswer(sql: Sql, key: string): Promise<AnswerRecord | undefined> {
  const [found] = await sql.query(
    'SELECT "key", "runId", "requestDigest", "answer", "at" FROM "Answer" WHERE "key" = ?',
    [toColumn(key)],
  );
  if (found === undefined) return undefined;
  const [storedKey, id, requestDigest, answer, at] = found;
  return {
    key: fromColumn(String(storedKey)),
    runId: runId(fromColumn(String(id))),
    requestDigest: sha256(String(requestDigest)),
    answer: fromColumn(String(answer)),
    at: epochMs(Number(at)),
  };
}

async function readOthers(
  sql: Sql,
  id: RunId,
  row: RunRow | undefined,
  after: number | undefined,
): Promise<readonly RunEvent[]> {
  if (row === undefined || after === undefined || after >= row.consoleSeq) return [];
  const found = await sql.query(
    `${eventSelect} WHERE e."run" = ? AND e."seq" > ? AND e."seq" <= ? AND ${byConsole('e."kind"')} ORDER BY e."seq"`,
    [row.key, after, row.consoleSeq],
  );
  return found.map((event) => eventFromRow(id, event));
}

export async function readMissing(sql: Sql, digests: readonly Sha256[]): Promise<readonly Sha256[]> {
  if (digests.length === 0) return [];
  const { rows, unhex } = sql.dialect;
  const found = await sql.query(
    `SELECT v.value->>0 FROM ${rows} WHERE NOT EXISTS (SELECT 1 FROM "Payload" p WHERE p."sha256" = ${unhex('v.value->>0')})`,
    [JSON.stringify([...new Set(digests)].map((digest) => [digest]))],
  );
  return found.map(([digest]) => sha256(String(digest)));
}
