import type { EpochMs, RunId, Sha256 } from '@/lib/core/events/ids';
import type { Payload } from '@/lib/core/events/payload';
import { isWatched } from '@/lib/core/projections/ledger';
import { assertDefined } from '@/lib/core/shared/assert';
import type { AnswerRecord, Change, PartRecord } from '@/lib/usecases/ports';
import { writeAudit } from './audit-rows';
import { digestsInPacked, pack, toColumn } from './packed';
import { digestsIn } from './payload-refs';
import {
  changesSeldom,
  changingColumns,
  changingValues,
  checkpointValues,
  eventValues,
  movingColumns,
  movingValues,
  type RunRow,
  runColumns,
  runColumnTypes,
  runValues,
  stepValues,
  ticketOf,
  type Values,
  wantedColumns,
  wantedValues,
} from './rows';
import { column, type Dialect, type Sql } from './sql';
import { toStored } from './stored-body';

/** One run's change with its row before; absent for a run that has none yet. */
export interface RunWrite {
  readonly change: Change;
  readonly before: RunRow | undefined;
  /** The number that the new run's rows were staged under, see `stageRows`: what is left is the run's own row. */
  readonly staged?: number | undefined;
}

/** What one transaction writes: at most one change for each run. */
export interface Writes {
  readonly at: EpochMs;
  readonly runs: readonly RunWrite[];
  /** Stored without an event that refers to them. */
  readonly loose: readonly Payload[];
  /** False where the payload surely has no row in `Loose`: spares the statement. */
  readonly mayBeLoose: (digest: Sha256) => boolean;
  /** Hears of those that a cut may have left without anything that refers to them; they have a row from then on. */
  readonly loosened?: (digests: readonly Sha256[]) => void;
}

/** Newest seq that the console wrote, after a change; after a cut, none is newer. */
export const newestByConsole = ({ events, cut }: Change, before: number | undefined): number =>
  events.findLast((event) => event.by === 'console')?.seq ??
  Math.min(before ?? 0, cut?.after ?? Number.POSITIVE_INFINITY);

export const changesLedger = ({ effects, cut }: Change): boolean =>
  effects.length > 0 || (cut !== undefined && cut.effects.length > 0);

/**
 * Writes everything with one statement a table, inside the caller's transaction.
 * Returns the number of every run, those of new runs included.
 */
export async function writeRows(sql: Sql, writes: Writes): Promise<ReadonlyMap<RunId, number>> {
  const keys = new Map<RunId, number>();
  const moving: Values[] = [];
  const changing: Values[] = [];
  const waiting: Values[] = [];
  for (const { change, before, staged } of writes.runs) {
    const { run } = change;
    const consoleSeq = newestByConsole(change, before?.consoleSeq);
    if (before === undefined) {
      keys.set(run.runId, await insertRun(sql, runValues(run, consoleSeq), staged));
      continue;
    }
    const { key } = before;
    keys.set(run.runId, key);
    // Who is waited for stays mostly nobody. Not written, its index is not touched, and since when is kept.
    if (before.foldedAnew || ticketOf(before.record) !== ticketOf(run))
      waiting.push([...changingValues(run, consoleSeq), ...wantedValues(run), key]);
    else if (changesSeldom(before.record, run)) changing.push([...changingValues(run, consoleSeq), key]);
    else moving.push([...movingValues(run, consoleSeq), key]);
  }
  const keyed = writes.runs.map(({ change, staged }) => ({
    change: staged === undefined ? change : withoutStaged(change),
    key: assertDefined(keys.get(change.run.runId), 'every written run has a number'),
  }));

  await writePayloads(sql, { ...writes, runs: keyed });
  await updateRuns(sql, updateMoving, moving);
  await updateRuns(sql, updateChanging, changing);
  await updateRuns(sql, updateWaiting, waiting);
  for (const one of keyed) await cutRows(sql, one, writes);
  await putRows(sql, keyed);
  for (const { change, key } of keyed) await insertParts(sql, key, change.parts ?? []);
  await put(
    sql,
    upsertEffects,
    rowsOf(keyed, ({ change }) =>
      change.effects.map((effect) => [
        toColumn(effect.root),
        toColumn(effect.stepKey),
        effect.generation,
        effect.intentSeq,
        isWatched(effect) ? toColumn(effect.runId) : null,
        pack(effect),
      ]),
    ),
    3,
  );
  await put(
    sql,
    raiseLedgers,
    rowsOf(keyed, ({ change }) => (changesLedger(change) ? [[toColumn(change.run.root), 1]] : [])),
    1,
  );
  await put(
    sql,
    insertBatches,
    rowsOf(keyed, ({ change: { batch }, key }) =>
      batch === undefined
        ? []
        : [[key, batch.epoch, batch.batch, batch.digest, batch.firstSeq, batch.headSeq, batch.seenSeq]],
    ),
  );
  await put(
    sql,
    upsertAnswers,
    rowsOf(keyed, ({ change }) => (change.answers ?? []).map(answerValues)),
    1,
  );
  await writeAudit(
    sql,
    keyed.map(({ change }) => change),
  );
  return keys;
}

