import {
  commandId,
  type EpochMs,
  epochMs,
  type MachineDigest,
  questionId,
  type RunId,
  type Seq,
  type StepKey,
  seq,
  stepKey,
  workerId,
} from '@/lib/core/events/ids';
import type { Hash } from '@/lib/core/events/payload';
import type { RecordedError, WaitingOn } from '@/lib/core/events/run-event';
import { keyIn, visitPath } from '@/lib/core/events/step-key';
import { assertDefined } from '@/lib/core/shared/assert';
import type { FileJson } from '@/lib/ingest/json';
import { type Channels, type Setting, valueDigest, writeChannels } from './channels';
import { usageIn } from './messages';
import { START, type ThreadState, type ThreadTask } from './thread-state';

/*
 * From states to events. A super-step is a visit of each of its nodes with a step for each task; what it wrote and its
 * checkpoint lie in that visit, which is left when the next super-step begins. Parallel nodes of one super-step are
 * visits that overlap, in the order of their tasks, those that stopped last.
 */

interface OpenVisit {
  readonly key: string;
  readonly state: string;
  readonly visit: number;
}

interface OpenStep {
  readonly task: ThreadTask;
  readonly key: StepKey;
  readonly questions: readonly { readonly id: string; readonly key: StepKey }[];
  readonly failed: boolean;
}

/** Where a line stands; copied at a fork, so that the fork goes on from it. */
export interface Track extends Channels {
  readonly at: EpochMs;
  readonly mode: 'live' | 'waiting' | 'failed' | 'completed';
  readonly visits: ReadonlyMap<string, number>;
  /** State of the newest visit of this turn; the next one is entered from it. */
  readonly last: string | undefined;
  /** Visits of the newest super-step, not yet left. */
  readonly open: readonly OpenVisit[];
  readonly openSteps: readonly OpenStep[];
  readonly questions: ReadonlySet<string>;
  /** Engine ids recorded in a visit so far. */
  readonly ids: ReadonlyMap<string, number>;
}

const emptyTrack = (at: EpochMs): Track => ({
  at,
  mode: 'live',
  channels: new Map(),
  messages: [],
  visits: new Map(),
  last: undefined,
  open: [],
  openSteps: [],
  questions: new Set(),
  ids: new Map(),
});

/** Begins the run of a line that starts at a root. */
export function beginRun(
  setting: Setting,
  first: ThreadState,
  agent: string,
  tags: readonly string[],
  machine: MachineDigest | undefined,
): Track {
  const at = first.at ?? epochMs(0);
  const input = first.source === 'input' ? inputOf(first) : undefined;
  setting.journal.push({
    kind: 'run.started',
    at,
    agent,
    tags,
    ...(machine === undefined ? {} : { machineDigest: machine }),
    ...(input === undefined ? {} : { input: setting.journal.put(input) }),
  });
  return emptyTrack(at);
}

function inputOf(state: ThreadState): FileJson | undefined {
  return state.tasks.find((task) => task.name === START)?.result ?? state.writes.get(START) ?? undefined;
}

/** Begins the run of a fork: the order, the parent's events up to the point, and that somebody took it up. */
export function beginFork(setting: Setting, first: ThreadState, track: Track): Track {
  const at = epochMs(Math.max(track.at, first.at ?? 0));
  setting.journal.push({ kind: 'run.resumed', at, workerId: workerOf(first), revived: false });
  return { ...track, at, mode: 'live', openSteps: [] };
}

const workerOf = (state: ThreadState) =>
  workerId(`langgraph:${state.serverRun ?? state.source}`.slice(0, 128).toWellFormed());

