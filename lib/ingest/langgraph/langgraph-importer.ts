import { commandId, epoch, epochMs, seq } from '@/lib/core/events/ids';
import type { Payload } from '@/lib/core/events/payload';
import { inheritEvents } from '@/lib/core/journal/inherit';
import { assertDefined } from '@/lib/core/shared/assert';
import { fail, ok, type Result } from '@/lib/core/shared/result';
import { draftJournal, utf8Text } from '@/lib/ingest/importer';
import { type FileJson, firstKeys, isList, isObject, parseJson } from '@/lib/ingest/json';
import type {
  FileImporter,
  Imported,
  ImportedRun,
  ImportProblem,
  ImportTools,
  ImportWarning,
} from '@/lib/usecases/ports';
import type { Inferred } from './channels';
import { machineOf } from './graph';
import { arrive, beginFork, beginRun, type Continuation, execute, lineId, type Track } from './line-journal';
import { type Line, type Tree, treeOf } from './lines';
import { type LeftOut, MAX_NAME, readState, type ThreadState, type Warn } from './thread-state';

const ID = 'langgraph';
const STATE_KEYS = new Set(
  'values next tasks metadata created_at checkpoint checkpoint_id parent_checkpoint parent_checkpoint_id interrupts config'.split(
    ' ',
  ),
);

/**
 * Thread histories of a LangGraph server: an array of thread states (newest first), one state, NDJSON of states, or
 * `{ history, graph }` with the assistant's static graph beside it.
 */
export const langgraphImporter: FileImporter = {
  kind: 'file',
  id: ID,
  title: 'LangGraph thread history (JSON)',
  recognises(head) {
    const { keys, cut } = firstKeys(head);
    const names = new Set(keys);
    if (names.has('history') && (names.has('graph') || names.size === 1)) return true;
    const state = names.has('values') || names.has('next');
    if (state && (names.has('checkpoint') || names.has('checkpoint_id'))) return true;
    // The first state's values alone may be longer than the head.
    return cut && state && keys.every((key) => STATE_KEYS.has(key));
  },
  decode,
};

function decode(bytes: Uint8Array, tools: ImportTools): Result<Imported, ImportProblem> {
  const text = utf8Text(bytes);
  if (!text.ok) return text;
  const warnings: ImportWarning[] = [];
  const warn: Warn = (warning) => warnings.push(warning);
  const file = readFile(text.value, tools.maxDepth, warn);
  if (!file.ok) return file;

  const leftOut: LeftOut = { state: new Map(), metadata: new Map() };
  const states = file.value.states.flatMap(
    ({ value, path }, i) => readState(value, i, path, leftOut, warn) ?? [],
  );
  if (states.length === 0) {
    return fail({
      kind: 'malformed',
      path: warnings[0]?.path ?? file.value.path,
      message: `no thread state in it can be read: ${warnings[0]?.message ?? 'it is empty'}`,
    });
  }
  const inferred: Inferred = { steps: 0, answers: 0 };
  const payloads = new Map<Payload['sha256'], Payload>();
  const runs: ImportedRun[] = [];
  for (const [threadId, own] of byThread(states, warn)) {
    runs.push(...runsOf(threadId, treeOf(own, warn), file.value.graph, { tools, warn, inferred, payloads }));
  }
  tellInferred(inferred, leftOut, file.value.path, warn);
  return ok({ runs, warnings });
}

interface File {
  readonly states: readonly { readonly value: FileJson; readonly path: string }[];
  readonly graph: FileJson | undefined;
  readonly path: string;
}