/** What a cut takes away, so that what follows stands in its place. */
async function cutRows(
  sql: Sql,
  { change: { run, cut }, key }: Keyed<Change>,
  { at, runs, loosened }: Writes,
): Promise<void> {
  if (cut === undefined) return;
  const gone = await digestsAfter(sql, key, cut.after);
  for (const { change } of runs) for (const used of digestsIn(change.events)) gone.delete(used);
  if (gone.size > 0) {
    await sql.execute(markCut(sql), [JSON.stringify([...gone].sort().map((digest) => [digest, at]))]);
    loosened?.([...gone]);
  }
  for (const [table, order] of CUT_TABLES) {
    await sql.execute(`DELETE FROM "${table}" WHERE "run" = ? AND "${order}" > ?`, [key, cut.after]);
    await othersFirst();
  }
  for (const { stepKey, generation } of cut.effects)
    await sql.execute('DELETE FROM "Effect" WHERE "root" = ? AND "stepKey" = ? AND "generation" = ?', [
      toColumn(run.root),
      toColumn(stepKey),
      generation,
    ]);
}

/** Of all that events after the seq refer to, and perhaps more. */
async function digestsAfter(sql: Sql, key: number, after: number): Promise<Set<Sha256>> {
  const found = new Set<Sha256>();
  for (let at = after; ; ) {
    const page = await sql.query(
      `SELECT "seq", "body" FROM "Event" WHERE "run" = ? AND "seq" > ? ORDER BY "seq" LIMIT ${MAX_STATEMENT_ROWS}`,
      [key, at],
    );
    for (const [, body] of page) for (const digest of digestsInPacked(String(body))) found.add(digest);
    const last = page.at(-1);
    if (last === undefined || page.length < MAX_STATEMENT_ROWS) return found;
    at = Number(last[0]);
    await othersFirst();
  }
}

const CUT_TABLES = [
  ['Event', 'seq'],
  ['Step', 'startedSeq'],
  ['Question', 'askedSeq'],
  ['Checkpoint', 'seq'],
  ['Snapshot', 'seq'],
] as const;

type Rows = Pick<Change, 'events' | 'steps' | 'questions' | 'checkpoints' | 'snapshots'>;
interface Keyed<Of> {
  readonly change: Of;
  readonly key: number;
}

