import { type EpochMs, epochMs, type RunId, runId, type Seq, seq } from '@/lib/core/events/ids';
import { bucketRanges, type Counted } from '@/lib/core/projections/buckets';
import { isInDoubt } from '@/lib/core/projections/ledger';
import { askingStatuses, personsWaits } from '@/lib/core/projections/needs-person';
import type { EffectRecord, QuestionRecord, RunRecord, RunStatus } from '@/lib/core/projections/records';
import { statusNow } from '@/lib/core/projections/run-status';
import { assertDefined } from '@/lib/core/shared/assert';
import type {
  Bucket,
  EventRange,
  JudgedAt,
  Page,
  RunCursor,
  RunFilter,
  RunPageAsk,
  RunReader,
} from '@/lib/usecases/ports';
import { children } from './children';
import { claimable } from './claimable';
import { codesOf, intentCodes, kindOfCode } from './event-codes';
import { fromColumn, packedKey, toColumn } from './packed';
import {
  effectOrder,
  readAnswer,
  readAssembly,
  readEffects,
  readLedgerVersion,
  readRun,
  runsFromRows,
} from './read-context';
import {
  bytesFrom,
  checkpointFromRow,
  checkpointSelect,
  eventFromRow,
  eventSelect,
  recordFrom,
  runSelect,
  snapshotFromRow,
  stepFromRow,
  tagColumn,
} from './rows';
import { column, type Dialect, type Sql, type SqlValue } from './sql';

