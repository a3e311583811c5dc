import { type EpochMs, type RunId, type Seq, type Sha256, type StepKey, seq } from '@/lib/core/events/ids';
import type { Hash, Payload } from '@/lib/core/events/payload';
import { payloadRefsOf } from '@/lib/core/events/payload-refs';
import type { EventOf, RunEvent } from '@/lib/core/events/run-event';
import { type Draft, type Extension, extend } from '@/lib/core/journal/extend';
import { newRun } from '@/lib/core/journal/new-run';
import {
  callsIn,
  decidedOn,
  effectKeysOf,
  isUnsettled,
  ledgerChanges,
  ledgerOf,
  putInLedger,
} from '@/lib/core/projections/ledger';
import type {
  CheckpointRecord,
  EffectRecord,
  QuestionRecord,
  RunRecord,
  RunState,
  RunStatus,
  StepRecord,
} from '@/lib/core/projections/records';
import { emptyState, foldRun } from '@/lib/core/projections/run-state';
import { statusNow } from '@/lib/core/projections/run-status';
import { assertDefined } from '@/lib/core/shared/assert';
import { fail, ok, type Result } from '@/lib/core/shared/result';
import type { UsecaseDeps } from './deps';
import { stateDigest } from './export-run';
import { type Joined, type JoinProblem, joinImport, placed } from './join-import';
import { pace, slices } from './pace';
import type {
  Change,
  Imported,
  ImportedRun,
  Importer,
  ImportProblem,
  ImportWarning,
  SnapshotRecord,
} from './ports';
import { eventPages } from './state-at';
import { unbegun } from './unbegun';

export interface UploadedRun {
  readonly runId: RunId;
  /** Id of the importer that read it. */
  readonly format: string;
  readonly status: RunStatus;
  readonly events: number;
  /** Distinct step keys. */
  readonly steps: number;
  readonly checkpoints: number;
  /** Events that this upload added. */
  readonly added: number;
}

export interface Upload {
  readonly runs: readonly UploadedRun[];
  readonly warnings: readonly ImportWarning[];
  /** Whether a run was made; else every run was known before. */
  readonly created: boolean;
}

export type ImportTracesProblem =
  | {
      readonly kind: 'unknown-format';
      readonly detail: string;
      readonly known: readonly { readonly format: string; readonly title: string }[];
    }
  | { readonly kind: 'malformed'; readonly detail: string; readonly errors: readonly ImportWarning[] }
  | {
      readonly kind: 'too-deep';
      readonly limit: 'depth';
      readonly limitDepth: number;
      readonly detail: string;
      readonly errors: readonly ImportWarning[];
    }
  | { readonly kind: 'differs'; readonly detail: string; readonly runId: RunId; readonly seq: number }
  | { readonly kind: 'home-here'; readonly detail: string; readonly runId: RunId; readonly headSeq: number };

export type ImportTracesDeps = Pick<UsecaseDeps, 'store' | 'hash' | 'judgedFrom'> & {
  readonly importers: readonly Importer[];
  /** Deepest nesting of JSON in a file. */
  readonly maxImportDepth: number;
  /** Decodes a file; absent: here and at once, which holds the event loop for as long as it takes. */
  readonly decode?: DecodeFile;
};

/** Reads a file with an importer, perhaps in another thread; `bytes` are given away. */
export type DecodeFile = (
  importer: Importer,
  bytes: Uint8Array,
  maxDepth: number,
) => Promise<Result<Imported, ImportProblem>>;

const HEAD_BYTES = 65_536;
const EVENTS_AT_ONCE = 1_000;

/**
 * Stores the runs of a file as mirrors, all of them in one transaction or none. What is stored already is left, what is
 * new of a known run is appended.
 */