/** Rows that belong to a run by its number. */
async function putRows(sql: Sql, keyed: readonly Keyed<Rows>[]): Promise<void> {
  await put(
    sql,
    insertEvents,
    rowsOf(keyed, ({ change, key }) => lazily(change.events, (event) => eventValues(key, event))),
  );
  await put(
    sql,
    upsertSteps,
    rowsOf(keyed, ({ change, key }) => lazily(change.steps, (step) => stepValues(key, step))),
    3,
  );
  await put(
    sql,
    upsertQuestions,
    rowsOf(keyed, ({ change, key }) =>
      lazily(change.questions, (question) => [
        key,
        question.line,
        toColumn(question.questionId),
        question.askedSeq,
        pack(question),
      ]),
    ),
    3,
  );
  await put(
    sql,
    upsertCheckpoints,
    rowsOf(keyed, ({ change, key }) =>
      lazily(change.checkpoints, (checkpoint) => checkpointValues(key, checkpoint, change.events)),
    ),
    2,
  );
  await put(
    sql,
    upsertSnapshots,
    rowsOf(keyed, ({ change, key }) =>
      lazily(change.snapshots, (snapshot) => [key, snapshot.seq, snapshot.line, pack(snapshot.state)]),
    ),
    2,
  );
}

function* rowsOf<Of>(
  keyed: readonly Keyed<Of>[],
  values: (one: Keyed<Of>) => Iterable<Values>,
): Generator<Values> {
  for (const one of keyed) yield* values(one);
}

function* lazily<Item>(items: readonly Item[], values: (item: Item) => Values): Generator<Values> {
  for (const item of items) yield values(item);
}

const withoutStaged = (change: Change): Change => ({
  ...change,
  events: [],
  payloads: [],
  parts: [],
  steps: [],
  questions: [],
  checkpoints: [],
  snapshots: [],
});

/**
 * Takes a number for a run that is not there yet. Rows under it are found by nobody, since every read goes by the run's
 * own row. The mark says what to clear away, or to finish, where the process dies meanwhile.
 */
export async function reserveRun(sql: Sql, { run }: Change, at: EpochMs): Promise<number> {
  const key = await insertRun(sql, runValues(run, 0));
  await sql.execute('DELETE FROM "Run" WHERE "key" = ?', [key]);
  await sql.execute(upsertAnswers.few(sql.dialect, 1), [stagingMark(key), toColumn(run.runId), '', '', at]);
  return key;
}

/** Some parts of a run under its reserved number. */
export const stageParts = (sql: Sql, key: number, parts: readonly PartRecord[]): Promise<void> =>
  insertParts(sql, key, parts);

/** Some rows of a run under its reserved number. */
export const stageRows = (sql: Sql, key: number, rows: Partial<Omit<Rows, 'checkpoints'>>): Promise<void> =>
  putRows(sql, [
    { key, change: { events: [], steps: [], questions: [], checkpoints: [], snapshots: [], ...rows } },
  ]);

/** The same for checkpoints; `events` are all of the change. */
export const stageCheckpoints = (
  sql: Sql,
  key: number,
  checkpoints: Change['checkpoints'],
  events: Change['events'],
): Promise<void> =>
  put(
    sql,
    upsertCheckpoints,
    lazily(checkpoints, (checkpoint) => checkpointValues(key, checkpoint, events)),
    2,
  );

const STAGING = 'staging ';
const stagingMark = (key: number): string => `${STAGING}${key}`;

/** Numbers under which something is or was staged. */
export async function stagedKeys(sql: Sql): Promise<readonly number[]> {
  const rows = await sql.query('SELECT "key" FROM "Answer" WHERE "key" > ? AND "key" < ?', [
    STAGING,
    'staging!',
  ]);
  return rows.map(([mark]) => Number(String(mark).slice(STAGING.length)));
}

export const unmarkStaged = (sql: Sql, key: number): Promise<number> =>
  sql.execute('DELETE FROM "Answer" WHERE "key" = ?', [stagingMark(key)]);

