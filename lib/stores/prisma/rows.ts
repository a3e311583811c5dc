import { isDeepStrictEqual } from 'node:util';
import {
  epoch,
  epochMs,
  type MachineDigest,
  machineDigest,
  type RunId,
  runId,
  type Sha256,
  seq,
  sha256,
  stepKey,
} from '@/lib/core/events/ids';
import type { Payload } from '@/lib/core/events/payload';
import { EVENT_VERSION, type EventOf, type RunEvent } from '@/lib/core/events/run-event';
import { upcast } from '@/lib/core/events/upcast';
import { wantedBy } from '@/lib/core/journal/wanted';
import type {
  CheckpointRecord,
  Lease,
  RunRecord,
  RunState,
  StepRecord,
} from '@/lib/core/projections/records';
import type { BatchRecord, SnapshotRecord } from '@/lib/usecases/ports';
import { eventCode, kindOfCode } from './event-codes';
import { fromColumn, pack, packWithout, toColumn, unpack } from './packed';
import { failureText, searchText } from './run-text';
import type { SqlRow } from './sql';
import { fromStored, plainView } from './stored-body';

/* Records to rows and back. What was packed by this file is trusted to have its type. */

const unpackAs = <Record>(text: unknown): Record => unpack(String(text)) as Record;

/** Tags stand between these, so that one whole tag is found by substring. */
const TAG_EDGE = '\u001f';
export const tagColumn = (tag: string) => TAG_EDGE + toColumn(tag) + TAG_EDGE;

/** A run's row with what only the store knows: its number, and the newest event that the console wrote. */
export interface RunRow {
  readonly key: number;
  readonly consoleSeq: number;
  readonly record: RunRecord;
  /** The record's state is folded anew, since another release had stored what its row says. */
  readonly foldedAnew?: true;
}

/** What never changes. */
const FIXED = ['runId', 'root', 'parent', 'parentId'] as const;
/** What few appends change. */
const SELDOM = [
  'createdAt',
  'home',
  'source',
  'agent',
  'failure',
  'tags',
  'search',
  'lease',
  'plannedMachine',
  'edition',
] as const;
/** What every append changes. */
export const movingColumns = [
  'status',
  'updatedAt',
  'headSeq',
  'epoch',
  'lastBatch',
  'consoleSeq',
  'state',
] as const;
/** What may change, but for whom the run waits for. */
export const changingColumns = [...SELDOM, ...movingColumns] as const;
/** Whom the run waits for, and since when. */
export const wantedColumns = ['wanted', 'wantedAt'] as const;
/** Columns of `Run` in the order of `runValues`. */
export const runColumns = [...FIXED, ...changingColumns, ...wantedColumns] as const;
/** Types of the columns above, as SQL casts them. */
export const runColumnTypes = {
  runId: 'TEXT',
  root: 'TEXT',
  createdAt: 'BIGINT',
  parent: 'TEXT',
  parentId: 'TEXT',
  home: 'TEXT',
  source: 'TEXT',
  agent: 'TEXT',
  status: 'TEXT',
  failure: 'TEXT',
  tags: 'TEXT',
  search: 'TEXT',
  updatedAt: 'BIGINT',
  headSeq: 'INTEGER',
  epoch: 'INTEGER',
  lastBatch: 'INTEGER',
  lease: 'TEXT',
  consoleSeq: 'INTEGER',
  plannedMachine: 'TEXT',
  edition: 'INTEGER',
  state: 'TEXT',
  wanted: 'TEXT',
  wantedAt: 'BIGINT',
} as const satisfies Record<(typeof runColumns)[number], 'TEXT' | 'BIGINT' | 'INTEGER'>;

/** One row's values, in the order of its columns. */
export type Values = readonly (string | number | null)[];

export const runValues = (run: RunRecord, consoleSeq: number): Values => [
  toColumn(run.runId),
  toColumn(run.root),
  run.parent === undefined ? null : pack(run.parent),
  run.parent === undefined ? null : toColumn(run.parent.runId),
  ...changingValues(run, consoleSeq),
  ...wantedValues(run),
];

export const changingValues = (run: RunRecord, consoleSeq: number): Values => [
  run.createdAt,
  run.home,
  toColumn(run.source),
  toColumn(run.state.agent),
  toColumn(failureText(run).toLowerCase()),
  [...new Set(run.state.tags)].map(tagColumn).join(''),
  toColumn(searchText(run)),
  run.lease === undefined ? null : pack(run.lease),
  run.plannedMachine ?? null,
  run.edition,
  ...movingValues(run, consoleSeq),
];