export async function importTraces(
  deps: ImportTracesDeps,
  ask: { readonly bytes: Uint8Array; readonly contentType: string; readonly format?: string },
): Promise<Result<Upload, ImportTracesProblem>> {
  if (ask.bytes.byteLength === 0) {
    const empty = { path: 'body', message: 'the body is empty' };
    return fail({ kind: 'malformed', detail: 'The body is empty.', errors: [empty] });
  }
  const importer = importerFor(deps.importers, ask);
  if (!importer.ok) return importer;
  const decode = deps.decode ?? decodeHere(deps.hash);
  const decoded = await decode(importer.value, ask.bytes, deps.maxImportDepth);
  if (!decoded.ok) {
    const { path, message } = decoded.problem;
    const detail = `${path}: ${message}`;
    const errors = [{ path, message }];
    return decoded.problem.kind === 'limit'
      ? fail({ kind: 'too-deep', limit: 'depth', limitDepth: decoded.problem.max, detail, errors })
      : fail({ kind: 'malformed', detail, errors });
  }
  // One at a time, so that uploads of one thread rarely race; where another process has the same store they may.
  return turn(deps.store, async () => {
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const stored = await storeRuns(deps, importer.value.id, decoded.value);
      if (stored.ok || stored.problem.kind !== 'moved') return stored as Result<Upload, ImportTracesProblem>;
    }
    throw new Error('The runs of an upload kept moving while they were joined');
  });
}

const decodeHere =
  (hash: Hash): DecodeFile =>
  async (importer, bytes, maxDepth) =>
    importer.decode(bytes, { hash, maxDepth });

const MOST_TRIES = 10;
/** Somebody else wrote one of the runs since they were read. */
interface Moved {
  readonly kind: 'moved';
}

function importerFor(
  importers: readonly Importer[],
  ask: { readonly bytes: Uint8Array; readonly contentType: string; readonly format?: string },
): Result<Importer, ImportTracesProblem> {
  const known = importers.map(({ id, title }) => ({ format: id, title }));
  const list = known.map(({ format, title }) => `${format} (${title})`).join(', ');
  if (ask.format !== undefined) {
    const named = importers.find(({ id }) => id === ask.format);
    return named === undefined
      ? fail({ kind: 'unknown-format', known, detail: `The format is not known. Known are: ${list}.` })
      : ok(named);
  }
  const head = new TextDecoder().decode(ask.bytes.subarray(0, HEAD_BYTES));
  const found = importers.find((importer) => importer.recognises(head, ask.contentType));
  return found === undefined
    ? fail({
        kind: 'unknown-format',
        known,
        detail: `The content is of no known format. Known are: ${list}.`,
      })
    : ok(found);
}

const turns = new WeakMap<object, Promise<unknown>>();

/** Runs `work` after all that took a turn on the same store before. */
function turn<Value>(store: object, work: () => Promise<Value>): Promise<Value> {
  const before = turns.get(store) ?? Promise.resolve();
  const mine = before.then(work, work);
  turns.set(
    store,
    mine.catch(() => undefined),
  );
  return mine;
}

/** One of the file's runs beside what is stored of it. */
interface Plan {
  readonly run: ImportedRun;
  readonly record: RunRecord | undefined;
  readonly stored: readonly RunEvent[];
  readonly joined: Joined;
}

async function storeRuns(
  deps: ImportTracesDeps,
  format: string,
  file: Imported,
): Promise<Result<Upload, ImportTracesProblem | Moved>> {
  const warnings = [...file.warnings];
  const plans = new Map<RunId, Plan>();
  for (const run of file.runs) {
    const record = await deps.store.run(run.runId);
    const stored = record === undefined ? [] : await journalOf(deps, record);
    const joined = await joinImport(run, record, stored);
    if (!joined.ok) return fail(explained(joined.problem));
    if (joined.value.older)
      warnings.push({
        path: `run ${run.runId}`,
        message: 'more of this run is stored already than the file holds',
      });
    plans.set(run.runId, { run, record, stored, joined: joined.value });
  }
  for (const { run } of plans.values())
    if (run.machine !== undefined) await deps.store.machines.put(run.machine.digest, run.machine.machine);

  const growing = [...plans.values()].filter(({ joined }) => joined.fresh.length > 0);
  const written = await write(deps, growing, plans, warnings);
  if (!written.ok) return written;
  const runs: UploadedRun[] = [];
  for (const plan of plans.values()) {
    const change = written.value.get(plan.run.runId);
    if (change !== undefined) warnings.push(...checked(plan, change, deps));
    const record = change?.run ?? assertDefined(plan.record, 'a run that does not grow is stored');
    runs.push(await uploaded(format, record, [plan.stored, change?.events ?? []], deps));
  }
  return ok({ runs, warnings, created: [...plans.values()].some(({ record }) => record === undefined) });
}

