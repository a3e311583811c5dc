import type { EpochMs, RunId, Sha256 } from '@/lib/core/events/ids';
import type { Payload } from '@/lib/core/events/payload';
import { payloadRefsOf } from '@/lib/core/events/payload-refs';
import type { RunEvent } from '@/lib/core/events/run-event';
import { type Draft, type Extension, extend } from '@/lib/core/journal/extend';
import { newRun } from '@/lib/core/journal/new-run';
import type { EffectRecord, RunRecord, RunStatus } from '@/lib/core/projections/records';
import { emptyState, foldRun, statusNow } from '@/lib/core/projections/run-state';
import { assertDefined } from '@/lib/core/shared/assert';
import { fail, ok, type Result } from '@/lib/core/shared/result';
import type { UsecaseDeps } from './deps';
import { stateDigest } from './export-run';
import { type Joined, type JoinProblem, joinImport, placed } from './join-import';
import type { Change, Imported, ImportedRun, Importer, ImportWarning } from './ports';

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
};

const HEAD_BYTES = 65_536;
const EVENTS_AT_ONCE = 5_000;

/**
 * Stores the runs of a file as mirrors, all of them in one transaction or none. What is stored already is left, what is
 * new of a known run is appended.
 */
export async function importTraces(
  deps: ImportTracesDeps,
  ask: { readonly bytes: Uint8Array; readonly contentType: string; readonly format?: string },
): Promise<Result<Upload, ImportTracesProblem>> {
  const importer = importerFor(deps.importers, ask);
  if (!importer.ok) return importer;
  const decoded = importer.value.decode(ask.bytes, { hash: deps.hash, maxDepth: deps.maxImportDepth });
  if (!decoded.ok) {
    const { path, message } = decoded.problem;
    const detail = `${path}: ${message}`;
    const errors = [{ path, message }];
    return decoded.problem.kind === 'limit'
      ? fail({ kind: 'too-deep', limit: 'depth', limitDepth: decoded.problem.max, detail, errors })
      : fail({ kind: 'malformed', detail, errors });
  }
  // One at a time: two uploads of one thread would otherwise race for runs that neither has stored yet.
  return turn(deps.store, () => storeRuns(deps, importer.value.id, decoded.value));
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
  readonly drafts: readonly Draft[];
}

async function storeRuns(
  deps: ImportTracesDeps,
  format: string,
  file: Imported,
): Promise<Result<Upload, ImportTracesProblem>> {
  const warnings = [...file.warnings];
  const plans = new Map<RunId, Plan>();
  for (const run of file.runs) {
    const record = await deps.store.run(run.runId);
    const stored = record === undefined ? [] : await journalOf(deps, record);
    const joined = joinImport(run, record, stored);
    if (!joined.ok) return fail(explained(joined.problem));
    if (joined.value.older)
      warnings.push({
        path: `run ${run.runId}`,
        message: 'more of this run is stored already than the file holds',
      });
    const parent = run.parent === undefined ? undefined : plans.get(run.parent.runId);
    const drafts = joined.value.fresh.map((draft) =>
      parent === undefined ? draft : placed(draft, parent.run.runId, parent.joined.placeOf),
    );
    plans.set(run.runId, { run, record, stored, joined: joined.value, drafts });
  }
  for (const { run } of plans.values())
    if (run.machine !== undefined) await deps.store.machines.put(run.machine.digest, run.machine.machine);

  const growing = [...plans.values()].filter(({ drafts }) => drafts.length > 0);
  const written = await write(deps, growing, plans);
  if (!written.ok) return written;
  const runs: UploadedRun[] = [];
  for (const plan of plans.values()) {
    const extension = written.value.get(plan.run.runId);
    if (extension !== undefined) warnings.push(...checked(plan, extension, deps));
    const record = extension?.run ?? assertDefined(plan.record, 'a run that does not grow is stored');
    runs.push(uploaded(format, record, [plan.stored, extension?.events ?? []], deps));
  }
  return ok({ runs, warnings, created: [...plans.values()].some(({ record }) => record === undefined) });
}

async function journalOf({ store }: ImportTracesDeps, record: RunRecord): Promise<readonly RunEvent[]> {
  const events: RunEvent[] = [];
  while (events.length < record.headSeq) {
    const page = await store.events(record.runId, {
      after: events.length as RunRecord['headSeq'],
      before: (record.headSeq + 1) as RunRecord['headSeq'],
      limit: EVENTS_AT_ONCE,
    });
    if (page.length === 0)
      throw new Error(`Broken invariant: the journal of ${record.runId} ends before its head`);
    events.push(...page);
  }
  return events;
}

type Written = ReadonlyMap<RunId, Extension>;

