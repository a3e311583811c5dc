import type {
  Epoch,
  EpochMs,
  MachineDigest,
  RunId,
  Seq,
  Sha256,
  StepKey,
  WorkerId,
} from '@/lib/core/events/ids';
import type { Hash, Payload, PayloadRef } from '@/lib/core/events/payload';
import type { EventKind, RunEvent } from '@/lib/core/events/run-event';
import type { AuditAction, AuditRecord } from '@/lib/core/journal/audit';
import type { Machine } from '@/lib/core/machine/machine';
import type { Segment } from '@/lib/core/projections/effective-path';
import type {
  CheckpointRecord,
  EffectRecord,
  QuestionRecord,
  RunRecord,
  RunState,
  RunStatus,
  StepRecord,
} from '@/lib/core/projections/records';
import type { Result } from '@/lib/core/shared/result';

/*
 * What the use-cases need from the outside. An adapter implements these; `lib/server/container.ts` picks it.
 * Reads see committed data only. Every write of a run goes through `Journal.commit`.
 */

export interface Clock {
  /** The store's clock: the only one that lease times are judged by. */
  now(): EpochMs;
}

export interface IdSource {
  /** A fresh, unguessable id with the prefix, such as `run_…`. */
  next(prefix: string): string;
}

/** A batch that was stored, kept to answer the same batch again. `digest` is of its content. */
export interface BatchRecord {
  readonly epoch: Epoch;
  readonly batch: number;
  readonly digest: Sha256;
  readonly firstSeq: Seq;
  readonly headSeq: Seq;
  readonly seenSeq: Seq;
}

/** A request that was answered, kept under its caller's id to answer it again. */
export interface AnswerRecord {
  /** `command:<commandId>`, `claim:<claimId>`, `create:["<workerId>","<runId>"]`. */
  readonly key: string;
  readonly runId: RunId;
  /** Digest of the request: the same id with another content is refused. */
  readonly requestDigest: Sha256;
  /** What was answered, as JSON text. */
  readonly answer: string;
  readonly at: EpochMs;
}

export interface SnapshotRecord {
  readonly seq: Seq;
  readonly line: number;
  readonly state: RunState;
}

/** What a decision about a run sees, read under the run's (and its lineage's) lock. */
export interface WriteContext {
  readonly now: EpochMs;
  readonly run: RunRecord | undefined;
  /** Ledger version of the lineage, from the root's row; 0 where there is no root yet. */
  readonly ledgerVersion: number;
  /** Ledger rows of the lineage for the asked keys, every generation. */
  readonly effects: readonly EffectRecord[];
  /** Rows of every line of the asked steps. */
  readonly steps: readonly StepRecord[];
  /** The asked batch, where it was stored before. */
  readonly batch: BatchRecord | undefined;
  /** The asked answer, where one was given before. */
  readonly answer: AnswerRecord | undefined;
  /** Events that the console appended after the asked `seenSeq`, ascending. */
  readonly others: readonly RunEvent[];
  /** Digests of the asked references whose payloads are not stored. */
  readonly missingPayloads: readonly Sha256[];
  /** What asked references say wrongly of payloads that are stored: a sentence for each. */
  readonly badReferences: readonly string[];
  /** The asked further runs, those that there are. */
  readonly also: ReadonlyMap<RunId, RunRecord>;
  /** Of the asked run and the further ones, those that there are, where `assembly` was asked for. */
  readonly assembly: ReadonlyMap<RunId, Assembly>;
}

/** What the assembling of a run depends on beside its journal. */
export interface Assembly {
  readonly parts: number;
  /** Runs that were forked or replayed from it. */
  readonly children: number;
  /** Of its lineage. */
  readonly ledgerVersion: number;
}

/** Where a journal is cut before a change's events follow: an assembled run's, whose parts make another one now. */
export interface Cut {
  /** Events, steps, questions, checkpoints and snapshots that begin after this seq go. */
  readonly after: Seq;
  /** Ledger rows that go with them. */
  readonly effects: readonly Pick<EffectRecord, 'stepKey' | 'generation'>[];
}

/** What an assembled run is made of, as it is stored. */
export interface PartRecord {
  /** Unique within the run: a span's id, say. */
  readonly id: string;
  readonly at: EpochMs;
  readonly body: Uint8Array;
}

