import type { RunId } from '@/lib/core/events/ids';
import { segmentsAt } from '@/lib/core/projections/effective-path';
import type { RunRecord } from '@/lib/core/projections/records';
import { statusNow } from '@/lib/core/projections/run-status';
import { assertDefined } from '@/lib/core/shared/assert';
import { fail, ok, type Result } from '@/lib/core/shared/result';
import { forgetPrints, printsOfRun, rememberPrints } from './known-prints';
import type {
  Assembly,
  Change,
  ImportedPart,
  ImportWarning,
  PartRecord,
  PartsImporter,
  SplitParts,
} from './ports';
import { rewritten } from './rewrite-run';
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

/** A request whose parts wait for their turn. */
interface Waiting {
  readonly split: SplitParts;
  readonly asTheyCome: boolean;
  readonly settle: (answer: Promise<Result<Upload, ImportTracesProblem>>) => void;
}

const waiting = new WeakMap<object, Map<string, Waiting[]>>();

/**
 * Adds the parts of a file to their runs, and assembles the journals anew: all of it in one transaction, or nothing.
 * Requests that wait for their turn go together, so that a run is assembled once for all of them.
 */
export async function importParts(
  deps: ImportTracesDeps,
  importer: PartsImporter,
  { bytes, contentType, asTheyCome }: UploadAsk,
): Promise<Result<Upload, ImportTracesProblem>> {
  const files = deps.files ?? readHere(deps.hash);
  const split = await files.split(importer, { bytes, contentType }, deps.maxImportDepth);
  if (!split.ok) return fail(unreadable(split.problem));
  const queues = waiting.get(deps.store) ?? new Map<string, Waiting[]>();
  waiting.set(deps.store, queues);
  const kind = `${importer.id} ${asTheyCome === true}`;
  const queue = queues.get(kind) ?? [];
  queues.set(kind, queue);
  return new Promise((resolve) => {
    queue.push({ split: split.value, asTheyCome: asTheyCome === true, settle: resolve });
    turn(deps.store, () => addTogether(deps, importer, queue.splice(0))).catch(() => undefined);
  });
}

/** What one request brings is not refused for what another one brings: then each goes alone. */
async function addTogether(
  deps: ImportTracesDeps,
  importer: PartsImporter,
  group: readonly Waiting[],
): Promise<void> {
  if (group.length === 0) return;
  const adding = add(deps, importer, group);
  const answers = await adding.catch(() => undefined);
  if (answers?.ok === true) {
    for (const [i, one] of group.entries())
      one.settle(Promise.resolve(ok(assertDefined(answers.value[i], 'each request has its answer'))));
    return;
  }
  for (const one of group) {
    const alone = (group.length === 1 ? adding : add(deps, importer, [one])).then((answer) =>
      answer.ok ? ok(assertDefined(answer.value[0], 'the request has its answer')) : answer,
    );
    one.settle(alone);
    await alone.catch(() => undefined);
  }
}

async function add(
  deps: ImportTracesDeps,
  importer: PartsImporter,
  group: readonly Waiting[],
): Promise<Result<readonly Upload[], ImportTracesProblem>> {
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const added = await addOnce(deps, importer, group);
    if (added.ok || added.problem.kind !== 'moved')
      return added as Result<readonly Upload[], ImportTracesProblem>;
  }
  throw new Error('The runs of an upload kept moving while their parts were added');
}

/** One run as the group's parts would have it. */
interface Grown {
  readonly before: RunRecord | undefined;
  readonly assembly: Assembly | undefined;
  readonly change: Change | undefined;
  /** After the commit. */
  readonly settled?: () => void;
}