/** A checkpoint is reached. `before` is the state before it on the line. */
export function arrive(
  setting: Setting,
  track: Track,
  state: ThreadState,
  before: ThreadState | undefined,
): { readonly track: Track; readonly seq: Seq } {
  const { journal } = setting;
  const at = epochMs(Math.max(track.at, state.at ?? 0));
  let { mode, open } = track;
  if (track.openSteps.length > 0) {
    // The state was written over, or the thread taken back, before these came to an end.
    for (const step of track.openSteps) {
      for (const question of step.questions)
        journal.push({
          kind: 'question.expired',
          at,
          questionId: questionId(question.id),
          stepKey: question.key,
        });
    }
    for (const visit of open)
      journal.push({ kind: 'state.left', at, key: visit.key, state: visit.state, visit: visit.visit });
    open = [];
  }
  if (mode !== 'live' && (state.next?.length ?? 0) > 0) {
    journal.push({ kind: 'run.resumed', at, workerId: workerOf(state), revived: false });
    mode = 'live';
  }
  const written = writeChannels(setting, track, state, at);
  const visit = open.at(-1)?.key ?? track.open.at(-1)?.key ?? '';
  const nth = (track.ids.get(visit) ?? 0) + 1;
  journal.push({
    kind: 'value.recorded',
    at,
    key: visit === '' ? stepKey(`$id#${nth}`) : keyIn(visit, '$id', nth),
    of: 'id',
    value: state.checkpointId,
  });
  const saved = journal.push({
    kind: 'checkpoint.saved',
    at,
    trigger: 'imported',
    visit,
    name: nameOf(state, before, track),
    entrySeq: seq(0),
    othersSeq: seq(0),
  });
  return {
    seq: saved,
    track: { ...track, ...written, at, mode, open, openSteps: [], ids: new Map(track.ids).set(visit, nth) },
  };
}

/** What had just happened, as a person would say it. */
function nameOf(state: ThreadState, before: ThreadState | undefined, track: Track): string {
  if (state.source === 'input') return 'at the input';
  if (state.source === 'fork') return 'after a fork';
  const author = [...state.writes.keys()].filter((node) => node !== START)[0];
  if (state.source === 'update')
    return author === undefined ? 'after an update' : `after an update as ${author.toWellFormed()}`;
  if (before === undefined) return 'where the history begins';
  if (before.tasks.every((task) => task.name === START) || track.open.length === 0) return 'after the input';
  return `after ${track.open.map(({ state: node, visit }) => (visit > 1 ? `${node}, visit ${visit}` : node)).join(' and ')}`;
}

/** How a checkpoint's tasks went on, as the line knows it. */
export type Continuation =
  /** The next state on the line came of these tasks. */
  | { readonly kind: 'done'; readonly next: ThreadState }
  /** Nothing did; what tasks themselves say is all there is. */
  | { readonly kind: 'open' }
  /** Another branch of the tree went on from them: their results belong there. */
  | { readonly kind: 'elsewhere' };