function readFile(text: string, maxDepth: number, warn: Warn): Result<File, ImportProblem> {
  const whole = parseJson(text, maxDepth, '$');
  if (whole.ok) {
    const { value } = whole;
    if (isObject(value) && isList(value['history'])) {
      return ok({
        states: listed(value['history'], '$.history'),
        graph: value['graph'] ?? undefined,
        path: '$.history',
      });
    }
    return ok({
      states: isList(value) ? listed(value, '$') : [{ value, path: '$' }],
      graph: undefined,
      path: '$',
    });
  }
  const lines = text.split('\n');
  const first = parseJson(lines[0] ?? '', maxDepth, 'line 1');
  // Not NDJSON either, so what is wrong is wrong with the document.
  if (whole.problem.kind === 'limit' || !first.ok || !isObject(first.value) || lines.length < 2) return whole;
  const states: { readonly value: FileJson; readonly path: string }[] = [];
  for (const [i, line] of lines.entries()) {
    if (line.trim() === '') continue;
    const path = `line ${i + 1}`;
    const parsed = parseJson(line, maxDepth, path);
    if (parsed.ok) states.push({ value: parsed.value, path });
    else if (parsed.problem.kind === 'limit') return parsed;
    else warn({ path, message: `skipped: ${parsed.problem.message}` });
  }
  return ok({ states, graph: undefined, path: 'line 1' });
}

const listed = (items: readonly FileJson[], path: string) =>
  items.map((value, i) => ({ value, path: `${path}[${i}]` }));

/** States by thread; those that name none belong to the file's only thread, or to one named by their oldest checkpoint. */
function byThread(states: readonly ThreadState[], warn: Warn): ReadonlyMap<string, readonly ThreadState[]> {
  const named = [...new Set(states.flatMap((state) => state.threadId ?? []))].sort();
  const nameless = states.filter((state) => state.threadId === undefined);
  const oldest = nameless.reduce<string | undefined>(
    (min, { checkpointId }) => (min === undefined || checkpointId < min ? checkpointId : min),
    undefined,
  );
  const rest = named.length === 1 && named[0] !== undefined ? named[0] : `thread-of-${oldest ?? ''}`;
  const [first] = nameless;
  if (first !== undefined) {
    warn({
      path: first.path,
      message: `${nameless.length} states name no thread; they are read as of thread ${rest}`,
    });
  }
  const threads = new Map<string, ThreadState[]>();
  for (const state of states) {
    const id = state.threadId ?? rest;
    const own = threads.get(id);
    if (own === undefined) threads.set(id, [state]);
    else own.push(state);
  }
  return new Map([...threads].sort(([left], [right]) => (left < right ? -1 : 1)));
}

interface Setting {
  readonly tools: ImportTools;
  readonly warn: Warn;
  readonly inferred: Inferred;
  readonly payloads: Map<Payload['sha256'], Payload>;
}

/** A line that became a run, with where it stood at each checkpoint that was forked from. */
interface Told {
  readonly run: ImportedRun;
  readonly at: ReadonlyMap<string, { readonly track: Track; readonly seq: number }>;
}

function runsOf(
  threadId: string,
  tree: Tree,
  graph: FileJson | undefined,
  setting: Setting,
): readonly ImportedRun[] {
  const oldest = tree.lines[0]?.states[0];
  if (oldest === undefined) return [];
  const agent = usableAgent(oldest.graph) ?? ID;
  const machine = graph === undefined ? undefined : machineOf(graph, agent, setting.tools.hash, setting.warn);
  const tags = [`thread:${threadId}`.slice(0, MAX_NAME).toWellFormed()];
  const told = new Map<Line, Told>();
  for (const line of tree.lines) {
    const parent =
      line.from === undefined
        ? undefined
        : assertDefined(told.get(line.from.line), 'a line comes after the one it was forked from');
    told.set(line, tell(line, tree, { threadId, agent, tags, machine, parent }, setting));
  }
  return [...told.values()].map(({ run }) => run);
}

const usableAgent = (name: string | undefined): string | undefined =>
  name === undefined || name.length > 256 ? undefined : name;

interface LineOf {
  readonly threadId: string;
  readonly agent: string;
  readonly tags: readonly string[];
  readonly machine: ReturnType<typeof machineOf>;
  readonly parent: Told | undefined;
}