/** Deletes some of what is staged under the number; false once nothing is left. Its payloads are loose and get swept. */
export async function clearStaged(sql: Sql, key: number, most: number): Promise<boolean> {
  for (const [table, order] of STAGED_TABLES) {
    const gone = await sql.execute(
      `DELETE FROM "${table}" WHERE "run" = ? AND "${order}" IN (SELECT "${order}" FROM "${table}" WHERE "run" = ? LIMIT ?)`,
      [key, key, most],
    );
    if (gone > 0) return true;
  }
  return false;
}

const STAGED_TABLES = [
  ['Event', 'seq'],
  ['Step', 'stepKey'],
  ['Question', 'questionId'],
  ['Checkpoint', 'seq'],
  ['Snapshot', 'seq'],
  ['Part', 'name'],
] as const;

/** The payloads are referred to by what everybody sees now. */
export async function settlePayloads(sql: Sql, digests: readonly Sha256[]): Promise<void> {
  if (digests.length > 0)
    await sql.execute(unmarkLoose(sql), [JSON.stringify(digests.map((digest) => [digest]))]);
}

/** So many rows are bound one by one: cheaper than JSON for a few, whose statement would be longer than their values. */
const FEW = 4;

/** `unique`: rows that share their first so many values are one row, the newest counts. */
async function put(sql: Sql, insert: Insert, rows: Iterable<Values>, unique?: number): Promise<void> {
  let some: Values[] = [];
  const flush = async (): Promise<void> => {
    const distinct = unique === undefined ? some : last(some, unique);
    some = [];
    const { boundRows } = sql.dialect;
    let at = 0;
    for (; boundRows > 0 && distinct.length - at >= boundRows; at += boundRows)
      await sql.execute(insert.few(sql.dialect, boundRows), flat(distinct.slice(at, at + boundRows)));
    const rest = distinct.slice(at);
    if (rest.length === 0) return;
    if (rest.length <= FEW) await sql.execute(insert.few(sql.dialect, rest.length), flat(rest));
    else
      for (const group of groups(rest, textLength))
        await sql.execute(insert.many(sql.dialect), [JSON.stringify(group)]);
  };
  for (const row of rows) {
    some.push(row);
    if (some.length < MAX_STATEMENT_ROWS) continue;
    await flush();
    await othersFirst();
  }
  await flush();
}

/** `Array.flat` takes as long as the statement. */
function flat(rows: readonly Values[]): Values {
  const values: (string | number | null)[] = [];
  for (const row of rows) for (const value of row) values.push(value);
  return values;
}

/** A long write lets the event loop turn between its statements. */
const othersFirst = () => new Promise<void>((resolve) => setImmediate(resolve));

const textLength = (row: Values): number =>
  row.reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 8), 0);

/** What one statement carries: an import is one commit, however long, and no text can be longer than 512 MB. */
const MAX_STATEMENT_ROWS = 1_000;
const MAX_STATEMENT_BYTES = 16_777_216;

/** Consecutive items that stay below the limits together; one that is larger stands alone. */
function groups<Item>(items: readonly Item[], size: (item: Item) => number): readonly (readonly Item[])[] {
  const found: Item[][] = [];
  let room = 0;
  for (const item of items) {
    const bytes = size(item);
    const group = found.at(-1);
    if (group === undefined || bytes > room || group.length === MAX_STATEMENT_ROWS) {
      found.push([item]);
      room = MAX_STATEMENT_BYTES - bytes;
    } else {
      group.push(item);
      room -= bytes;
    }
  }
  return found;
}

/** The newest of the rows that share their first `width` values: one statement must not write a row twice. */
function last(rows: readonly Values[], width: number): readonly Values[] {
  if (rows.length < 2) return rows;
  return [...new Map(rows.map((row) => [JSON.stringify(row.slice(0, width)), row])).values()];
}

const answerValues = (answer: AnswerRecord): Values => [
  toColumn(answer.key),
  toColumn(answer.runId),
  answer.requestDigest,
  toColumn(answer.answer),
  answer.at,
];

const quoted = (names: readonly string[]) => names.map((name) => `"${name}"`).join(', ');

