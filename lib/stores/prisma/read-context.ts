import type { EpochMs, RunId, Sha256, StepKey } from '@/lib/core/events/ids';
import { epochMs, runId, sha256 } from '@/lib/core/events/ids';
import { misreferred, type PayloadRef } from '@/lib/core/events/payload';
import type { RunEvent } from '@/lib/core/events/run-event';
import type { EffectRecord, StepRecord } from '@/lib/core/projections/records';
import { emptyState, FOLD_VERSION, foldRun } from '@/lib/core/projections/run-state';
import { assertDefined } from '@/lib/core/shared/assert';
import type { AnswerRecord, Assembly, BatchRecord, WriteAsk, WriteContext } from '@/lib/usecases/ports';
import { byConsole } from './event-codes';
import { fromColumn, toColumn } from './packed';
import {
  batchFromRow,
  bytesFrom,
  eventFromRow,
  eventSelect,
  type RunRow,
  recordFrom,
  runFromRow,
  runSelect,
  stepFromRow,
} from './rows';
import { column, type Dialect, type Sql, type SqlRow } from './sql';
import { fromStored, plainCodec } from './stored-body';

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
    // The ledger's version rises with every row: a lineage without one has none.
    effects:
      ask.effectKeys === undefined || known.ledgerVersion === 0
        ? []
        : await readEffects(sql, root, ask.effectKeys),
    steps: row === undefined ? [] : await readSteps(sql, row.key, ask.stepKeys ?? []),
    batch: await readBatch(sql, row, ask.batch),
    answer: ask.answerKey === undefined ? undefined : await readAnswer(sql, ask.answerKey),
    others: await readOthers(sql, ask.runId, row, ask.othersAfter),
    ...(await readReferences(sql, ask.payloads ?? [])),
    also: new Map([...known.also].map(([id, { record }]) => [id, record])),
    assembly: ask.assembly === true ? await readAssemblies(sql, [row, ...known.also.values()]) : new Map(),
  };
}

async function readAssemblies(
  sql: Sql,
  rows: readonly (RunRow | undefined)[],
): Promise<ReadonlyMap<RunId, Assembly>> {
  const found = new Map<RunId, Assembly>();
  for (const row of rows) {
    if (row === undefined) continue;
    const { runId: id } = row.record;
    if (!found.has(id)) found.set(id, await readAssembly(sql, id));
  }
  return found;
}

export async function readAssembly(sql: Sql, id: RunId): Promise<Assembly> {
  const [counted] = await sql.query(
    'SELECT (SELECT COUNT(*) FROM "Part" p JOIN "Run" r ON p."run" = r."key" WHERE r."runId" = ?),' +
      ' (SELECT COUNT(*) FROM "Run" WHERE "parentId" = ?),' +
      ' COALESCE((SELECT l."version" FROM "Ledger" l JOIN "Run" r ON l."root" = r."root" WHERE r."runId" = ?), 0)',
    [toColumn(id), toColumn(id), toColumn(id)],
  );
  const [parts, children, version] = assertDefined(counted, 'counts are one row');
  return { parts: Number(parts), children: Number(children), ledgerVersion: Number(version) };
}

export async function readRun(sql: Sql, id: RunId): Promise<RunRow | undefined> {
  const [row] = await sql.query(`${runSelect} WHERE r."runId" = ?`, [toColumn(id)]);
  return row === undefined ? undefined : asFoldedNow(sql, runFromRow(row));
}

/** Runs with their states as `asFoldedNow` has them; one after another, since a journal to be folded is large. */
export async function runsFromRows(sql: Sql, rows: readonly SqlRow[]): Promise<readonly RunRow[]> {
  const runs: RunRow[] = [];
  for (const row of rows) runs.push(await asFoldedNow(sql, runFromRow(row)));
  return runs;
}

/**
 * The run with the state that this release folds its journal to, where an older one had stored another (promise 8). The
 * next write of the run stores it.
 */
