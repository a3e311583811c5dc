import { type EpochMs, epochMs } from '@/lib/core/events/ids';
import type { RecordedError } from '@/lib/core/events/run-event';
import { type FileJson, isList, isObject, textOf } from '@/lib/ingest/json';
import type { ImportWarning } from '@/lib/usecases/ports';

/* One thread state of LangGraph's API as we read it. Both generations: flat `checkpoint_id` (2024) and `checkpoint`. */

export interface Interrupt {
  readonly id: string | undefined;
  readonly value: FileJson;
}

/** A node execution that the checkpoint plans, with what is known of how it went. */
export interface ThreadTask {
  readonly id: string | undefined;
  readonly name: string;
  readonly error: RecordedError | undefined;
  readonly interrupts: readonly Interrupt[];
  /** What the node wrote; `undefined` where nothing is recorded (a node that wrote nothing looks the same). */
  readonly result: FileJson | undefined;
  readonly path: string;
}

/** `loop`: a super-step ended. `unknown` is read as `loop`. */
export type Source = 'input' | 'loop' | 'update' | 'fork' | 'unknown';

export interface ThreadState {
  readonly path: string;
  /** Place in the file; a history has its newest state first. */
  readonly index: number;
  readonly checkpointId: string;
  readonly parentId: string | undefined;
  readonly threadId: string | undefined;
  readonly at: EpochMs | undefined;
  readonly values: ReadonlyMap<string, FileJson>;
  /** `undefined` where the file does not say. Empty means finished. */
  readonly next: readonly string[] | undefined;
  readonly tasks: readonly ThreadTask[];
  readonly source: Source;
  /** The server's run that made the checkpoint. */
  readonly serverRun: string | undefined;
  readonly graph: string | undefined;
  /** What each node wrote, in older servers' metadata. */
  readonly writes: ReadonlyMap<string, FileJson>;
}

export type Warn = (warning: ImportWarning) => void;

const STATE_KEYS = new Set(
  'values next tasks metadata created_at checkpoint checkpoint_id parent_checkpoint parent_checkpoint_id interrupts'.split(
    ' ',
  ),
);
const METADATA_KEYS = new Set('source step run_id thread_id graph_id writes parents'.split(' '));

/** Channel of a graph whose whole state is one value. */
export const ROOT_CHANNEL = '__root__';
/** The task that writes a run's input; no node of the graph. */
export const START = '__start__';

/** Names of members that have no place in a run, counted over a file. */
export interface LeftOut {
  readonly state: Map<string, number>;
  readonly metadata: Map<string, number>;
}

/** Reads one state; what cannot be read is named through `warn` and left out. */
export function readState(
  raw: FileJson,
  index: number,
  path: string,
  leftOut: LeftOut,
  warn: Warn,
): ThreadState | undefined {
  if (!isObject(raw)) {
    warn({ path, message: 'skipped: not a thread state (an object is expected)' });
    return undefined;
  }
  const checkpoint = isObject(raw['checkpoint']) ? raw['checkpoint'] : {};
  const parent = isObject(raw['parent_checkpoint']) ? raw['parent_checkpoint'] : {};
  const checkpointId = idOf(checkpoint['checkpoint_id']) ?? idOf(raw['checkpoint_id']);
  if (checkpointId === undefined) {
    warn({ path, message: 'skipped: a thread state without a checkpoint id' });
    return undefined;
  }
  const namespace = textOf(checkpoint['checkpoint_ns']) ?? '';
  if (namespace !== '') {
    warn({
      path,
      message: `skipped: state of the subgraph "${short(namespace)}"; only the thread's own states are imported`,
    });
    return undefined;
  }
  const metadata = isObject(raw['metadata']) ? raw['metadata'] : {};
  for (const key of Object.keys(raw)) if (!STATE_KEYS.has(key)) count(leftOut.state, key);
  for (const key of Object.keys(metadata)) if (!METADATA_KEYS.has(key)) count(leftOut.metadata, key);
  const tasks = tasksOf(raw, path, warn);
  return {
    path,
    index,
    checkpointId,
    parentId: idOf(parent['checkpoint_id']) ?? idOf(raw['parent_checkpoint_id']),
    threadId: idOf(checkpoint['thread_id']) ?? idOf(metadata['thread_id']),
    at: instantOf(raw['created_at'], `${path}.created_at`, warn),
    values: channelsOf(raw['values'], `${path}.values`, warn),
    next: nextOf(raw['next'], tasks, `${path}.next`, warn),
    tasks,
    source: sourceOf(metadata['source']),
    serverRun: idOf(metadata['run_id']),
    graph: idOf(metadata['graph_id']),
    writes: isObject(metadata['writes']) ? new Map(Object.entries(metadata['writes'])) : new Map(),
  };
}

/** An id of the file: non-empty text. */
const idOf = (value: FileJson | undefined): string | undefined => {
  const text = textOf(value)?.toWellFormed().replaceAll('\u0000', '\uFFFD');
  return text === '' ? undefined : text;
};

const count = (names: Map<string, number>, key: string): void => {
  names.set(key, (names.get(key) ?? 0) + 1);
};