async function journalOf({ store }: ImportTracesDeps, record: RunRecord): Promise<readonly RunEvent[]> {
  const events: RunEvent[] = [];
  const turn = pace();
  for await (const page of eventPages(store, record.runId, seq(0), record.headSeq)) {
    events.push(...page);
    await turn();
  }
  if (events.length < record.headSeq)
    throw new Error(`Broken invariant: the journal of ${record.runId} ends before its head`);
  return events;
}

type Written = ReadonlyMap<RunId, Change>;

/** What the runs become is worked out before the commit, in turns of the loop, and holds if nobody moved meanwhile. */
async function write(
  deps: ImportTracesDeps,
  growing: readonly Plan[],
  plans: ReadonlyMap<RunId, Plan>,
  warnings: ImportWarning[],
): Promise<Result<Written, ImportTracesProblem | Moved>> {
  const [first, ...rest] = growing;
  if (first === undefined) return ok(new Map());
  const ledgerVersion = await deps.store.ledgerVersion(first.run.root);
  const changes = new Map<RunId, Change>();
  // Rows of one lineage see each other's effects.
  const lineages = new Map<RunId, Lineage>();
  for (const plan of growing) {
    const { root } = plan.run;
    const lineage = lineages.get(root) ?? (await lineageOf(deps, root));
    lineages.set(root, lineage);
    const change = await changeOf(plan, lineage, deps.store.clock.now(), plans);
    if (!change.ok) return change;
    changes.set(plan.run.runId, change.value);
    warnings.push(...withoutEffect(change.value.events, lineage));
    warnings.push(...(await unbegun(plan.stored, change.value.events)));
  }
  for (const [root, lineage] of lineages) {
    const last = growing.findLast((plan) => plan.run.root === root);
    const change = last && changes.get(last.run.runId);
    if (change === undefined) continue;
    const settled = await decidedBefore(deps, lineage, [...changes.values()]);
    if (settled.length > 0)
      changes.set(change.run.runId, { ...change, effects: [...change.effects, ...settled] });
  }
  const changed = (plan: Plan) =>
    assertDefined(changes.get(plan.run.runId), 'every growing run was extended');
  const change: Change = {
    ...changed(first),
    ...(rest.length === 0 ? {} : { also: rest.map(changed) }),
  };
  return deps.store.commit<Written, Moved>({
    runId: first.run.runId,
    root: first.run.root,
    also: rest.map(({ run: { runId, root } }) => ({ runId, root })),
    inParts: true,
    decide: ({ run, also, ledgerVersion: version }) => {
      const headOf = (plan: Plan) => (plan === first ? run : also.get(plan.run.runId))?.headSeq ?? 0;
      const moved =
        version !== ledgerVersion || growing.some((plan) => headOf(plan) !== (plan.record?.headSeq ?? 0));
      return moved ? fail({ kind: 'moved' }) : ok({ value: changes, change });
    },
  });
}

/** What is stored of a lineage, and its ledger, which goes on with what is imported. */
interface Lineage {
  readonly members: readonly RunRecord[];
  readonly ledger: Map<StepKey, readonly EffectRecord[]>;
  /** Its effects are decided here, in its own journal: no file settles them (promise 2). */
  readonly isOurs: (id: RunId) => boolean;
}

async function lineageOf({ store }: ImportTracesDeps, root: RunId): Promise<Lineage> {
  const members = await store.lineage(root);
  const ours = new Set(members.filter(({ home }) => home === 'here').map(({ runId }) => runId));
  return { members, ledger: ledgerOf(await store.effects(root)), isOurs: (id) => ours.has(id) };
}

type Decided = EventOf<'effect.decided'>;