/** The tasks of a checkpoint ran, as far as the file says so; else nothing happens. */
export function execute(setting: Setting, track: Track, state: ThreadState, then: Continuation): Track {
  const tasks = state.tasks.filter((task) => task.name !== START);
  if (state.next !== undefined && state.next.length === 0 && tasks.length === 0)
    return complete(setting, track, state);
  const stopped = (task: ThreadTask) => task.error !== undefined || task.interrupts.length > 0;
  const ended = (task: ThreadTask) =>
    !stopped(task) && (then.kind === 'done' || (then.kind === 'open' && task.result !== undefined));
  if (tasks.length === 0 || !(then.kind === 'done' || tasks.some((task) => stopped(task) || ended(task))))
    return track;

  const { journal, hash } = setting;
  const start = epochMs(Math.max(track.at, state.at ?? 0));
  const end = then.kind === 'done' ? epochMs(Math.max(start, then.next.at ?? 0)) : start;
  const anyStopped = tasks.some(stopped);
  const first = assertDefined(tasks[0], 'a super-step has tasks').name;
  for (const visit of track.open) {
    journal.push({
      kind: 'state.left',
      at: start,
      key: visit.key,
      state: visit.state,
      visit: visit.visit,
      to: first,
    });
  }
  const from = track.last;

  const visits = new Map(track.visits);
  const questions = new Set(track.questions);
  const open: OpenVisit[] = [];
  const steps: { readonly task: ThreadTask; readonly key: StepKey }[] = [];
  for (const [node, own] of byNode(tasks, stopped)) {
    const visit = (visits.get(node) ?? 0) + 1;
    visits.set(node, visit);
    const key = visitPath(node, visit);
    open.push({ key, state: node, visit });
    journal.push({
      kind: 'state.entered',
      at: start,
      key,
      state: node,
      visit,
      ...(from === undefined ? {} : { from }),
    });
    for (const [i, task] of own.entries()) steps.push({ task, key: keyIn(key, node, i + 1) });
  }
  const begin = (key: StepKey, task: ThreadTask, attempt: number, at: EpochMs) =>
    journal.push({
      kind: 'step.started',
      at,
      stepKey: key,
      name: task.name,
      step: 'compute',
      inputDigest: valueDigest(undefined, hash),
      attempt,
    });
  for (const { key, task } of steps) begin(key, task, 1, start);
  setting.inferred.steps += steps.length;

  for (const { key, task } of steps) if (ended(task)) finish(setting, key, task, 1, anyStopped ? start : end);
  const waitingOn: WaitingOn[] = [];
  const stoppedSteps: OpenStep[] = [];
  for (const { key, task } of steps) {
    if (ended(task)) continue;
    const asked = task.error === undefined ? askAll(setting, key, task, questions, start) : [];
    if (asked.length > 0) waitingOn.push({ stepKey: key, for: 'question' });
    stoppedSteps.push({ task, key, questions: asked, failed: task.error !== undefined });
  }
  const failures = stoppedSteps.filter((step) => step.failed);
  for (const { key, task } of failures) failStep(setting, key, task, start);
  const mode = stopRun(setting, failures, waitingOn, start);
  const reached: Track = {
    ...track,
    at: start,
    mode,
    visits,
    questions,
    last: open.at(-1)?.state,
    open,
    openSteps: stoppedSteps,
  };
  if (then.kind !== 'done') return reached;

  for (const step of stoppedSteps)
    for (const question of step.questions) answer(setting, question, then.next, end);
  if (mode !== 'live')
    journal.push({ kind: 'run.resumed', at: end, workerId: workerOf(then.next), revived: false });
  for (const { key, task, failed } of stoppedSteps) {
    if (failed) begin(key, task, 2, end);
    finish(setting, key, task, failed ? 2 : 1, end);
  }
  return { ...reached, at: anyStopped ? end : epochMs(Math.max(start, end)), mode: 'live', openSteps: [] };
}

/** Tasks by node, in the order of the file, nodes that stopped last: the run then stands where it has to go on. */
function byNode(
  tasks: readonly ThreadTask[],
  stopped: (task: ThreadTask) => boolean,
): readonly (readonly [string, readonly ThreadTask[]])[] {
  const nodes = new Map<string, ThreadTask[]>();
  for (const task of tasks) {
    const own = nodes.get(task.name);
    if (own === undefined) nodes.set(task.name, [task]);
    else own.push(task);
  }
  const groups = [...nodes.entries()];
  return [
    ...groups.filter(([, own]) => !own.some(stopped)),
    ...groups.filter(([, own]) => own.some(stopped)),
  ];
}

function finish({ journal }: Setting, key: StepKey, task: ThreadTask, attempt: number, at: EpochMs): void {
  const usage = usageIn(task.result);
  journal.push({
    kind: 'step.completed',
    at,
    stepKey: key,
    attempt,
    recorded: true,
    ...(task.result === undefined ? {} : { result: journal.put(task.result) }),
    ...(usage === undefined ? {} : { usage }),
  });
}

export const MAX_MESSAGE = 100_000;