/** Everything that one atomic write changes. Rows are written whole (upserts), events appended. */
export interface Change {
  /** The row as it is afterwards. Its `ledgerVersion` counts on the root's row: the store raises that when `effects` is not empty. */
  readonly run: RunRecord;
  /** Goes before everything else; the run's `edition` is one higher then. */
  readonly cut?: Cut;
  /** Added; one that is there already stays as it is. */
  readonly parts?: readonly PartRecord[];
  /** With seqs `oldHead+1 …`, after a cut `cut.after+1 …`; the store refuses anything else as a broken invariant. */
  readonly events: readonly RunEvent[];
  readonly payloads: readonly Payload[];
  readonly steps: readonly StepRecord[];
  readonly effects: readonly EffectRecord[];
  readonly questions: readonly QuestionRecord[];
  readonly checkpoints: readonly CheckpointRecord[];
  readonly snapshots: readonly SnapshotRecord[];
  readonly batch?: BatchRecord;
  readonly answers?: readonly AnswerRecord[];
  /** Further runs, written in the same transaction after this one; each was asked for in `WriteAsk.also`. */
  readonly also?: readonly Change[];
}

export interface WriteAsk<Value, Problem> {
  readonly runId: RunId;
  /** Lineage root where it is known to differ from the run's own row (a run about to be created as a fork). */
  readonly root?: RunId;
  /** Step keys whose ledger rows `decide` wants, or the whole lineage's; absent means none. */
  readonly effectKeys?: readonly StepKey[] | 'all';
  /** Steps whose rows `decide` wants; absent means none. */
  readonly stepKeys?: readonly StepKey[];
  readonly batch?: { readonly epoch: Epoch; readonly batch: number };
  readonly answerKey?: string;
  /** Further runs that the change may write (`Change.also`): under lock as well, and in the context. */
  readonly also?: readonly { readonly runId: RunId; readonly root: RunId }[];
  /**
   * `decide` gives the very same change whenever it is asked: a large one of new runs may then be written in parts that
   * nobody sees before the last one, so that it does not hold up others.
   */
  readonly inParts?: true;
  readonly assembly?: true;
  /** Collects console events after this seq into `others`. */
  readonly othersAfter?: Seq;
  /** References to look up for `missingPayloads` and `badReferences`. */
  readonly payloads?: readonly PayloadRef[];
  /**
   * Pure and synchronous; may be called again when the store retries. `change: undefined` writes nothing
   * (a repeated request gets its first answer).
   */
  readonly decide: (
    context: WriteContext,
  ) => Result<{ readonly value: Value; readonly change: Change | undefined }, Problem>;
}

export interface Journal {
  /**
   * Runs `decide` and stores its change, all or nothing, serialised against every other write of the run and of its
   * lineage's ledger. Resolves once the change is synced to disk. Several commits may share one sync.
   */
  commit<Value, Problem>(ask: WriteAsk<Value, Problem>): Promise<Result<Value, Problem>>;
}

/** The instant and the console's start that a status is judged by, as `statusNow` takes them. */
export interface JudgedAt {
  readonly now: EpochMs;
  readonly judgedFrom: EpochMs;
}

export interface RunFilter {
  readonly status?: readonly RunStatus[];
  readonly agent?: readonly string[];
  readonly notAgent?: readonly string[];
  /** Every one of them. */
  readonly tag?: readonly string[];
  /** None of them. */
  readonly notTag?: readonly string[];
  /** `sdk`, or the id of the importer. */
  readonly source?: readonly string[];
  readonly notSource?: readonly string[];
  /** Whether it has effects in doubt, as `doubtsOf` says. */
  readonly inDoubt?: boolean;
  /** Whether it stands until a person acts, as `needsPerson` says. */
  readonly attention?: boolean;
  /** Substring of id, agent, tag or failure text, case ignored. */
  readonly q?: string;
  readonly from?: EpochMs;
  readonly to?: EpochMs;
  /** Substring of the failure's text. */
  readonly failure?: string;
  readonly root?: RunId;
}

/** Where the next page of a list of runs begins: after the row with this sort value and insertion number. */
export interface RunCursor {
  readonly value: number | string;
  readonly key: number;
}

export interface RunPageAsk {
  readonly filter: RunFilter;
  /** Statuses are those of `statusNow` at this instant, in filter and order; absent: as they are stored. */
  readonly judged?: JudgedAt;
  readonly sort: 'updated' | 'created' | 'agent' | 'status';
  readonly descending: boolean;
  readonly cursor?: RunCursor;
  readonly limit: number;
}

export interface Page<Item, Cursor = string> {
  readonly items: readonly Item[];
  readonly total: number;
  readonly nextCursor: Cursor | undefined;
}