/** Reads of committed rows, on a connection that no write transaction runs on. */
export function runReader(sql: Sql): RunReader {
  const { dialect } = sql;
  const { rows, bytewise } = dialect;

  return {
    run: async (id) => (await readRun(sql, id))?.record,

    async edition(id) {
      const [found] = await sql.query('SELECT "edition" FROM "Run" WHERE "runId" = ?', [toColumn(id)]);
      return found === undefined ? undefined : Number(found[0]);
    },

    async runs(ask): Promise<Page<RunRecord, RunCursor>> {
      const status = statusSql(dialect, ask.judged);
      const { inDoubt, attention } = ask.filter;
      const doubtful =
        inDoubt === undefined && attention === undefined
          ? []
          : await runsInDoubt(ask.judged?.now ?? epochMs(0));
      const matching = conditions(ask.filter, status, doubtful);
      const few = await fewMatching(matching);
      const total = few?.length ?? (await countOf(matching));
      if (ask.limit === 0 || total === 0) return { items: [], total, nextCursor: undefined };
      const { where, args } = few === undefined ? matching : among(few);
      const sort = sortColumn(ask.sort, status, bytewise);
      const direction = ask.descending ? 'DESC' : 'ASC';
      const { cursor } = ask;
      if (cursor !== undefined) {
        const beyond = ask.descending ? '<' : '>';
        where.push(`(${sort} ${beyond} ? OR (${sort} = ? AND r."key" ${beyond} ?))`);
        args.push(cursor.value, cursor.value, cursor.key);
      }
      const found = await sql.query(
        `${runSelect}${whereOf(where)} ORDER BY ${sort} ${direction}, r."key" ${direction} LIMIT ?`,
        [...args, ask.limit + 1],
      );
      const items = await runsFromRows(sql, found.slice(0, ask.limit));
      const last = items.at(-1);
      return {
        items: items.map(({ record }) => record),
        total,
        nextCursor:
          found.length > ask.limit && last !== undefined
            ? { value: sortValue(last.record, ask), key: last.key }
            : undefined,
      };
    },

    async heldRuns() {
      const found = await sql.query(
        `${runSelect} WHERE r."home" = 'here'` +
          ` AND (r."status" = 'running' OR (r."status" = 'waiting' AND r."lease" IS NOT NULL))` +
          ' ORDER BY r."updatedAt", r."key"',
        [],
      );
      return (await runsFromRows(sql, found)).map(({ record }) => record);
    },

    claimable: (ask) => claimable(sql, ask),

    async lineage(root) {
      const found = await sql.query(`${runSelect} WHERE r."root" = ? ORDER BY r."createdAt", r."key"`, [
        toColumn(root),
      ]);
      return (await runsFromRows(sql, found)).map(({ record }) => record);
    },

    children: (of, limit, judged) => children(sql, of, limit, statusSql(dialect, judged)),

    async events(id, range) {
      const { text, args } = eventQuery(toColumn(id), range);
      return (await sql.query(text, args)).map((row) => eventFromRow(id, row));
    },

    async eventsAt(id, at) {
      const found = await sql.query(
        `${eventSelect} WHERE e."run" = ${KEY_OF_RUN} AND e."seq" IN (SELECT ${column(0, 'INTEGER')} FROM ${rows})` +
          ' ORDER BY e."seq"',
        [toColumn(id), JSON.stringify(at.map((one) => [one]))],
      );
      return found.map((row) => eventFromRow(id, row));
    },

    async buckets(id, n) {
      const run = await readRun(sql, id);
      return run === undefined ? [] : buckets(sql, run.key, run.record.headSeq, n);
    },

    async steps(id, page) {
      const after = page?.after ?? 0;
      const from = `FROM "Step" s WHERE s."run" = ${KEY_OF_RUN} AND s."startedSeq" > ?`;
      const args: SqlValue[] = [toColumn(id), after];
      // Steps of one seq (kept over a rewind) stay on one page, since the next one begins after that seq.
      let limit = '';
      if (page?.limit !== undefined) {
        limit = ` AND s."startedSeq" <= COALESCE((SELECT s."startedSeq" ${from} ORDER BY s."startedSeq" LIMIT 1 OFFSET ?), ?)`;
        args.push(toColumn(id), after, page.limit - 1, LAST_SEQ);
      }
      const found = await sql.query(
        `SELECT s."line", s."stepKey", s."startedSeq", s."record" ${from}${limit} ORDER BY s."startedSeq", s."line", s."stepKey"${bytewise}`,
        args,
      );
      return found.map(stepFromRow);
    },

    async step(id, key) {
      const found = await sql.query(
        `SELECT "line", "stepKey", "startedSeq", "record" FROM "Step" WHERE "run" = ${KEY_OF_RUN} AND "stepKey" = ? ORDER BY "line"`,
        [toColumn(id), toColumn(key)],
      );
      return found.map(stepFromRow);
    },

    async stepsOf(id, keys) {
      if (keys.length === 0) return [];
      const found = await sql.query(
        `SELECT s."line", s."stepKey", s."startedSeq", s."record" FROM "Step" s WHERE s."run" = ${KEY_OF_RUN}` +
          ` AND s."stepKey" IN (SELECT v.value->>0 FROM ${rows}) ORDER BY s."startedSeq", s."line", s."stepKey"${bytewise}`,
        [toColumn(id), JSON.stringify(keys.map((key) => [toColumn(key)]))],
      );
      return found.map(stepFromRow);
    },

    async stepCount(id, path) {
      const [segment, ...others] = path;
      if (segment === undefined) return 0;
      // A key has several rows only where there were rewinds, and then the path has several segments.
      const what = others.length === 0 ? '*' : 'DISTINCT "stepKey"';
      const within = path.map(() => '("startedSeq" >= ? AND "startedSeq" <= ?)').join(' OR ');
      const [found] = await sql.query(
        `SELECT COUNT(${what}) FROM "Step" WHERE "run" = ${KEY_OF_RUN} AND (${within})`,
        [toColumn(id), ...path.flatMap(({ from, to }) => [from, to])],
      );
      return Number(assertDefined(found, 'a count is one row')[0]);
    },

    async checkpoints(id) {
      const found = await sql.query(`${checkpointSelect} WHERE c."run" = ${KEY_OF_RUN} ORDER BY c."seq"`, [
        toColumn(id),
      ]);
      return found.map((row) => checkpointFromRow(id, row));
    },

    async questions(id) {
      const found = await sql.query(
        `SELECT "record" FROM "Question" WHERE "run" = ${KEY_OF_RUN} ORDER BY "askedSeq", "line", "questionId"${bytewise}`,
        [toColumn(id)],
      );
      return found.map(([record]) => recordFrom<QuestionRecord>(record));
    },

    effects: (root) => readEffects(sql, root, 'all'),

    async watchedEffects(of) {
      const found = await sql.query(
        `SELECT "record" FROM "Effect" WHERE "watchedIn" IN (SELECT v.value->>0 FROM ${rows}) ${effectOrder(sql.dialect)}`,
        [JSON.stringify(of.map((id) => [toColumn(id)]))],
      );
      return found.map(([record]) => recordFrom<EffectRecord>(record));
    },

    ledgerVersion: (root) => readLedgerVersion(sql, root),

    async parts(id, ids) {
      const some = ids === undefined ? '' : ` AND p."name" IN (SELECT v.value->>0 FROM ${rows})`;
      const found = await sql.query(
        `SELECT p."name", p."at", p."body" FROM "Part" p WHERE p."run" = ${KEY_OF_RUN}${some} ORDER BY p."name"${bytewise}`,
        [toColumn(id), ...(ids === undefined ? [] : [JSON.stringify(ids.map((one) => [toColumn(one)]))])],
      );
      return found.map(([name, at, body]) => ({
        id: fromColumn(String(name)),
        at: epochMs(Number(at)),
        body: bytesFrom(body),
      }));
    },

    assembly: (id) => readAssembly(sql, id),

    async snapshot(id, at) {
      const [found] = await sql.query(
        `SELECT "seq", "line", "state" FROM "Snapshot" WHERE "run" = ${KEY_OF_RUN} AND "seq" <= ? ORDER BY "seq" DESC LIMIT 1`,
        [toColumn(id), at],
      );
      return found === undefined ? undefined : snapshotFromRow(found);
    },

    answer: (key) => readAnswer(sql, key),
  };

  /**
   * The numbers of the runs that match, where they are few: those are then read by number. Walked in the list's order,
   * every run of the table would be read to find them.
   */
  async function fewMatching({ where, args }: Conditions): Promise<readonly number[] | undefined> {
    if (where.length === 0) return undefined;
    const found = await sql.query(`SELECT r."key" FROM "Run" r${whereOf(where)} LIMIT ?`, [...args, FEW + 1]);
    return found.length > FEW ? undefined : found.map(([key]) => Number(key));
  }

  async function countOf({ where, args }: Conditions): Promise<number> {
    const [counted] = await sql.query(`SELECT COUNT(*) FROM "Run" r${whereOf(where)}`, args);
    return Number(assertDefined(counted, 'a count is one row')[0]);
  }

  function among(keys: readonly number[]): Conditions {
    return {
      where: [`r."key" IN (SELECT ${column(0, 'INTEGER')} FROM ${rows})`],
      args: [JSON.stringify(keys.map((key) => [key]))],
    };
  }

  /** Those whose effects are in doubt by the one expression, which reads more of an effect than the database can. */
  async function runsInDoubt(now: EpochMs): Promise<readonly RunId[]> {
    const found = await sql.query(
      `SELECT "record" FROM "Effect" WHERE "watchedIn" IS NOT NULL AND (${UNSETTLED.map(() => `${dialect.position('"record"', '?')} > 0`).join(' OR ')})`,
      [...UNSETTLED],
    );
    const effects = found.map(([record]) => recordFrom<EffectRecord>(record));
    return [...new Set(effects.filter((effect) => isInDoubt(effect, now)).map((effect) => effect.runId))];
  }

  function conditions(filter: RunFilter, status: string, doubtful: readonly RunId[]): Conditions {
    const { position } = dialect;
    const where: string[] = [];
    const args: SqlValue[] = [];
    const add = (condition: string, ...values: readonly SqlValue[]) => {
      where.push(condition);
      args.push(...values);
    };
    const oneOf = (name: string, values: readonly string[], not = '') =>
      add(
        `r."${name}" ${not}IN (SELECT v.value->>0 FROM ${rows})`,
        JSON.stringify(values.map((value) => [toColumn(value)])),
      );
    if (filter.status !== undefined) {
      // The index finds what is stored; of what is stored as running, the expression says what it is.
      const stored = new Set<RunStatus>(filter.status);
      if (status !== STORED && (stored.has('interrupted') || stored.has('unknown'))) stored.add('running');
      oneOf('status', [...stored]);
      if (status !== STORED && stored.has('running'))
        add(`${status} IN (${marks(filter.status.length)})`, ...filter.status);
    }
    if (filter.agent !== undefined) oneOf('agent', filter.agent);
    if (filter.notAgent !== undefined) oneOf('agent', filter.notAgent, 'NOT ');
    if (filter.source !== undefined) oneOf('source', filter.source);
    if (filter.notSource !== undefined) oneOf('source', filter.notSource, 'NOT ');
    for (const tag of filter.tag ?? []) add(`${position('r."tags"', '?')} > 0`, tagColumn(tag));
    for (const tag of filter.notTag ?? []) add(`${position('r."tags"', '?')} = 0`, tagColumn(tag));
    if (filter.inDoubt !== undefined) oneOf('runId', doubtful, filter.inDoubt ? '' : 'NOT ');
    if (filter.attention !== undefined)
      add(
        `${filter.attention ? '' : 'NOT '}(r."home" = 'here' AND (r."runId" IN (SELECT v.value->>0 FROM ${rows})` +
          ` OR (${STORED} IN (${MAY_NEED_PERSON}) AND (${status} IN ('interrupted', 'paused')` +
          ` OR ${ASKS_PERSON.map(() => `${position('r."state"', '?')} > 0`).join(' OR ')}))))`,
        JSON.stringify(doubtful.map((id) => [toColumn(id)])),
        ...ASKS_PERSON,
      );
    if (filter.q !== undefined) add(`${position('r."search"', '?')} > 0`, toColumn(filter.q.toLowerCase()));
    if (filter.failure !== undefined)
      add(`${position('r."failure"', '?')} > 0`, toColumn(filter.failure.toLowerCase()));
    if (filter.from !== undefined) add('r."createdAt" >= ?', filter.from);
    if (filter.to !== undefined) add('r."createdAt" < ?', filter.to);
    if (filter.root !== undefined) add('r."root" = ?', toColumn(filter.root));
    return { where, args };
  }
}