async function asFoldedNow(sql: Sql, found: RunRow): Promise<RunRow> {
  const { record, key } = found;
  if (record.state.fold === FOLD_VERSION) return found;
  const rows = await sql.query(`${eventSelect} WHERE e."run" = ? ORDER BY e."seq"`, [key]);
  const events = rows.map((row) => eventFromRow(record.runId, row));
  const state = foldRun(events, emptyState(record.state.agent));
  return { ...found, record: { ...record, state }, foldedAnew: true };
}

export async function readLedgerVersion(sql: Sql, root: RunId): Promise<number> {
  const [row] = await sql.query('SELECT "version" FROM "Ledger" WHERE "root" = ?', [toColumn(root)]);
  return Number(row?.[0] ?? 0);
}

export const effectOrder = ({ bytewise }: Dialect): string =>
  `ORDER BY "intentSeq", "stepKey"${bytewise}, "generation"`;

export async function readEffects(
  sql: Sql,
  root: RunId,
  keys: NonNullable<AnyAsk['effectKeys']>,
): Promise<readonly EffectRecord[]> {
  if (keys !== 'all' && keys.length === 0) return [];
  const select = 'SELECT "record" FROM "Effect" WHERE "root" = ?';
  const order = ` ${effectOrder(sql.dialect)}`;
  const asked = keys === 'all' ? undefined : among(sql, keys);
  const found =
    asked === undefined
      ? await sql.query(select + order, [toColumn(root)])
      : await sql.query(`${select} AND "stepKey" ${asked.text}${order}`, [toColumn(root), ...asked.args]);
  return found.map(([record]) => recordFrom<EffectRecord>(record));
}

/** So many keys are bound one by one: what unpacks JSON costs more to begin than a few look-ups. */
const FEW = 4;

/** `IN (…)` for step keys. */
function among(sql: Sql, keys: readonly StepKey[]) {
  const texts = keys.map(toColumn);
  return texts.length <= FEW
    ? { text: `IN (${texts.map(() => '?').join(', ')})`, args: texts }
    : {
        text: `IN (SELECT v.value->>0 FROM ${sql.dialect.rows})`,
        args: [JSON.stringify(texts.map((text) => [text]))],
      };
}

async function readSteps(
  sql: Sql,
  run: number,
  keys: NonNullable<AnyAsk['stepKeys']>,
): Promise<readonly StepRecord[]> {
  if (keys.length === 0) return [];
  const asked = among(sql, keys);
  const found = await sql.query(
    `SELECT "line", "stepKey", "startedSeq", "record" FROM "Step" WHERE "run" = ? AND "stepKey" ${asked.text}`,
    [run, ...asked.args],
  );
  return found.map(stepFromRow);
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

/** A body is read only where its row does not tell the length, or has another codec than the reference. */
async function readReferences(
  sql: Sql,
  refs: readonly PayloadRef[],
): Promise<Pick<WriteContext, 'missingPayloads' | 'badReferences'>> {
  if (refs.length === 0) return { missingPayloads: [], badReferences: [] };
  const { rows, unhex } = sql.dialect;
  const found = await sql.query(
    `SELECT ${column(1, 'INTEGER')}, p."codec", LENGTH(p."body"), b."body"` +
      ` FROM ${rows} LEFT JOIN "Payload" p ON p."sha256" = ${unhex('v.value->>0')}` +
      ` LEFT JOIN "Payload" b ON b."sha256" = p."sha256" AND b."codec" <> ${column(2, 'INTEGER')}`,
    [JSON.stringify(refs.map(({ sha256, codec }, i) => [sha256, i, plainCodec(codec)]))],
  );
  const missing = new Set<Sha256>();
  const bad: string[] = [];
  for (const [i, codec, length, body] of found) {
    const ref = assertDefined(refs[Number(i)], 'a row is of a reference that was asked for');
    if (codec === null) {
      missing.add(ref.sha256);
      continue;
    }
    const stored =
      body === null
        ? { bytes: Number(length), codec: ref.codec, body: new Uint8Array() }
        : fromStored({ codec: Number(codec), body: bytesFrom(body) });
    const wrong = misreferred(ref, { sha256: ref.sha256, ...stored });
    if (wrong !== undefined) bad.push(wrong);
  }
  return { missingPayloads: [...missing], badReferences: bad };
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