/** What a worker hosts. */
export interface ClaimableAsk {
  readonly agents: readonly { readonly name: string; readonly machineDigest: MachineDigest }[];
  readonly cursor?: RunCursor;
  readonly limit: number;
}

/** The runs that were forked or replayed from one run. */
export interface Children {
  readonly total: number;
  /** As many as were asked for, oldest first. */
  readonly newest: readonly {
    readonly runId: RunId;
    readonly mode: 'fork' | 'replay';
    readonly status: RunStatus;
  }[];
}

export interface EventRange {
  /** Exclusive. */
  readonly after?: Seq;
  /** Exclusive. */
  readonly before?: Seq;
  readonly limit: number;
  readonly kinds?: readonly EventKind[];
  /** Of `step.started`, only those that are intents. */
  readonly intents?: true;
  /** Newest first instead of ascending. */
  readonly descending?: boolean;
}

export interface Bucket {
  readonly fromSeq: Seq;
  readonly toSeq: Seq;
  readonly fromAt: EpochMs;
  readonly toAt: EpochMs;
  readonly events: number;
  readonly effects: number;
  readonly errors: number;
  readonly checkpoints: number;
}

export interface RunReader {
  run(id: RunId): Promise<RunRecord | undefined>;
  /** As it is committed at this very moment: what was read between two equal answers is of one edition. */
  edition(id: RunId): Promise<number | undefined>;
  runs(ask: RunPageAsk): Promise<Page<RunRecord, RunCursor>>;
  /**
   * Runs at home here that are stored as `running`, and `waiting` ones that still have a lease, oldest change first:
   * whom the judge looks at.
   */
  heldRuns(): Promise<readonly RunRecord[]>;
  /**
   * Runs that wait for just these workers (`wantedBy`), those that have waited longest first. Reads the rows that it
   * gives and no others, however many wait for other ones.
   */
  claimable(
    ask: ClaimableAsk,
  ): Promise<{ readonly items: readonly RunRecord[]; readonly nextCursor: RunCursor | undefined }>;
  /** Every run of a lineage, oldest first. */
  lineage(root: RunId): Promise<readonly RunRecord[]>;
  /** Of each of these runs its newest children, at most `limit`; a run that has none is left out. */
  children(of: readonly RunId[], limit: number, judged: JudgedAt): Promise<ReadonlyMap<RunId, Children>>;
  events(id: RunId, range: EventRange): Promise<readonly RunEvent[]>;
  /** Those of these seqs that the run has, ascending. */
  eventsAt(id: RunId, at: readonly Seq[]): Promise<readonly RunEvent[]>;
  buckets(id: RunId, n: number): Promise<readonly Bucket[]>;
  /** Rows of every line; `core` tells which are in force. `after` pages by `startedSeq`. */
  steps(id: RunId, page?: { readonly after?: Seq; readonly limit?: number }): Promise<readonly StepRecord[]>;
  step(id: RunId, key: StepKey): Promise<readonly StepRecord[]>;
  /** Rows of every line of these keys, in the order of `steps`. */
  stepsOf(id: RunId, keys: readonly StepKey[]): Promise<readonly StepRecord[]>;
  /** How many keys have a row that began in one of the segments, which are a run's path: what is in force there. */
  stepCount(id: RunId, path: readonly Segment[]): Promise<number>;
  checkpoints(id: RunId): Promise<readonly CheckpointRecord[]>;
  questions(id: RunId): Promise<readonly QuestionRecord[]>;
  effects(root: RunId): Promise<readonly EffectRecord[]>;
  /** The effects that one of these runs owns and whose page has to look at them (`isWatched`), in the order of `effects`. */
  watchedEffects(of: readonly RunId[]): Promise<readonly EffectRecord[]>;
  ledgerVersion(root: RunId): Promise<number>;
  /** What an assembled run is made of, by id; of these ids where they are given. */
  parts(id: RunId, ids?: readonly string[]): Promise<readonly PartRecord[]>;
  assembly(id: RunId): Promise<Assembly>;
  /** Newest snapshot at or before `at`. */
  snapshot(id: RunId, at: Seq): Promise<SnapshotRecord | undefined>;
  answer(key: string): Promise<AnswerRecord | undefined>;
}

export interface PayloadStore {
  /** Stores by content; what is there already is left. Synced when it resolves. */
  put(payloads: readonly Payload[]): Promise<void>;
  get(sha256: Sha256): Promise<Payload | undefined>;
  many(digests: readonly Sha256[]): Promise<ReadonlyMap<Sha256, Payload>>;
  missing(digests: readonly Sha256[]): Promise<readonly Sha256[]>;
  /**
   * Deletes what no event refers to, and has not since before `olderThan`: what was stored without one, and what the
   * cutting of a journal left behind. Returns the count.
   */
  sweep(olderThan: EpochMs): Promise<number>;
}

