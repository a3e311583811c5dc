import { type EpochMs, type RunId, seq } from '@/lib/core/events/ids';
import type { EventOf, RunEvent } from '@/lib/core/events/run-event';
import type { Draft } from '@/lib/core/journal/extend';
import { newRun } from '@/lib/core/journal/new-run';
import { callsIn, decidedOn, isUnsettled, ledgerChanges, putInLedger } from '@/lib/core/projections/ledger';
import type { EffectRecord, RunRecord } from '@/lib/core/projections/records';
import { emptyState, foldRun } from '@/lib/core/projections/run-state';
import { statusNow } from '@/lib/core/projections/run-status';
import { assertDefined, assertNever } from '@/lib/core/shared/assert';
import { fail, ok, type Result } from '@/lib/core/shared/result';
import { stateDigest } from './export-run';
import { type Growth, grow, type Lineage, lineageOf } from './grow-run';
import { importParts } from './import-parts';
import { type Joined, type JoinProblem, joinImport, placed } from './join-import';
import { pace, slices } from './pace';
import type { Change, FileImporter, Imported, ImportedRun, Importer, ImportWarning } from './ports';
import { eventPages } from './state-at';
import { unbegun } from './unbegun';
import {
  type ImportTracesDeps,
  type ImportTracesProblem,
  MOST_TRIES,
  type Moved,
  readHere,
  turn,
  type Upload,
  type UploadAsk,
  type UploadedRun,
  unreadable,
} from './upload';

const HEAD_BYTES = 65_536;
const EVENTS_AT_ONCE = 1_000;

/**
 * Stores the runs of a file as mirrors, all of them in one transaction or none. What is stored already is left, what is
 * new of a known run is appended.
 */
export async function importTraces(
  deps: ImportTracesDeps,
  ask: UploadAsk,
): Promise<Result<Upload, ImportTracesProblem>> {
  if (ask.bytes.byteLength === 0) {
    const empty = { path: 'body', message: 'the body is empty' };
    return fail({ kind: 'malformed', detail: 'The body is empty.', errors: [empty] });
  }
  const importer = importerFor(deps.importers, ask);
  if (!importer.ok) return importer;
  switch (importer.value.kind) {
    case 'file':
      return importFile(deps, importer.value, ask.bytes);
    case 'parts':
      return importParts(deps, importer.value, ask);
    default:
      return assertNever(importer.value, 'importer');
  }
}

async function importFile(
  deps: ImportTracesDeps,
  importer: FileImporter,
  bytes: Uint8Array,
): Promise<Result<Upload, ImportTracesProblem>> {
  const decoded = await (deps.files ?? readHere(deps.hash)).decode(importer, bytes, deps.maxImportDepth);
  if (!decoded.ok) return fail(unreadable(decoded.problem));
  // One at a time, so that uploads of one thread rarely race; where another process has the same store they may.
  return turn(deps.store, async () => {
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const stored = await storeRuns(deps, importer.id, decoded.value);
      if (stored.ok || stored.problem.kind !== 'moved') return stored as Result<Upload, ImportTracesProblem>;
    }
    throw new Error('The runs of an upload kept moving while they were joined');
  });
}

function importerFor(
  importers: readonly Importer[],
  ask: { readonly bytes: Uint8Array; readonly contentType: string; readonly format?: string },
): Result<Importer, ImportTracesProblem> {
  const known = importers.map(({ id, title }) => ({ format: id, title }));
  const list = known.map(({ format, title }) => `${format} (${title})`).join(', ');
  const unknown = (detail: string, path: string, message: string) =>
    fail({
      kind: 'unknown-format',
      known,
      detail: `${detail} Known are: ${list}.`,
      errors: [{ path, message }],
    } as const);
  if (ask.format !== undefined) {
    const named = importers.find(({ id }) => id === ask.format);
    return named === undefined
      ? unknown('The format is not known.', 'query.format', 'is no known format')
      : ok(named);
  }
  const head = new TextDecoder().decode(ask.bytes.subarray(0, HEAD_BYTES));
  const found = importers.find((importer) => importer.recognises(head, ask.contentType));
  return found === undefined
    ? unknown('The content is of no known format.', 'body', 'begins like no known format')
    : ok(found);
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
    if (record !== undefined && joined.value.fresh.length > 0 && (await isAssembled(deps, run.runId)))
      return fail(assembledHere(record));
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
  return ok({
    runs,
    warnings,
    created: [...plans.values()].some(({ record }) => record === undefined),
    rejected: 0,
  });
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

const isAssembled = async ({ store }: ImportTracesDeps, id: RunId): Promise<boolean> =>
  (await store.assembly(id)).parts > 0;

const assembledHere = ({ runId, headSeq }: RunRecord): ImportTracesProblem => ({
  kind: 'differs',
  runId,
  seq: headSeq + 1,
  detail: `Run ${runId} is assembled here from the parts that were sent: it grows by parts, not by a file with a longer journal.`,
});

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

/** The change that appends a plan's fresh events; the lineage's ledger goes on with it. */
async function changeOf(
  plan: Plan,
  lineage: Lineage,
  now: EpochMs,
  plans: ReadonlyMap<RunId, Plan>,
): Promise<Result<Change, ImportTracesProblem>> {
  const { run, stored } = plan;
  const parent = run.parent === undefined ? undefined : plans.get(run.parent.runId);
  const ready = (event: RunEvent): Draft =>
    parent === undefined ? event : placed(event, parent.run.runId, parent.joined.placeOf);
  const growth: Growth = {
    run,
    base: plan.record ?? newMirror(run, plans),
    fresh: plan.joined.fresh,
    ready,
    stateAt: (at) => foldRun(stored.slice(0, at), emptyState(run.agent)),
  };
  return grow(growth, lineage, now);
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