export const short = (text: string): string =>
  text.length > 80 ? `${text.slice(0, 80).toWellFormed()}…` : text.toWellFormed();

function sourceOf(value: FileJson | undefined): Source {
  return value === 'input' || value === 'loop' || value === 'update' || value === 'fork' ? value : 'unknown';
}

function channelsOf(value: FileJson | undefined, path: string, warn: Warn): ReadonlyMap<string, FileJson> {
  if (value === undefined || value === null) return new Map();
  if (!isObject(value))
    return isList(value) && value.length === 0 ? new Map() : new Map([[ROOT_CHANNEL, value]]);
  const channels = new Map<string, FileJson>();
  for (const [name, channel] of Object.entries(value)) {
    if (name === '' || name.length > 512) {
      warn({
        path,
        message: `skipped: a channel whose name has ${name.length} characters ("${short(name)}")`,
      });
    } else channels.set(name, channel);
  }
  return channels;
}

function nextOf(
  value: FileJson | undefined,
  tasks: readonly ThreadTask[],
  path: string,
  warn: Warn,
): readonly string[] | undefined {
  if (isList(value)) {
    const names = value.filter((name) => typeof name === 'string');
    if (names.length < value.length)
      warn({ path, message: `skipped: ${value.length - names.length} entries that are no node names` });
    return names.length === 0 && value.length > 0 ? undefined : names;
  }
  return tasks.length > 0 ? tasks.map((task) => task.name) : undefined;
}

function tasksOf(raw: { readonly [key: string]: FileJson }, path: string, warn: Warn): readonly ThreadTask[] {
  const list = raw['tasks'];
  if (!isList(list) || list.length === 0) {
    // The oldest servers give `next` alone.
    const next = isList(raw['next']) ? raw['next'] : [];
    return next.flatMap((name, i) =>
      typeof name === 'string'
        ? [taskOf({ name }, `${path}.next[${i}]`, warn)].filter((task) => task !== undefined)
        : [],
    );
  }
  return list.flatMap((item, i) => taskOf(item, `${path}.tasks[${i}]`, warn) ?? []);
}

function taskOf(raw: FileJson, path: string, warn: Warn): ThreadTask | undefined {
  const name = isObject(raw) ? textOf(raw['name']) : undefined;
  if (!isObject(raw) || name === undefined || name === '') {
    warn({ path, message: 'skipped: a task without a name' });
    return undefined;
  }
  if (raw['state'] !== undefined && raw['state'] !== null) {
    warn({ path: `${path}.state`, message: 'left out: the state of a subgraph' });
  }
  const interrupts = isList(raw['interrupts']) ? raw['interrupts'] : [];
  const result = raw['result'];
  return {
    id: idOf(raw['id']),
    name: usableName(name, path, warn),
    error: errorOf(raw['error']),
    interrupts: interrupts.map((item) =>
      isObject(item)
        ? { id: idOf(item['id']) ?? idOf(item['interrupt_id']), value: item['value'] ?? null }
        : { id: undefined, value: item },
    ),
    result: result === null ? undefined : result,
    path,
  };
}

export const MAX_NAME = 200;

/** A node's name as states and step keys can hold it: well-formed, without U+0000, at most 256 characters. */
function usableName(name: string, path: string, warn: Warn): string {
  const clean = name.toWellFormed().replaceAll('\u0000', '\uFFFD');
  const usable =
    clean.length > MAX_NAME ? `${clean.slice(0, MAX_NAME).toWellFormed()}…(${clean.length})` : clean;
  if (usable !== name)
    warn({ path, message: `the node's name cannot be kept as it is; shown as "${short(usable)}"` });
  return usable;
}

/** Python servers give `repr(error)`, JavaScript ones `{ name, message }` or text. */
function errorOf(value: FileJson | undefined): RecordedError | undefined {
  if (value === undefined || value === null) return undefined;
  if (isObject(value)) {
    const message = textOf(value['message']) ?? JSON.stringify(value, jsonSafe);
    const stack = textOf(value['stack']);
    return { type: textOf(value['name']) ?? 'Error', message, ...(stack === undefined ? {} : { stack }) };
  }
  const message = typeof value === 'string' ? value : JSON.stringify(value, jsonSafe);
  return { type: /^([A-Za-z_][\w.]*)\(/.exec(message)?.[1] ?? 'Error', message };
}

const jsonSafe = (_: string, value: unknown): unknown =>
  typeof value === 'bigint' ? value.toString() : value;

const ISO = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(Z|[+-]\d\d(?::?\d\d)?)?$/i;

function instantOf(value: FileJson | undefined, path: string, warn: Warn): EpochMs | undefined {
  const text = textOf(value);
  const match = text === undefined ? null : ISO.exec(text);
  if (text === undefined || match === null) {
    warn({ path, message: 'no readable time; the time of the state before it is shown' });
    return undefined;
  }
  const ms = Date.parse(match[1] === undefined ? `${text}Z` : text);
  if (Number.isNaN(ms) || ms < 0) {
    warn({ path, message: `no readable time ("${short(text)}"); the time of the state before it is shown` });
    return undefined;
  }
  if (match[1] === undefined) warn({ path, message: `a time without a zone ("${text}"), read as UTC` });
  return epochMs(ms);
}