/** All in one commit. A journal that cannot be folded is the file's fault, not ours. */
async function write(
  deps: ImportTracesDeps,
  growing: readonly Plan[],
  plans: ReadonlyMap<RunId, Plan>,
): Promise<Result<Written, ImportTracesProblem>> {
  const [first, ...rest] = growing;
  if (first === undefined) return ok(new Map());
  // Rows of one lineage see each other's effects; a file holds runs of few lineages.
  return deps.store.commit<Written, ImportTracesProblem>({
    runId: first.run.runId,
    root: first.run.root,
    effectKeys: 'all',
    decide: ({ now, effects, run }) => {
      if ((run?.headSeq ?? 0) !== (first.record?.headSeq ?? 0)) {
        throw new Error(
          `Broken invariant: run ${first.run.runId} was written by something else than an upload`,
        );
      }
      const extensions = new Map<RunId, Extension>();
      let ledger = effects;
      for (const plan of growing) {
        const extension = extended(plan, ledger, now, plans);
        if (!extension.ok) return extension;
        extensions.set(plan.run.runId, extension.value);
        ledger = merged(ledger, extension.value.effects);
      }
      const changeOf = (plan: Plan): Change => {
        const extension = assertDefined(extensions.get(plan.run.runId), 'every growing run was extended');
        return { ...extension, payloads: payloadsFor(extension.events, plan.run) };
      };
      const change: Change = {
        ...changeOf(first),
        ...(rest.length === 0 ? {} : { also: rest.map(changeOf) }),
      };
      return ok({ value: extensions, change });
    },
  });
}

function extended(
  plan: Plan,
  effects: readonly EffectRecord[],
  now: EpochMs,
  plans: ReadonlyMap<RunId, Plan>,
): Result<Extension, ImportTracesProblem> {
  const { run } = plan;
  const parent = run.parent;
  const placeOf = parent === undefined ? undefined : plans.get(parent.runId)?.joined.placeOf;
  const base =
    plan.record ??
    newRun({
      runId: run.runId,
      agent: run.agent,
      createdAt: run.createdAt,
      root: run.root,
      ...(parent === undefined ? {} : { parent: { ...parent, seq: placeOf?.(parent.seq) ?? parent.seq } }),
      home: 'mirror',
      source: run.source,
    });
  const own = effects.filter((effect) => effect.root === run.root);
  try {
    const extension = extend(
      { ...base, epoch: run.epoch },
      own,
      plan.drafts,
      { at: now, epoch: run.epoch, by: 'worker' },
      {
        snapshotAtEnd: true,
        asRecorded: run.growth === 'exact',
        stateAt: (at) => foldRun(plan.stored.slice(0, at), emptyState(run.agent)),
      },
    );
    return ok(extension);
  } catch (error) {
    const message = `the journal contradicts itself: ${error instanceof Error ? error.message : String(error)}`;
    return fail({ kind: 'malformed', detail: message, errors: [{ path: `run ${run.runId}`, message }] });
  }
}

function merged(ledger: readonly EffectRecord[], changed: readonly EffectRecord[]): readonly EffectRecord[] {
  if (changed.length === 0) return ledger;
  const key = (effect: EffectRecord) => `${effect.generation} ${effect.stepKey} ${effect.root}`;
  return [...new Map([...ledger, ...changed].map((effect) => [key(effect), effect])).values()];
}

function payloadsFor(events: readonly RunEvent[], run: ImportedRun): readonly Payload[] {
  const needed = new Map<Sha256, Payload>();
  for (const event of events) {
    for (const { sha256 } of payloadRefsOf(event)) {
      const payload = run.payloads.get(sha256);
      if (payload !== undefined) needed.set(sha256, payload);
    }
  }
  return [...needed.values()];
}

/** Whether the file's writer and this console fold the same state. */
function checked(plan: Plan, { run }: Extension, deps: ImportTracesDeps): readonly ImportWarning[] {
  const { headDigest } = plan.run;
  if (headDigest === undefined || headDigest === stateDigest(run, deps.hash)) return [];
  const message =
    'the state folded here has another digest than the one in the file: it was written by another version of Rerail';
  return [{ path: 'line 1, $.headDigest', message }];
}

function uploaded(
  format: string,
  record: RunRecord,
  [before, added]: readonly [readonly RunEvent[], readonly RunEvent[]],
  deps: ImportTracesDeps,
): UploadedRun {
  const steps = new Set<string>();
  let checkpoints = 0;
  for (const event of [...before, ...added]) {
    if (event.kind === 'step.started' || event.kind === 'step.reused' || event.kind === 'step.skipped')
      steps.add(event.stepKey);
    else if (event.kind === 'checkpoint.saved') checkpoints += 1;
  }
  return {
    runId: record.runId,
    format,
    status: statusNow(record, deps.store.clock.now(), deps.judgedFrom),
    events: record.headSeq,
    steps: steps.size,
    checkpoints,
    added: added.length,
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