function tell(line: Line, tree: Tree, of: LineOf, { tools, warn, inferred, payloads }: Setting): Told {
  const first = assertDefined(line.states[0], 'a line has states');
  const kind = line.from !== undefined ? 'fork' : line.parentMissing ? 'part' : 'whole';
  const id = lineId(of.threadId, first, kind, tools.hash);
  const journal = draftJournal(id, tools.hash, payloads);
  const setting = { journal, hash: tools.hash, warn, inferred };

  let track: Track;
  let before: ThreadState | undefined;
  let lineage: Pick<ImportedRun, 'root' | 'parent'>;
  if (line.from === undefined || of.parent === undefined) {
    track = beginRun(setting, first, of.agent, of.tags, of.machine?.digest);
    lineage = { root: id };
  } else {
    before = line.from.state;
    const point = assertDefined(of.parent.at.get(before.checkpointId), 'the line was told past its forks');
    const parent = { runId: of.parent.run.runId, seq: seq(point.seq) };
    const order = {
      at: epochMs(Math.max(point.track.at, first.at ?? 0)),
      by: 'console',
      commandId: commandId(`${ID}:${first.checkpointId}`.slice(0, 128).toWellFormed()),
    } as const;
    journal.push({
      ...order,
      kind: 'command.accepted',
      mode: 'fork',
      actor: 'not recorded',
      reason: '',
      from: `cp_${point.seq}`,
      parent,
    });
    const prefix = of.parent.run.events.slice(0, point.seq);
    for (const copy of inheritEvents(parent.runId, prefix, seq(2))) journal.copy(copy);
    // What the file shows of a fork has been carried out: nothing of the order is pending.
    journal.push({ ...order, kind: 'command.ended', outcome: 'done' });
    track = beginFork(setting, first, point.track);
    if (first.source === 'loop' || first.source === 'unknown')
      track = execute(setting, track, before, { kind: 'done', next: first });
    lineage = { root: of.parent.run.root, parent: { ...parent, mode: 'fork' } };
  }

  const at = new Map<string, { readonly track: Track; readonly seq: number }>();
  for (const [i, state] of line.states.entries()) {
    const next = line.states[i + 1];
    const arrived = arrive(setting, track, state, before);
    if (tree.childrenOf(state).length > 1)
      at.set(state.checkpointId, { track: arrived.track, seq: arrived.seq });
    track = execute(setting, arrived.track, state, continuation(state, next, tree));
    before = state;
  }
  tellEnd(assertDefined(line.states.at(-1), 'a line has states'), track, warn);
  return {
    at,
    run: {
      runId: id,
      ...lineage,
      source: ID,
      agent: of.agent,
      createdAt: assertDefined(journal.events[0], 'a run begins with an event').at,
      epoch: epoch(1),
      events: journal.events,
      payloads,
      ...(of.machine === undefined ? {} : { machine: of.machine }),
      growth: 'late-parts',
    },
  };
}

function continuation(state: ThreadState, next: ThreadState | undefined, tree: Tree): Continuation {
  const goesOn = (child: ThreadState) => child.source === 'loop' || child.source === 'unknown';
  if (next !== undefined && goesOn(next)) return { kind: 'done', next };
  return { kind: tree.childrenOf(state).some(goesOn) ? 'elsewhere' : 'open' };
}

function tellEnd(last: ThreadState, track: Track, warn: Warn): void {
  if (track.mode !== 'live') return;
  const next = last.next?.join(', ') ?? '';
  warn({
    path: last.path,
    message:
      next === ''
        ? 'the file does not say how the thread ended'
        : `the thread stands before ${next}; the file does not say whether it runs, was stopped there or died`,
  });
}

function tellInferred(inferred: Inferred, leftOut: LeftOut, path: string, warn: Warn): void {
  if (inferred.steps > 0) {
    warn({
      path,
      message: `LangGraph does not say what a node is or does: ${inferred.steps} node executions are shown as "compute", without an effect or an input; their times are those of the checkpoints around them`,
    });
  }
  if (inferred.answers > 0) {
    warn({
      path,
      message: `a thread history does not hold what was answered to an interrupt: ${inferred.answers === 1 ? '1 answer is' : `${inferred.answers} answers are`} shown as undefined`,
    });
  }
  for (const [where, names] of [
    ['metadata', leftOut.metadata],
    ['states', leftOut.state],
  ] as const) {
    if (names.size === 0) continue;
    const list = [...names]
      .slice(0, 20)
      .map(([name, times]) => `${name.slice(0, 60).toWellFormed()} (${times})`);
    warn({
      path,
      message: `left out of the ${where}, having no place in a run: ${list.join(', ')}${names.size > 20 ? ` and ${names.size - 20} more` : ''}`,
    });
  }
}