export interface MachineStore {
  put(digest: MachineDigest, machine: Machine): Promise<void>;
  get(digest: MachineDigest): Promise<Machine | undefined>;
}

export interface WorkerRecord {
  readonly workerId: WorkerId;
  readonly agents: readonly { readonly name: string; readonly machineDigest: MachineDigest }[];
  readonly firstSeenAt: EpochMs;
  readonly seenAt: EpochMs;
}

export interface WorkerStore {
  /** The first `firstSeenAt` stays. */
  seen(worker: WorkerRecord): Promise<void>;
  get(id: WorkerId): Promise<WorkerRecord | undefined>;
  /** Those seen at or after `since`, newest first. */
  list(since?: EpochMs): Promise<readonly WorkerRecord[]>;
  /** Forgets those not seen since; returns the count. */
  prune(unseenSince: EpochMs): Promise<number>;
}

/** Tells listeners in this process (and, with PostgreSQL, in others) that a run moved. */
export interface LiveFeed {
  publish(change: RunMoved): void;
  subscribe(listener: (change: RunMoved) => void): () => void;
}

export interface RunMoved {
  readonly runId: RunId;
  readonly headSeq: Seq;
  /** See `RunRecord`: another one than before means that nothing holds that was read of its journal. */
  readonly edition: number;
  /** As `statusNow` gives it: what list and page say. */
  readonly status: RunStatus;
  /** A worker may find something to do there: it is queued, or a probe was asked for. */
  readonly wanted: boolean;
}

export type Capability = 'resume' | 'rewind' | 'fork' | 'replay' | 'verify' | 'pause' | 'cancel' | 'answer';

/** A system that executes runs. The console asks `can`, never `id`. */
export interface EngineDriver {
  readonly id: string;
  readonly can: ReadonlySet<Capability>;
  /** A run became claimable, or a holder has something to hear: whoever long-polls is woken. */
  wake(runId: RunId): void;
  /** Resolves when something may have become claimable, or after `waitMs`. */
  waitForWork(waitMs: number, signal: AbortSignal): Promise<void>;
}

/** A record with its number, which says which came first. */
export type AuditEntry = AuditRecord & { readonly key: number };

export interface AuditFilter {
  readonly actor?: readonly string[];
  readonly action?: readonly AuditAction[];
  /** Actions that are left out. */
  readonly not?: readonly AuditAction[];
  readonly run?: RunId;
  /** Substring of actor, run id, reason, detail or plan digest, case ignored. */
  readonly q?: string;
  readonly from?: EpochMs;
  readonly to?: EpochMs;
}

/** Where the next page of the audit begins: after the row of this instant with this insertion number. */
export interface AuditCursor {
  readonly at: EpochMs;
  readonly key: number;
}

/**
 * Who did what, newest first. Orders get there by themselves, in the transaction that appends them (`auditedIn`);
 * what is about no journal is added.
 */
export interface AuditStore {
  add(record: AuditRecord): Promise<void>;
  list(ask: {
    readonly filter: AuditFilter;
    readonly cursor?: AuditCursor;
    readonly limit: number;
  }): Promise<Page<AuditEntry, AuditCursor>>;
}

/** A read-only link to one run. */
export interface ShareRecord {
  readonly id: string;
  readonly runId: RunId;
  readonly createdBy: string;
  readonly createdAt: EpochMs;
  readonly expiresAt: EpochMs;
  readonly revoked?: { readonly at: EpochMs; readonly by: string };
}

/** Links. A secret is never stored, only its SHA-256: what is looked up tells by its time nothing about a secret. */
export interface ShareStore {
  add(share: ShareRecord, secret: Sha256): Promise<void>;
  get(id: string): Promise<ShareRecord | undefined>;
  bySecret(secret: Sha256): Promise<ShareRecord | undefined>;
  /** Of one run, newest first, those that are over included. */
  of(runId: RunId): Promise<readonly ShareRecord[]>;
  /** False where there is no such link, or it was revoked before: the first one stays. */
  revoke(id: string, by: string, at: EpochMs): Promise<boolean>;
}

/** Everything a store offers, as one adapter builds it. */
export interface Store extends Journal, RunReader {
  readonly audit: AuditStore;
  readonly payloads: PayloadStore;
  readonly machines: MachineStore;
  readonly workers: WorkerStore;
  readonly shares: ShareStore;
  readonly feed: LiveFeed;
  readonly clock: Clock;
  close(): Promise<void>;
}