/** `key`: a reserved number to use. */
async function insertRun(sql: Sql, values: Values, key?: number): Promise<number> {
  const names = key === undefined ? runColumns : ['key', ...runColumns];
  const rows = await sql.query(
    `INSERT INTO "Run" (${quoted(names)}) VALUES (${names.map(() => '?').join(', ')}) RETURNING "key"`,
    key === undefined ? values : [key, ...values],
  );
  return Number(assertDefined(rows[0], 'an inserted run has a number')[0]);
}

type RunColumns = readonly (typeof runColumns)[number][];

interface Update {
  readonly one: string;
  readonly many: (dialect: Dialect) => string;
}

/** Sets these columns of runs by their numbers, which come last. */
const updateOf = (columns: RunColumns): Update => ({
  one: `UPDATE "Run" SET ${columns.map((name) => `"${name}" = ?`).join(', ')} WHERE "key" = ?`,
  many: ({ rows }) =>
    `UPDATE "Run" SET ${columns.map((name, i) => `"${name}" = ${column(i, runColumnTypes[name])}`).join(', ')}` +
    ` FROM ${rows} WHERE "Run"."key" = ${column(columns.length, 'INTEGER')}`,
});
const updateMoving = updateOf(movingColumns);
const updateChanging = updateOf(changingColumns);
const updateWaiting = updateOf([...changingColumns, ...wantedColumns]);

async function updateRuns(sql: Sql, update: Update, rows: readonly Values[]): Promise<void> {
  if (rows.length > FEW) await sql.execute(update.many(sql.dialect), [JSON.stringify(rows)]);
  else for (const row of rows) await sql.execute(update.one, row);
}

type ColumnType = 'INTEGER' | 'BIGINT' | 'TEXT' | 'DIGEST';

interface Insert {
  readonly few: (dialect: Dialect, rows: number) => string;
  readonly many: (dialect: Dialect) => string;
}

/** Rows of these columns in this order; a digest is given in hexadecimal. Few rows are bound, many come as one JSON text. */
function insertInto(table: string, columns: Readonly<Record<string, ColumnType>>, onConflict = ''): Insert {
  const into = `INSERT INTO "${table}" (${quoted(Object.keys(columns))})`;
  const types = Object.values(columns);
  return {
    few: eachOnce((dialect, rows) => {
      const marks = types.map((type) => (type === 'DIGEST' ? dialect.unhex('?') : '?')).join(', ');
      return `${into} VALUES ${Array.from({ length: rows }, () => `(${marks})`).join(', ')} ${onConflict}`;
    }),
    many: (dialect) => {
      const values = types.map((type, i) =>
        type === 'DIGEST' ? dialect.unhex(`v.value->>${i}`) : column(i, type),
      );
      // `WHERE true` because SQLite would read ON CONFLICT as a join's ON.
      return `${into} SELECT ${values.join(', ')} FROM ${dialect.rows} WHERE true ${onConflict}`;
    },
  };
}

/** The same text for the same number of rows: what keeps compiled statements finds them by it. */
function eachOnce(text: (dialect: Dialect, rows: number) => string): Insert['few'] {
  const texts = { sqlite: [] as string[], postgres: [] as string[] };
  return (dialect, rows) => {
    const known = texts[dialect.name];
    known[rows] ??= text(dialect, rows);
    return known[rows];
  };
}

const replacing = (key: string, ...columns: readonly string[]) =>
  `ON CONFLICT (${key}) DO UPDATE SET ${columns.map((name) => `"${name}" = excluded."${name}"`).join(', ')}`;