function failStep({ journal, warn }: Setting, key: StepKey, task: ThreadTask, at: EpochMs): void {
  const error = assertDefined(task.error, 'a failed task has an error');
  const long = error.message.length > MAX_MESSAGE || (error.stack?.length ?? 0) > MAX_MESSAGE;
  if (long)
    warn({
      path: `${task.path}.error`,
      message: "the error is longer than a journal line holds; it is kept whole as the step's partial result",
    });
  journal.push({
    kind: 'step.failed',
    at,
    stepKey: key,
    attempt: 1,
    failure: 'error',
    error: inLine(error),
    final: true,
    ...(long ? { partial: journal.put(error) } : {}),
  });
}

const inLine = ({ type, message, stack }: RecordedError): RecordedError => ({
  type: cut(type),
  message: cut(message),
  ...(stack === undefined ? {} : { stack: cut(stack) }),
});
const cut = (text: string): string => (text.length > MAX_MESSAGE ? `${text.slice(0, MAX_MESSAGE)}…` : text);

function askAll(
  { journal, hash }: Setting,
  key: StepKey,
  task: ThreadTask,
  questions: Set<string>,
  at: EpochMs,
): OpenStep['questions'] {
  return task.interrupts.map((interrupt, i) => {
    const base = (interrupt.id ?? `${task.id ?? key}/${i + 1}`).slice(0, 1_000);
    let id = base;
    for (let n = 2; questions.has(id); n += 1) id = `${base}#${n}`;
    questions.add(id);
    journal.push({
      kind: 'question.asked',
      at,
      questionId: questionId(id),
      stepKey: key,
      question: journal.put(interrupt.value),
      questionDigest: valueDigest(interrupt.value, hash),
    });
    return { id, key };
  });
}

function stopRun(
  { journal }: Setting,
  failures: readonly OpenStep[],
  waitingOn: readonly WaitingOn[],
  at: EpochMs,
): Track['mode'] {
  const failed = failures.at(-1);
  if (failed !== undefined) {
    journal.push({
      kind: 'run.failed',
      at,
      cause: 'error',
      error: inLine(assertDefined(failed.task.error, 'it failed')),
      stepKey: failed.key,
    });
    return 'failed';
  }
  if (waitingOn.length === 0) return 'live';
  journal.push({ kind: 'run.waiting', at, on: waitingOn });
  return 'waiting';
}

/** The history does not hold what was answered; that there was an answer, it shows. */
function answer(
  { journal, inferred }: Setting,
  question: { readonly id: string; readonly key: StepKey },
  next: ThreadState,
  at: EpochMs,
): void {
  inferred.answers += 1;
  journal.push({
    kind: 'question.answered',
    at,
    by: 'console',
    questionId: questionId(question.id),
    stepKey: question.key,
    value: journal.put(undefined),
    actor: 'not recorded',
    commandId: commandId(`langgraph:${next.checkpointId}`.slice(0, 128).toWellFormed()),
  });
}

function complete({ journal }: Setting, track: Track, state: ThreadState): Track {
  if (track.mode === 'completed') return track;
  const at = epochMs(Math.max(track.at, state.at ?? 0));
  for (const visit of track.open)
    journal.push({ kind: 'state.left', at, key: visit.key, state: visit.state, visit: visit.visit });
  journal.push({ kind: 'run.completed', at });
  return { ...track, at, mode: 'completed', last: undefined, open: [] };
}

/** Id of a line's run. A line from a root is its thread; a fork is named by its first checkpoint, a part of a thread too. */
export function lineId(
  threadId: string,
  first: ThreadState,
  kind: 'whole' | 'part' | 'fork',
  hash: Hash,
): RunId {
  const unique = /^[0-9a-f]{8}-[0-9a-f]{4}-/i.test(threadId);
  const mark = kind === 'whole' ? (unique ? '' : ':') : kind === 'part' ? '~' : '@';
  const id = mark === '' ? threadId : `${threadId}${mark}${first.checkpointId}`;
  return (id.length <= 128 ? id : `langgraph:${hash(id)}`) as RunId;
}