/** Decisions of the file that change nothing here, by name. */
const withoutEffect = (events: readonly RunEvent[], { ledger, isOurs }: Lineage): readonly ImportWarning[] =>
  decisionsIn(events).flatMap(({ runId, seq, stepKey, decision }) => {
    const owner = decidedOn(ledger, runId, stepKey, decision.intentSeq)?.runId;
    return owner !== undefined && isOurs(owner)
      ? [
          {
            path: `run ${runId}, seq ${seq}`,
            message: `decides ${stepKey} of run ${owner}, which has its home here: that changes nothing, decide it on run ${owner}`,
          },
        ]
      : [];
  });

const decisionsIn = (events: readonly RunEvent[]): readonly Decided[] =>
  events.filter(
    (event): event is Decided => event.kind === 'effect.decided' && event.inherited === undefined,
  );

/**
 * Rows of copies that another copy of the lineage decides on: its file may have come before that of the run which owns
 * the effect, and found nothing to decide then. So the order of uploads does not matter.
 */
async function decidedBefore(
  { store }: ImportTracesDeps,
  { members, ledger, isOurs }: Lineage,
  changes: readonly Change[],
): Promise<readonly EffectRecord[]> {
  if (![...ledger.values()].flat().flatMap(callsIn).some(isUnsettled)) return [];
  const decisions = changes.flatMap(({ events }) => decisionsIn(events));
  for (const { runId, headSeq, home } of members) {
    if (home === 'here') continue;
    for await (const page of eventPages(store, runId, seq(0), headSeq, ['effect.decided']))
      decisions.push(...decisionsIn(page));
  }
  decisions.sort(
    (a, b) => a.at - b.at || (a.runId < b.runId ? -1 : 1) * Number(a.runId !== b.runId) || a.seq - b.seq,
  );
  const settled: EffectRecord[] = [];
  for (const event of decisions) {
    const row = decidedOn(ledger, event.runId, event.stepKey, event.decision.intentSeq);
    if (row === undefined || !isUnsettled(row) || row.runId === event.runId) continue;
    for (const after of ledgerChanges(ledger, row.root, event, emptyState(), isOurs)) {
      putInLedger(ledger, after);
      settled.push(after);
    }
  }
  return settled;
}

const DRAFTS_AT_ONCE = 250;

/** The change that appends a plan's fresh events; `ledger` goes on with it. A journal that cannot be folded is the file's fault, not ours. */
async function changeOf(
  plan: Plan,
  { ledger, isOurs }: Lineage,
  now: EpochMs,
  plans: ReadonlyMap<RunId, Plan>,
): Promise<Result<Change, ImportTracesProblem>> {
  const { run } = plan;
  const { fresh } = plan.joined;
  const parent = run.parent === undefined ? undefined : plans.get(run.parent.runId);
  const ready = (event: RunEvent): Draft =>
    parent === undefined ? event : placed(event, parent.run.runId, parent.joined.placeOf);
  const base = plan.record ?? newMirror(run, plans);
  const turn = pace();
  let record: RunRecord = { ...base, epoch: run.epoch };
  const events: RunEvent[] = [];
  const checkpoints: CheckpointRecord[] = [];
  const snapshots: SnapshotRecord[] = [];
  const steps = new Map<string, StepRecord>();
  const questions = new Map<string, QuestionRecord>();
  const changedEffects = new Map<string, EffectRecord>();
  const payloads = new Map<Sha256, Payload>();
  const stateAt = (at: Seq): RunState => {
    if (at <= plan.stored.length) return foldRun(plan.stored.slice(0, at), emptyState(run.agent));
    const near = snapshots.findLast((snapshot) => snapshot.seq <= at);
    const from = near?.seq ?? plan.stored.length;
    return foldRun(
      events.slice(from - plan.stored.length, at - plan.stored.length),
      near?.state ?? base.state,
    );
  };
  for (let at = 0; at < fresh.length; ) {
    // A checkpoint is filled in by what comes after it, so the two stay together.
    let end = Math.min(at + DRAFTS_AT_ONCE, fresh.length);
    while (end < fresh.length && fresh[end - 1]?.kind === 'checkpoint.saved') end += 1;
    const together = fresh.slice(at, end).map(ready);
    const keys = effectKeysOf(together);
    const rows = keys === 'all' ? [...ledger.values()] : keys.map((key) => ledger.get(key) ?? []);
    let part: Extension;
    try {
      part = extend(
        record,
        rows.flat(),
        together,
        { at: now, epoch: run.epoch, by: 'worker' },
        { snapshotAtEnd: end === fresh.length, asRecorded: run.growth === 'exact', stateAt, isOurs },
      );
    } catch (error) {
      const message = `the journal contradicts itself: ${error instanceof Error ? error.message : String(error)}`;
      return fail({ kind: 'malformed', detail: message, errors: [{ path: `run ${run.runId}`, message }] });
    }
    record = part.run;
    events.push(...part.events);
    checkpoints.push(...part.checkpoints);
    snapshots.push(...part.snapshots);
    for (const step of part.steps) steps.set(`${step.line} ${step.stepKey}`, step);
    for (const question of part.questions) questions.set(`${question.line} ${question.questionId}`, question);
    for (const effect of part.effects) {
      putInLedger(ledger, effect);
      changedEffects.set(`${effect.generation} ${effect.stepKey}`, effect);
    }
    takePayloads(part.events, run, payloads);
    at = end;
    await turn();
  }
  return ok({
    run: record,
    events,
    payloads: [...payloads.values()],
    steps: [...steps.values()],
    effects: [...changedEffects.values()],
    questions: [...questions.values()],
    checkpoints,
    snapshots,
  });
}