const insertEvents = insertInto('Event', {
  run: 'INTEGER',
  seq: 'INTEGER',
  at: 'BIGINT',
  epoch: 'INTEGER',
  kind: 'INTEGER',
  body: 'TEXT',
});
/** `startedSeq` stays the first. */
const upsertSteps = insertInto(
  'Step',
  { run: 'INTEGER', line: 'INTEGER', stepKey: 'TEXT', startedSeq: 'INTEGER', record: 'TEXT' },
  replacing('"run", "stepKey", "line"', 'record'),
);
const upsertEffects = insertInto(
  'Effect',
  {
    root: 'TEXT',
    stepKey: 'TEXT',
    generation: 'INTEGER',
    intentSeq: 'INTEGER',
    watchedIn: 'TEXT',
    record: 'TEXT',
  },
  replacing('"root", "stepKey", "generation"', 'intentSeq', 'watchedIn', 'record'),
);
const raiseLedgers = insertInto(
  'Ledger',
  { root: 'TEXT', version: 'INTEGER' },
  'ON CONFLICT ("root") DO UPDATE SET "version" = "Ledger"."version" + 1',
);
const upsertQuestions = insertInto(
  'Question',
  { run: 'INTEGER', line: 'INTEGER', questionId: 'TEXT', askedSeq: 'INTEGER', record: 'TEXT' },
  replacing('"run", "questionId", "line"', 'askedSeq', 'record'),
);
const upsertCheckpoints = insertInto(
  'Checkpoint',
  { run: 'INTEGER', seq: 'INTEGER', record: 'TEXT' },
  replacing('"run", "seq"', 'record'),
);
const upsertSnapshots = insertInto(
  'Snapshot',
  { run: 'INTEGER', seq: 'INTEGER', line: 'INTEGER', state: 'TEXT' },
  replacing('"run", "seq"', 'line', 'state'),
);
const insertBatches = insertInto('Batch', {
  run: 'INTEGER',
  epoch: 'INTEGER',
  batch: 'INTEGER',
  digest: 'DIGEST',
  firstSeq: 'INTEGER',
  headSeq: 'INTEGER',
  seenSeq: 'INTEGER',
});
const upsertAnswers = insertInto(
  'Answer',
  { key: 'TEXT', runId: 'TEXT', requestDigest: 'TEXT', answer: 'TEXT', at: 'BIGINT' },
  replacing('"key"', 'runId', 'requestDigest', 'answer', 'at'),
);

async function writePayloads(
  sql: Sql,
  writes: Omit<Writes, 'runs'> & { readonly runs: readonly Keyed<Pick<Change, 'events' | 'payloads'>>[] },
): Promise<void> {
  const used = new Set<Sha256>();
  for (const { change } of writes.runs) digestsIn(change.events, used);
  const added = new Map<Sha256, Payload>();
  for (const payload of [...writes.loose, ...writes.runs.flatMap(({ change }) => change.payloads)])
    added.set(payload.sha256, payload);

  const loose = [...added.keys()].filter((digest) => !used.has(digest));
  if (loose.length > 0)
    await sql.execute(markLoose(sql), [JSON.stringify(loose.map((digest) => [digest, writes.at]))]);
  // In one order everywhere: two transactions that add the same ones wait for each other and do not lock up.
  const sorted = [...added.values()].sort(byDigest);
  const together = groups(sorted, ({ bytes }) => bytes);
  for (const some of together) {
    await insertPayloads(sql, some, sorted.length);
    if (together.length > 1) await othersFirst();
  }
  await settlePayloads(sql, [...used].filter(writes.mayBeLoose));
}

const byDigest = (a: Payload, b: Payload) => (a.sha256 < b.sha256 ? -1 : 1);

const INTO_PAYLOADS = 'INSERT INTO "Payload" ("sha256", "codec", "body")';
const ONCE = 'ON CONFLICT ("sha256") DO NOTHING';
const insertFewPayloads = eachOnce((dialect, rows) => {
  const row = `(${dialect.unhex('?')}, ?, ?)`;
  return `${INTO_PAYLOADS} VALUES ${Array.from({ length: rows }, () => row).join(', ')} ${ONCE}`;
});