async function addOnce(
  deps: ImportTracesDeps,
  importer: PartsImporter,
  group: readonly Waiting[],
): Promise<Result<readonly Upload[], ImportTracesProblem | Moved>> {
  const notes = group.map(({ split }) => ({ warnings: [...split.warnings], rejected: split.rejected }));
  const grown = new Map<RunId, Grown>();
  const refused = new Map<RunId, ImportTracesProblem>();
  for (const [id, byRequest] of partsByRun(group)) {
    const before = await deps.store.run(id);
    const assembly = before === undefined ? undefined : await deps.store.assembly(id);
    const barrier = before && assembly && refusal(importer, before, assembly);
    if (barrier !== undefined) {
      if (!group[0]?.asTheyCome) return fail(barrier);
      refused.set(id, barrier);
      for (const [i, parts] of byRequest) {
        notes[i]?.warnings.push({ path: `run ${id}`, message: barrier.detail });
        const note = notes[i];
        if (note !== undefined) note.rejected += parts.length;
      }
      continue;
    }
    const fresh = await freshParts(deps, id, before, byRequest, notes);
    if (fresh.length === 0) {
      grown.set(id, { before, assembly, change: undefined });
      continue;
    }
    const one = await grownBy(deps, importer, id, before, assembly, fresh);
    if (!one.ok) return one;
    grown.set(id, one.value);
    const first = assertDefined([...byRequest.keys()][0], 'a run has a part of some request');
    notes[first]?.warnings.push(
      ...one.value.warnings.filter(({ always }) => always || !group[0]?.asTheyCome),
    );
  }
  const written = await write(deps, grown);
  if (!written.ok) return written;
  for (const { settled } of grown.values()) settled?.();
  return ok(await answers(deps, importer, group, grown, notes));
}

/** Of every run, the parts that each request brings, by the request's place in the group. */
function partsByRun(
  group: readonly Waiting[],
): ReadonlyMap<RunId, ReadonlyMap<number, readonly ImportedPart[]>> {
  const runs = new Map<RunId, Map<number, ImportedPart[]>>();
  for (const [i, { split }] of group.entries()) {
    for (const part of split.parts) {
      const requests = runs.get(part.runId) ?? new Map<number, ImportedPart[]>();
      runs.set(part.runId, requests);
      const parts = requests.get(i) ?? [];
      requests.set(i, parts);
      parts.push(part);
    }
  }
  return runs;
}

/** Why a run takes no parts. */
function refusal(
  importer: PartsImporter,
  run: RunRecord,
  { parts }: Assembly,
): (ImportTracesProblem & { readonly kind: 'differs' | 'home-here' }) | undefined {
  const { runId, headSeq, home, source } = run;
  if (home === 'here')
    return {
      kind: 'home-here',
      runId,
      headSeq,
      detail: `Run ${runId} has its home here: nothing that is sent under its id is added to it.`,
    };
  if (source !== importer.id)
    return {
      kind: 'differs',
      runId,
      seq: 1,
      detail: `Run ${runId} is stored from another source, ${source}: nothing was added to it.`,
    };
  if (parts === 0)
    return {
      kind: 'differs',
      runId,
      seq: headSeq + 1,
      detail: `Run ${runId} was imported as a file, without the parts that it was assembled from: nothing can be added to it here.`,
    };
  return undefined;
}

/** The parts that are not there yet, each once. The first content of an id stays, and a warning names the others. */
async function freshParts(
  { store }: ImportTracesDeps,
  id: RunId,
  before: RunRecord | undefined,
  byRequest: ReadonlyMap<number, readonly ImportedPart[]>,
  notes: readonly { readonly warnings: ImportWarning[] }[],
): Promise<readonly PartRecord[]> {
  const ids = [...new Set([...byRequest.values()].flat().map((part) => part.id))];
  const stored = before === undefined ? [] : await store.parts(id, ids);
  const known = new Map(stored.map((part) => [part.id, part.body]));
  const at = store.clock.now();
  const fresh: PartRecord[] = [];
  for (const [i, parts] of byRequest) {
    for (const part of parts) {
      const there = known.get(part.id);
      if (there === undefined) {
        known.set(part.id, part.body);
        fresh.push({ id: part.id, at, body: part.body });
      } else if (!sameBytes(there, part.body))
        notes[i]?.warnings.push({
          path: `run ${id}, part ${part.id}`,
          message: 'is there already with another content; the first one stays',
        });
    }
  }
  return fresh;
}

function sameBytes(one: Uint8Array, other: Uint8Array): boolean {
  return one.byteLength === other.byteLength && one.every((byte, i) => byte === other[i]);
}

/** `always`: of interest to a program that only sends, too. */
type Noted = ImportWarning & { readonly always?: true };

