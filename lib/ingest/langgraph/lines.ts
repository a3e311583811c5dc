import type { ThreadState, Warn } from './thread-state';

/** A path through a thread's tree of checkpoints that became a run. */
export interface Line {
  /** Its own states, oldest first; never empty. */
  readonly states: readonly ThreadState[];
  /** The line and the state that it was forked from; absent for a line that begins at a root. */
  readonly from: { readonly line: Line; readonly state: ThreadState } | undefined;
  /** True where the first state names a parent that the file does not have. */
  readonly parentMissing: boolean;
}

/** The tree of one thread's states. */
export interface Tree {
  /** A line that others were forked from comes before them. */
  readonly lines: readonly Line[];
  readonly childrenOf: (state: ThreadState) => readonly ThreadState[];
}

/**
 * The tree as lines. At a fork the oldest child goes on with the line and every later one begins a line of its own: what
 * was imported once is then only ever added to, however often the thread is forked afterwards. O(n log n).
 */
export function treeOf(states: readonly ThreadState[], warn: Warn): Tree {
  const byId = new Map<string, ThreadState>();
  for (const state of states) {
    if (byId.has(state.checkpointId))
      warn({ path: state.path, message: `skipped: checkpoint ${state.checkpointId} is in the file already` });
    else byId.set(state.checkpointId, state);
  }
  const children = new Map<string, ThreadState[]>();
  const roots: ThreadState[] = [];
  for (const state of byId.values()) {
    const parent = parentIn(byId, state);
    if (parent === undefined) roots.push(state);
    else {
      const siblings = children.get(parent.checkpointId);
      if (siblings === undefined) children.set(parent.checkpointId, [state]);
      else siblings.push(state);
    }
  }
  for (const list of children.values()) list.sort(byAge);
  const childrenOf = (state: ThreadState): readonly ThreadState[] => children.get(state.checkpointId) ?? [];

  const lines: Line[] = [];
  const seen = new Set<string>();
  const follow = (first: ThreadState, from: Line['from'], parentMissing: boolean): void => {
    const todo = [{ first, from, parentMissing }];
    for (const next of todo) {
      const own: ThreadState[] = [];
      for (
        let at: ThreadState | undefined = next.first;
        at !== undefined && !seen.has(at.checkpointId);
        at = childrenOf(at)[0]
      ) {
        own.push(at);
        seen.add(at.checkpointId);
      }
      const line: Line = { states: own, from: next.from, parentMissing: next.parentMissing };
      lines.push(line);
      for (const state of own) {
        for (const fork of childrenOf(state).slice(1))
          todo.push({ first: fork, from: { line, state }, parentMissing: false });
      }
    }
  };
  for (const root of roots.sort(byAge)) {
    if (root.parentId !== undefined) {
      warn({
        path: root.path,
        message: `missing parent ${root.parentId}: the history begins in the middle here (the server gives the newest 10 states unless asked for more)`,
      });
    }
    follow(root, undefined, root.parentId !== undefined);
  }
  for (const state of [...byId.values()].sort(byAge)) {
    if (seen.has(state.checkpointId)) continue;
    warn({
      path: state.path,
      message: `the parents of checkpoint ${state.checkpointId} run in a circle; read from here`,
    });
    follow(state, undefined, true);
  }
  return { lines, childrenOf };
}

function parentIn(byId: ReadonlyMap<string, ThreadState>, state: ThreadState): ThreadState | undefined {
  return state.parentId === undefined || state.parentId === state.checkpointId
    ? undefined
    : byId.get(state.parentId);
}

/** Oldest first: by time, then by checkpoint id (UUIDv6 sorts by time), then from the end of the file. */
function byAge(left: ThreadState, right: ThreadState): number {
  const time = (left.at ?? 0) - (right.at ?? 0);
  if (time !== 0 && left.at !== undefined && right.at !== undefined) return time;
  if (left.checkpointId !== right.checkpointId) return left.checkpointId < right.checkpointId ? -1 : 1;
  return right.index - left.index;
}