/** Many bodies travel as one byte string that the statement cuts up: they need no encoding, and it no thousand arguments. */
async function insertPayloads(sql: Sql, payloads: readonly Payload[], together: number): Promise<void> {
  const { dialect } = sql;
  if (payloads.length <= FEW && payloads.every(({ bytes }) => bytes > 0)) {
    const args = payloads.flatMap((payload) => {
      const { codec, body } = toStored(payload, together);
      return [payload.sha256, codec, body];
    });
    await sql.execute(insertFewPayloads(dialect, payloads.length), args);
    return;
  }
  // One byte ahead of them: better-sqlite3 binds an empty buffer as NULL. Offsets begin at 1.
  let offset = 2;
  const bodies: Uint8Array[] = [Buffer.of(0)];
  const rows = payloads.map((payload) => {
    const { codec, body } = toStored(payload, together);
    const row = [payload.sha256, codec, offset, body.byteLength];
    offset += body.byteLength;
    bodies.push(body);
    return row;
  });
  await sql.execute(
    `${INTO_PAYLOADS} SELECT ${dialect.unhex('v.value->>0')}, ${column(1, 'INTEGER')},` +
      ` ${dialect.slice(column(2, 'INTEGER'), column(3, 'INTEGER'))} FROM ${dialect.rows} WHERE true ${ONCE}`,
    [Buffer.concat(bodies), JSON.stringify(rows)],
  );
}

/** Bodies travel as in `insertPayloads`. */
async function insertParts(sql: Sql, key: number, parts: readonly PartRecord[]): Promise<void> {
  const { dialect } = sql;
  for (const some of groups(parts, ({ body }) => body.byteLength)) {
    let offset = 2;
    const bodies: Uint8Array[] = [Buffer.of(0)];
    const rows = some.map(({ id, at, body }) => {
      const row = [toColumn(id), at, offset, body.byteLength];
      offset += body.byteLength;
      bodies.push(body);
      return row;
    });
    await sql.execute(
      `INSERT INTO "Part" ("body", "run", "name", "at")` +
        ` SELECT ${dialect.slice(column(2, 'INTEGER'), column(3, 'INTEGER'))}, CAST(? AS INTEGER), v.value->>0,` +
        ` ${column(1, 'BIGINT')} FROM ${dialect.rows} WHERE true ON CONFLICT ("run", "name") DO NOTHING`,
      [Buffer.concat(bodies), key, JSON.stringify(rows)],
    );
    await othersFirst();
  }
}

/** New ones, and ones that are loose already: what is in use stays so. Runs before the payloads are inserted. */
const markLoose = ({ dialect }: Sql) => {
  const digest = dialect.unhex('v.value->>0');
  return (
    `INSERT INTO "Loose" ("sha256", "at") SELECT ${digest}, ${column(1, 'BIGINT')} FROM ${dialect.rows}` +
    ` WHERE NOT EXISTS (SELECT 1 FROM "Payload" p WHERE p."sha256" = ${digest})` +
    ` OR EXISTS (SELECT 1 FROM "Loose" o WHERE o."sha256" = ${digest})` +
    ` ON CONFLICT ("sha256") DO UPDATE SET "at" = excluded."at"`
  );
};

/** Whether anything else refers to them, the sweep looks. */
const markCut = ({ dialect }: Sql) => {
  const digest = dialect.unhex('v.value->>0');
  return (
    `INSERT INTO "Loose" ("sha256", "at") SELECT ${digest}, ${column(1, 'BIGINT')} FROM ${dialect.rows}` +
    ` WHERE EXISTS (SELECT 1 FROM "Payload" p WHERE p."sha256" = ${digest})` +
    ` ON CONFLICT ("sha256") DO UPDATE SET "at" = excluded."at"`
  );
};

const unmarkLoose = ({ dialect }: Sql) =>
  `DELETE FROM "Loose" WHERE "sha256" IN (SELECT ${dialect.unhex('v.value->>0')} FROM ${dialect.rows})`;