interface Conditions {
  readonly where: string[];
  readonly args: SqlValue[];
}

/** So many runs are few. */
const FEW = 5_000;

const STORED = 'r."status"';

/* How a member with one value stands in packed text. Inside of a string its quotes are escaped, so it is found as itself. */
const packedMember = (key: Parameters<typeof packedKey>[0], value: string) =>
  `"${packedKey(key)}":"${value}"`;
const UNSETTLED = (['intended', 'in-doubt'] as const).map((status) => packedMember('status', status));
/** In a run's state: `needsPerson`, where neither its status nor a doubt says so. */
const ASKS_PERSON = [
  ...personsWaits.map((what) => packedMember('for', what)),
  packedMember('status', 'open'),
];
const MAY_NEED_PERSON = [...askingStatuses, 'interrupted', 'paused']
  .map((status) => `'${status}'`)
  .join(', ');

/** `statusNow` as SQL: see there. */
function statusSql({ member }: Dialect, judged: JudgedAt | undefined): string {
  if (judged === undefined) return STORED;
  const now = Math.trunc(judged.now);
  const expires = member('r."lease"', packedKey('expiresAt'));
  const length = member('r."lease"', packedKey('leaseMs'));
  const lapsed = `r."lease" IS NULL OR (${expires} <= ${now} AND ${Math.trunc(judged.judgedFrom)} + ${length} <= ${now})`;
  return (
    `(CASE WHEN ${STORED} <> 'running' THEN ${STORED} WHEN r."home" = 'mirror' THEN 'unknown'` +
    ` WHEN ${lapsed} THEN 'interrupted' ELSE 'running' END)`
  );
}