async function grownBy(
  deps: ImportTracesDeps,
  importer: PartsImporter,
  id: RunId,
  before: RunRecord | undefined,
  assembly: Assembly | undefined,
  fresh: readonly PartRecord[],
): Promise<Result<Grown & { readonly warnings: readonly Noted[] }, ImportTracesProblem | Moved>> {
  const { store } = deps;
  const files = deps.files ?? readHere(deps.hash);
  const stored = before === undefined ? [] : await store.parts(id);
  const known = before === undefined ? new Uint32Array(0) : await printsOfRun(deps, before);
  if (known === undefined || stored.length !== (assembly?.parts ?? 0)) return fail({ kind: 'moved' });
  const made = await files.assemble(
    importer,
    { runId: id, parts: [...stored, ...fresh], known },
    deps.maxImportDepth,
  );
  const next = await rewritten(deps, made, before, assembly?.children ?? 0);
  if (!next.ok) return next;
  const { change, isWhole, warnings } = next.value;
  return ok({
    before,
    assembly,
    change: { ...change, parts: fresh },
    warnings: [...made.warnings, ...warnings],
    settled: () => {
      const { headSeq, edition } = change.run;
      if (isWhole) rememberPrints(store, id, { headSeq, edition, prints: made.prints });
      else forgetPrints(store, id);
    },
  });
}

/** Everything in one transaction, if what it was worked out from still stands. */
async function write(
  deps: ImportTracesDeps,
  grown: ReadonlyMap<RunId, Grown>,
): Promise<Result<undefined, Moved>> {
  const changed = [...grown.values()].flatMap(({ before, assembly, change }) =>
    change === undefined ? [] : [{ before, assembly, change }],
  );
  const [first, ...rest] = changed;
  if (first === undefined) return ok(undefined);
  const ids = ({ change: { run } }: (typeof changed)[number]) => ({ runId: run.runId, root: run.root });
  const change: Change = {
    ...first.change,
    ...(rest.length === 0 ? {} : { also: rest.map((one) => one.change) }),
  };
  return deps.store.commit<undefined, Moved>({
    ...ids(first),
    also: rest.map(ids),
    assembly: true,
    inParts: true,
    decide: ({ run, also, assembly }) => {
      const stands = changed.every((one) => {
        const { runId } = one.change.run;
        const now = one === first ? run : also.get(runId);
        const around = assembly.get(runId);
        return (
          now?.headSeq === one.before?.headSeq &&
          now?.edition === one.before?.edition &&
          around?.parts === one.assembly?.parts &&
          around?.children === one.assembly?.children &&
          around?.ledgerVersion === one.assembly?.ledgerVersion
        );
      });
      return stands ? ok({ value: undefined, change }) : fail({ kind: 'moved' });
    },
  });
}

/** What each request is told; what a run gained is told to the first that brings a part of it. */
async function answers(
  deps: ImportTracesDeps,
  importer: PartsImporter,
  group: readonly Waiting[],
  grown: ReadonlyMap<RunId, Grown>,
  notes: readonly { readonly warnings: readonly ImportWarning[]; readonly rejected: number }[],
): Promise<readonly Upload[]> {
  const told = new Set<RunId>();
  const given: Upload[] = [];
  for (const [i, { split }] of group.entries()) {
    const runs: UploadedRun[] = [];
    let created = false;
    for (const id of new Set(split.parts.map(({ runId }) => runId))) {
      const one = grown.get(id);
      const record = one && (one.change?.run ?? one.before);
      if (one === undefined || record === undefined) continue;
      const isFirst = !told.has(id);
      told.add(id);
      created ||= isFirst && one.before === undefined;
      const gained = record.headSeq - (one.before?.headSeq ?? 0);
      runs.push(await uploaded(deps, importer, record, isFirst ? Math.max(0, gained) : 0));
    }
    const { warnings = [], rejected = 0 } = notes[i] ?? {};
    given.push({ runs, warnings, created, rejected });
  }
  return given;
}

async function uploaded(
  { store, judgedFrom }: ImportTracesDeps,
  importer: PartsImporter,
  record: RunRecord,
  added: number,
): Promise<UploadedRun> {
  const { runId, headSeq, state } = record;
  return {
    runId,
    format: importer.id,
    status: statusNow(record, store.clock.now(), judgedFrom),
    events: headSeq,
    steps: await store.stepCount(runId, segmentsAt(state.rewinds, headSeq)),
    checkpoints: state.counts.checkpoints,
    added,
  };
}