/**
 * False: the change leaves what `SELDOM` names as it is stored. By identity, since a change copies what it changes; not
 * for a run that was folded anew, which is not as it is stored.
 */
export const changesSeldom = (before: RunRecord, run: RunRecord): boolean =>
  before.home !== run.home ||
  before.source !== run.source ||
  before.lease !== run.lease ||
  before.plannedMachine !== run.plannedMachine ||
  before.edition !== run.edition ||
  before.createdAt !== run.createdAt ||
  before.state.agent !== run.state.agent ||
  before.state.failure !== run.state.failure ||
  before.state.tags !== run.state.tags;

export const movingValues = (run: RunRecord, consoleSeq: number): Values => [
  run.state.status,
  run.updatedAt,
  run.headSeq,
  run.epoch,
  run.lastBatch,
  consoleSeq,
  pack(run.state),
];

export function wantedValues(run: RunRecord): Values {
  const wanted = ticketOf(run);
  return [wanted ?? null, wanted === undefined ? null : run.updatedAt];
}

/** Who finds the run among what is claimable, as one text: a machine's digest, or `*` for any, and the agent. */
export function ticketOf(run: RunRecord): string | undefined {
  const wanted = wantedBy(run);
  return wanted === undefined ? undefined : ticket(wanted.agent, wanted.machineDigest);
}

export const ticket = (agent: string, machineDigest: MachineDigest | undefined): string =>
  `${machineDigest ?? '*'} ${toColumn(agent)}`;

/** What `runFromRow` reads; `r` is the run, `l` the ledger of the lineage that it is the root of. */
export const runFields =
  'r."key", r."runId", r."root", r."createdAt", r."parent", r."home", r."source", r."updatedAt", r."headSeq", r."epoch",' +
  ' r."lastBatch", r."lease", r."consoleSeq", r."plannedMachine", r."state", r."edition", COALESCE(l."version", 0)';
export const runSelect = `SELECT ${runFields} FROM "Run" r LEFT JOIN "Ledger" l ON l."root" = r."runId"`;

export function runFromRow(row: SqlRow): RunRow {
  const [
    key,
    id,
    root,
    createdAt,
    parent,
    home,
    source,
    updatedAt,
    headSeq,
    at,
    lastBatch,
    lease,
    consoleSeq,
    plannedMachine,
    state,
    edition,
    version,
  ] = row;
  return {
    key: Number(key),
    consoleSeq: Number(consoleSeq),
    record: {
      runId: runId(fromColumn(String(id))),
      root: runId(fromColumn(String(root))),
      ...(parent === null ? {} : { parent: unpackAs<NonNullable<RunRecord['parent']>>(parent) }),
      home: home === 'mirror' ? 'mirror' : 'here',
      source: fromColumn(String(source)),
      createdAt: epochMs(Number(createdAt)),
      updatedAt: epochMs(Number(updatedAt)),
      headSeq: seq(Number(headSeq)),
      edition: Number(edition),
      epoch: epoch(Number(at)),
      lastBatch: Number(lastBatch),
      ...(lease === null ? {} : { lease: unpackAs<Lease>(lease) }),
      ...(plannedMachine === null ? {} : { plannedMachine: machineDigest(String(plannedMachine)) }),
      state: unpackAs<RunState>(state),
      ledgerVersion: Number(version),
    },
  };
}

/** Key of what is not the usual in an event's stored body: version, and origin where it was copied. */
const UNUSUAL = '~';

/** Members of an event that its row has beside the body. */
const STAMP: ReadonlySet<string> = new Set<keyof RunEvent>([
  'runId',
  'seq',
  'at',
  'epoch',
  'by',
  'version',
  'inherited',
  'kind',
]);

/** `[run, seq, at, epoch, kind, body]`. */
export function eventValues(key: number, event: RunEvent): readonly (string | number)[] {
  const { seq: at, at: when, epoch: era, version, inherited } = event;
  const usual = version === EVENT_VERSION && inherited === undefined;
  const unusual = inherited === undefined ? [version] : [version, inherited.runId, inherited.seq];
  const body = packWithout(usual ? event : { ...event, [UNUSUAL]: unusual }, STAMP);
  return [key, at, when, era, eventCode(event), body];
}

export const eventSelect = 'SELECT e."seq", e."at", e."epoch", e."kind", e."body" FROM "Event" e';