const KEY_OF_RUN = '(SELECT "key" FROM "Run" WHERE "runId" = ?)';
const LAST_SEQ = 2 ** 31 - 1;
const marks = (count: number) => Array.from({ length: count }, () => '?').join(', ');
const whereOf = (conditions: readonly string[]) =>
  conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`;

/** Few kinds are looked up in the index, one by one; with more of them most events fit, and the journal is read along. */
const FEW_CODES = 16;

/** Codes of the kinds asked for; `undefined`: of any kind. */
function codesFor({ kinds, intents }: EventRange): readonly number[] | undefined {
  const codes = kinds === undefined ? undefined : codesOf(kinds);
  return intents === true
    ? codes?.filter((code) => kindOfCode(code).kind !== 'step.started' || intentCodes.includes(code))
    : codes;
}

function eventQuery(
  run: string,
  range: EventRange,
): { readonly text: string; readonly args: readonly SqlValue[] } {
  const { after = 0, before = LAST_SEQ, limit } = range;
  const direction = range.descending === true ? 'DESC' : 'ASC';
  const codes = codesFor(range);
  const inOrder = `ORDER BY e."seq" ${direction} LIMIT ?`;
  const between = `e."run" = ${KEY_OF_RUN} AND e."seq" > ? AND e."seq" < ?`;
  if (codes === undefined)
    return { text: `${eventSelect} WHERE ${between} ${inOrder}`, args: [run, after, before, limit] };
  if (codes.length === 0 || codes.length > FEW_CODES) {
    const fits = codes.length === 0 ? '1 = 0' : `e."kind" IN (${codes.join(', ')})`;
    return {
      text: `${eventSelect} WHERE ${between} AND ${fits} ${inOrder}`,
      args: [run, after, before, limit],
    };
  }
  // The first of each kind, then the first of those: as many index entries as the answer has, whatever the run's length.
  const arms = codes.map(
    (code) =>
      `SELECT * FROM (SELECT e."seq" FROM "Event" e WHERE ${between} AND e."kind" = ${code} ${inOrder}) AS k${code}`,
  );
  return {
    text:
      `${eventSelect} WHERE e."run" = ${KEY_OF_RUN} AND e."seq" IN` +
      ` (SELECT e."seq" FROM (${arms.join(' UNION ALL ')}) AS e ${inOrder}) ORDER BY e."seq" ${direction}`,
    args: [run, ...codes.flatMap(() => [run, after, before, limit]), limit],
  };
}

function sortColumn(sort: RunPageAsk['sort'], status: string, bytewise: string): string {
  switch (sort) {
    case 'updated':
      return 'r."updatedAt"';
    case 'created':
      return 'r."createdAt"';
    case 'agent':
      return `r."agent"${bytewise}`;
    case 'status':
      return `${status}${bytewise}`;
  }
}

function sortValue(run: RunRecord, { sort, judged }: RunPageAsk): number | string {
  switch (sort) {
    case 'updated':
      return run.updatedAt;
    case 'created':
      return run.createdAt;
    case 'agent':
      return toColumn(run.state.agent);
    case 'status':
      return judged === undefined ? run.state.status : statusNow(run, judged.now, judged.judgedFrom);
  }
}

const COUNTED: readonly (readonly [Counted, readonly number[]])[] = [
  ['effects', intentCodes],
  ['errors', codesOf(['step.failed', 'run.failed'])],
  ['checkpoints', codesOf(['checkpoint.saved'])],
];

/** Counts from the index by kind alone, whose other events are known by their number: no body is read. */
async function buckets(sql: Sql, key: number, head: number, n: number): Promise<readonly Bucket[]> {
  const ranges = bucketRanges(head, n);
  if (ranges.length === 0) return [];
  const counts = new Map<Counted, Map<number, number>>();
  for (const [what, codes] of COUNTED) {
    const found = await sql.query(
      `SELECT (CAST("seq" AS BIGINT) * ${ranges.length} + ${head - 1}) / ${head} - 1 AS bucket, COUNT(*) FROM "Event"` +
        ` WHERE "run" = ? AND "kind" IN (${codes.join(', ')}) AND "seq" <= ? GROUP BY bucket`,
      [key, head],
    );
    counts.set(what, new Map(found.map(([bucket, count]) => [Number(bucket), Number(count)])));
  }
  const at = await timesOf(
    sql,
    key,
    ranges.flatMap(({ from, to }) => [from, to]),
  );
  const count = (what: Counted, i: number) => counts.get(what)?.get(i) ?? 0;
  return ranges.map(({ from, to }, i) => ({
    fromSeq: seq(from),
    toSeq: seq(to),
    fromAt: assertDefined(at.get(seq(from)), 'the journal has no gaps'),
    toAt: assertDefined(at.get(seq(to)), 'the journal has no gaps'),
    events: to - from + 1,
    effects: count('effects', i),
    errors: count('errors', i),
    checkpoints: count('checkpoints', i),
  }));
}

async function timesOf(sql: Sql, key: number, seqs: readonly number[]): Promise<ReadonlyMap<Seq, EpochMs>> {
  const found = await sql.query(
    `SELECT "seq", "at" FROM "Event" WHERE "run" = ? AND "seq" IN (SELECT ${column(0, 'INTEGER')} FROM ${sql.dialect.rows})`,
    [key, JSON.stringify([...new Set(seqs)].map((at) => [at]))],
  );
  return new Map(found.map(([at, when]) => [seq(Number(at)), epochMs(Number(when))]));
}

/** Runs that moved at or after `since`, for a feed that was cut off. */
export async function movedSince(sql: Sql, since: EpochMs, judged: JudgedAt) {
  const found = await sql.query(
    `SELECT r."runId", r."headSeq", ${statusSql(sql.dialect, judged)}, r."edition" FROM "Run" r WHERE r."updatedAt" >= ?`,
    [since],
  );
  return found.map(([id, head, status, edition]) => ({
    runId: runId(fromColumn(String(id))) satisfies RunId,
    headSeq: seq(Number(head)),
    edition: Number(edition),
    status: String(status) as RunRecord['state']['status'],
    wanted: true,
  }));
}