function newMirror(run: ImportedRun, plans: ReadonlyMap<RunId, Plan>): RunRecord {
  const { parent } = run;
  const placeOf = parent === undefined ? undefined : plans.get(parent.runId)?.joined.placeOf;
  return newRun({
    runId: run.runId,
    agent: run.agent,
    createdAt: run.createdAt,
    root: run.root,
    ...(parent === undefined ? {} : { parent: { ...parent, seq: placeOf?.(parent.seq) ?? parent.seq } }),
    home: 'mirror',
    source: run.source,
  });
}

function takePayloads(events: readonly RunEvent[], run: ImportedRun, into: Map<Sha256, Payload>): void {
  for (const event of events) {
    for (const { sha256 } of payloadRefsOf(event)) {
      const payload = run.payloads.get(sha256);
      if (payload !== undefined) into.set(sha256, payload);
    }
  }
}

/** Whether the file's writer and this console fold the same state. */
function checked(plan: Plan, { run }: Change, deps: ImportTracesDeps): readonly ImportWarning[] {
  const { headDigest } = plan.run;
  if (headDigest === undefined || headDigest === stateDigest(run, deps.hash)) return [];
  const message =
    'the state folded here has another digest than the one in the file: it was written by another version of Rerail';
  return [{ path: 'line 1, $.headDigest', message }];
}

async function uploaded(
  format: string,
  record: RunRecord,
  journal: readonly [before: readonly RunEvent[], added: readonly RunEvent[]],
  deps: ImportTracesDeps,
): Promise<UploadedRun> {
  const steps = new Set<string>();
  let checkpoints = 0;
  const turn = pace();
  for (const part of journal.flatMap((events) => [...slices(events, EVENTS_AT_ONCE)])) {
    for (const event of part) {
      if (event.kind === 'step.started' || event.kind === 'step.reused' || event.kind === 'step.skipped')
        steps.add(event.stepKey);
      else if (event.kind === 'checkpoint.saved') checkpoints += 1;
    }
    await turn();
  }
  return {
    runId: record.runId,
    format,
    status: statusNow(record, deps.store.clock.now(), deps.judgedFrom),
    events: record.headSeq,
    steps: steps.size,
    checkpoints,
    added: journal[1].length,
  };
}

function explained(problem: JoinProblem): ImportTracesProblem {
  switch (problem.kind) {
    case 'differs':
      return {
        ...problem,
        detail: `Run ${problem.runId} is stored with another content from seq ${problem.seq} on.`,
      };
    case 'home-here':
      return {
        ...problem,
        detail: `Run ${problem.runId} has its home here and the file differs from its journal; nothing was changed.`,
      };
  }
}