export function eventFromRow(id: RunId, row: SqlRow): RunEvent {
  const [at, when, era, code, text] = row;
  const { kind, by } = kindOfCode(Number(code));
  const { [UNUSUAL]: unusual, ...body } = unpackAs<Record<string, unknown>>(text);
  const [version, fromRun, fromSeq] = Array.isArray(unusual) ? unusual : [EVENT_VERSION];
  return upcast({
    runId: id,
    seq: seq(Number(at)),
    at: epochMs(Number(when)),
    epoch: epoch(Number(era)),
    by,
    version: Number(version),
    ...(typeof fromRun === 'string'
      ? { inherited: { runId: runId(fromRun), seq: seq(Number(fromSeq)) } }
      : {}),
    kind,
    ...body,
    // What was stored is what was typed: the body belongs to its kind.
  } as RunEvent);
}

const STEP_COLUMNS: ReadonlySet<string> = new Set<keyof StepRecord>(['stepKey', 'line', 'startedSeq']);

/** `[run, line, stepKey, startedSeq, record]`; the record without what the columns hold. */
export function stepValues(key: number, step: StepRecord): readonly (string | number)[] {
  return [key, step.line, toColumn(step.stepKey), step.startedSeq, packWithout(step, STEP_COLUMNS)];
}

export function stepFromRow(row: SqlRow): StepRecord {
  const [line, address, startedSeq, record] = row;
  return {
    stepKey: stepKey(fromColumn(String(address))),
    line: Number(line),
    startedSeq: seq(Number(startedSeq)),
    ...unpackAs<Omit<StepRecord, 'stepKey' | 'line' | 'startedSeq'>>(record),
  };
}

/** What a checkpoint's own event says of it. */
const checkpointOf = (event: EventOf<'checkpoint.saved'>, n: number, line: number): CheckpointRecord => ({
  id: `cp_${event.seq}`,
  n,
  line,
  seq: event.seq,
  entrySeq: event.entrySeq,
  othersSeq: event.othersSeq,
  name: event.name,
  trigger: event.trigger,
  visit: event.visit,
  at: event.at,
  ...(event.intentSeq === undefined ? {} : { intentSeq: event.intentSeq }),
});

/** `[run, seq, record]`; only number and line where the rest is what the event at `seq` says. */
export function checkpointValues(
  key: number,
  record: CheckpointRecord,
  events: readonly RunEvent[],
): readonly (string | number)[] {
  const event = events[record.seq - (events[0]?.seq ?? 0)];
  const { n, line } = record;
  const derived =
    event?.kind === 'checkpoint.saved' && isDeepStrictEqual(checkpointOf(event, n, line), record);
  return [key, record.seq, pack(derived ? { n, line } : record)];
}

export const checkpointSelect =
  'SELECT c."record", e."seq", e."at", e."epoch", e."kind", e."body" FROM "Checkpoint" c JOIN "Event" e ON e."run" = c."run" AND e."seq" = c."seq"';

export function checkpointFromRow(id: RunId, [text, ...event]: SqlRow): CheckpointRecord {
  const record = unpackAs<CheckpointRecord | Pick<CheckpointRecord, 'n' | 'line'>>(text);
  if ('id' in record) return record;
  const saved = eventFromRow(id, event);
  if (saved.kind !== 'checkpoint.saved')
    throw new Error(`Broken invariant: event ${saved.seq} is a checkpoint`);
  return checkpointOf(saved, record.n, record.line);
}

export const snapshotFromRow = (row: SqlRow): SnapshotRecord => ({
  seq: seq(Number(row[0])),
  line: Number(row[1]),
  state: unpackAs<RunState>(row[2]),
});

/** A record that is stored whole. */
export const recordFrom = <Record>(text: unknown): Record => unpackAs<Record>(text);

export const batchFromRow = (row: SqlRow): BatchRecord => ({
  epoch: epoch(Number(row[0])),
  batch: Number(row[1]),
  digest: digestFrom(row[2]),
  firstSeq: seq(Number(row[3])),
  headSeq: seq(Number(row[4])),
  seenSeq: seq(Number(row[5])),
});

export const payloadFrom = (digest: unknown, codec: unknown, body: unknown): Payload => ({
  sha256: digestFrom(digest),
  ...fromStored({ codec: Number(codec), body: bytesFrom(body) }),
});

/** Hexadecimal of a digest column. */
export const digestFrom = (value: unknown): Sha256 => sha256(Buffer.from(bytesFrom(value)).toString('hex'));

export function bytesFrom(value: unknown): Uint8Array {
  if (value instanceof Uint8Array) return plainView(value);
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  throw new Error('Broken invariant: a column of bytes holds bytes');
}