/** Something of a file that could not be read, or that it did not say and that was inferred. `path` as `$[3].tasks`. */
export interface ImportWarning {
  readonly path: string;
  readonly message: string;
}

/** A run as a file holds it: the whole journal from seq 1, with the payloads that it refers to. */
export interface ImportedRun {
  readonly runId: RunId;
  readonly root: RunId;
  readonly parent?: { readonly runId: RunId; readonly seq: Seq; readonly mode: 'fork' | 'replay' };
  /** Id of the format that it was first imported from, or `sdk`. */
  readonly source: string;
  readonly agent: string;
  readonly createdAt: EpochMs;
  readonly epoch: Epoch;
  /** Gapless from 1. */
  readonly events: readonly RunEvent[];
  /** By digest; what the journal refers to and the file holds. */
  readonly payloads: ReadonlyMap<Sha256, Payload>;
  /** Absent of what is assembled from parts: its journal names none, and shows what it did. */
  readonly machine?: { readonly digest: MachineDigest; readonly machine: Machine };
  /** Digest of the state at the head where the file's writer folded it; compared with ours. */
  readonly headDigest?: Sha256;
  /**
   * How a later file of the same run is joined to what is stored. `exact`: seqs are the file's own, so the stored journal
   * must be a prefix. `late-parts`: seqs are this importer's; what is new is appended, wherever the file has it.
   * `assembled`: what all its parts make; the stored journal is replaced from the first difference on. Its events are
   * stored as they are: nothing is filled in, so what `extend` would fill in (a checkpoint's name, visit and places, what
   * a step had been that is started again) is the importer's; it has no `run.rewound`.
   */
  readonly growth: 'exact' | 'late-parts' | 'assembled';
}

export interface Imported {
  /** A fork comes after the run that it was forked from. */
  readonly runs: readonly ImportedRun[];
  readonly warnings: readonly ImportWarning[];
}

/** Why a file is refused whole. `path` is a JSON path, `line 12` or `byte 4096`. */
export type ImportProblem =
  | { readonly kind: 'malformed'; readonly path: string; readonly message: string }
  | {
      readonly kind: 'limit';
      readonly limit: 'depth';
      readonly max: number;
      readonly path: string;
      readonly message: string;
    };

export interface ImportTools {
  readonly hash: Hash;
  /** Deepest nesting of JSON that is read. */
  readonly maxDepth: number;
}

/** A format. Adding one is a folder under `lib/ingest` and a line in its registry. */
interface Format {
  /** Stays with every run as `source`; also the value of `?format=`. */
  readonly id: string;
  /** For people, in the list of known formats. */
  readonly title: string;
  /** By content; `head` is the beginning of the file (up to 64 KiB) as text. Must not throw. */
  recognises(head: string, contentType: string): boolean;
}

/** Reads files that hold whole runs. */
export interface FileImporter extends Format {
  readonly kind: 'file';
  /** Pure: the same bytes give the same runs with the same ids. Never throws on any input. */
  decode(bytes: Uint8Array, tools: ImportTools): Result<Imported, ImportProblem>;
}

/** A part of a run as a file holds it, under an id that is unique within the run: a span, say. */
export interface ImportedPart {
  readonly runId: RunId;
  readonly id: string;
  readonly body: Uint8Array;
}

/** What a file of parts holds. */
export interface SplitParts {
  readonly parts: readonly ImportedPart[];
  readonly warnings: readonly ImportWarning[];
  /** Parts that could not be read; a warning names each. */
  readonly rejected: number;
}

/** A run that was made of its parts. */
export interface Assembled {
  readonly run: ImportedRun;
  readonly warnings: readonly ImportWarning[];
}

/** Reads files that hold parts of runs, which come in any order, over any time, in several files. */
export interface PartsImporter extends Format {
  readonly kind: 'parts';
  /**
   * Splits bytes into parts. Never throws. What cannot be read is a warning with its place; only bytes that are no such
   * file at all are refused.
   */
  split(bytes: Uint8Array, contentType: string, tools: ImportTools): Result<SplitParts, ImportProblem>;
  /** The run that these parts make. Pure, in no way dependent on their order; never throws on parts that `split` gave. */
  assemble(runId: RunId, parts: readonly Pick<ImportedPart, 'id' | 'body'>[], tools: ImportTools): Assembled;
}

export type Importer = FileImporter | PartsImporter;
