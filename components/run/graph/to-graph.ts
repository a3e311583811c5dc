import type { Edge, Node } from '@xyflow/react';
import type { GraphAt } from '@/lib/client/api-types';

/**
 * Why a state has no visit at the moment: the run entered it later, or never. Where it was rewound, a visit that was left
 * behind is told by no graph of the line in force.
 */
export type Unvisited = 'later' | 'never' | 'not-in-force';

export interface StateNodeView extends Record<string, unknown> {
  readonly name: string;
  readonly visits: number;
  /** Undefined of one that was visited. */
  readonly unvisited: Unvisited | undefined;
  readonly totalMs: number;
  readonly final: boolean;
  readonly initial: boolean;
  readonly declared: boolean;
  readonly atCursor: boolean;
  readonly stoppedHere: boolean;
  readonly marks: TopMarks;
  /** How the run stands, in the state that it is in. */
  readonly status: GraphAt['status'] | undefined;
  readonly checkpoints: readonly number[];
  /** Entries of its visits, oldest first. */
  readonly entries: readonly number[];
  /** The visits in words, one a line. */
  readonly said: string | undefined;
  /** Where a resume surely or perhaps comes by next. */
  readonly ahead: boolean;
}
export interface TransitionView extends Record<string, unknown> {
  readonly taken: number;
  readonly newest: boolean;
  readonly declared: boolean;
  readonly ahead: boolean;
}
export type StateNode = Node<StateNodeView, 'state'>;
export type TransitionEdge = Edge<TransitionView, 'transition'>;

export interface Placed {
  readonly size: Size;
  readonly nodes: ReadonlyMap<string, Point>;
  /** Bend points of an edge, ends included. */
  readonly edges: ReadonlyMap<string, readonly Point[]>;
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

export const NODE = { width: 184, height: 44 } as const;

/** Where marks stand on the upper side of a state. */
interface TopMarks {
  /** Of the cursor's flag. */
  readonly flag: 'left' | 'right';
  /** Of the dot where the machine begins, in px from the left. */
  readonly start: number;
}
/** Widths in px: of the flag and how far it stands out, and around an arrow or the dot. */
const FLAG = { width: 48, out: 4, around: 7 } as const;

/** Marks stand where no edge ends, as far as there is such a place. `touches`: px from the left where one does. */
export function topMarks(touches: readonly number[]): TopMarks {
  const isFree = (from: number, to: number) =>
    touches.every((x) => x < from - FLAG.around || x > to + FLAG.around);
  const right = NODE.width + FLAG.out - FLAG.width;
  const flag =
    !isFree(-FLAG.out, FLAG.width - FLAG.out) && isFree(right, right + FLAG.width) ? 'right' : 'left';
  const places = [1 / 2, 3 / 8, 5 / 8].map((part) => part * NODE.width);
  return { flag, start: places.find((x) => isFree(x, x)) ?? NODE.width / 2 };
}
const NONE: ReadonlySet<string> = new Set();
export const edgeId = (from: string, to: string): string => `${from}→${to}`;

/** What layout depends on: the machine's shape, never counts, so that moving the cursor moves nothing. */
export interface Shape {
  readonly states: readonly string[];
  readonly edges: readonly { readonly from: string; readonly to: string }[];
}
/**
 * States in declared order, then those that were mined; edges of the whole run, so that each moment draws the same
 * picture. A moment may be newer than what is known of the whole.
 */
export function shapeOf(whole: GraphAt, moment: GraphAt): Shape {
  const names = [...new Set([whole, moment].flatMap(({ states }) => states.map(({ name }) => name)))];
  const edges = new Map(
    [whole, moment].flatMap((graph) =>
      graph.edges.map(({ from, to }) => [edgeId(from, to), { from, to }] as const),
    ),
  );
  const known = new Set(names);
  return {
    states: [
      ...names.filter((name) => name === whole.initial),
      ...names.filter((name) => name !== whole.initial),
    ],
    edges: [...edges.values()].filter(({ from, to }) => known.has(from) && known.has(to)),
  };
}
export const shapeKey = (shape: Shape): string => JSON.stringify(shape);

/** Larger machines are folded until they are asked for whole. */
const STATES = 60;
const EDGES = 160;
/** Of a folded machine, so many of the states that may come next are shown. */
const NEXT = 8;

export interface Folded {
  readonly states: ReadonlySet<string>;
  readonly edges: ReadonlySet<string>;
}

/**
 * What is shown of a machine that is too large to be read: the states that the run has been in, the busiest first, where
 * it begins and stands, what may come next, and the edges taken between them. Undefined where all of it is.
 */
export function foldedTo(whole: GraphAt, moment: GraphAt): Folded | undefined {
  if (whole.states.length <= STATES && whole.edges.length <= EDGES) return undefined;
  const busiest = whole.states
    .filter(({ visits }) => visits > 0)
    .sort((a, b) => b.visits - a.visits || (b.lastSeq ?? 0) - (a.lastSeq ?? 0))
    .slice(0, STATES);
  const here = [whole.initial, whole.current, moment.current].filter((name) => name !== null);
  const next = whole.edges.filter(({ from, taken }) => from === whole.current && taken === 0).slice(0, NEXT);
  const states = new Set([...busiest.map(({ name }) => name), ...here, ...next.map(({ to }) => to)]);
  const taken = whole.edges
    .filter(({ from, to, taken }) => taken > 0 && states.has(from) && states.has(to))
    .sort((a, b) => b.taken - a.taken || (b.lastSeq ?? 0) - (a.lastSeq ?? 0))
    .slice(0, EDGES);
  return { states, edges: new Set([...taken, ...next].map(({ from, to }) => edgeId(from, to))) };
}

/** Room between states in rows, in px of the graph, and around them. */
const GAP = { x: 36, y: 56, around: 18 } as const;

/**
 * Places a machine that is too large to be drawn: its states in rows, by how many transitions lie between them and the
 * first one, those that none leads to last. Its edges are straight. O(states + edges).
 */
export function placedInRows({ states, edges }: Shape): Placed {
  const next = new Map(states.map((name) => [name, [] as string[]]));
  for (const { from, to } of edges) next.get(from)?.push(to);
  const left = new Set(states);
  const ranks: string[][] = [];
  for (let rank = states.slice(0, 1); rank.length > 0; ) {
    ranks.push(rank);
    for (const name of rank) left.delete(name);
    rank = [...new Set(rank.flatMap((name) => next.get(name) ?? []))].filter((name) => left.has(name));
  }
  const most = Math.max(4, Math.ceil(Math.sqrt(states.length) / 2));
  const rows = [...ranks, [...left]].flatMap((rank) =>
    Array.from({ length: Math.ceil(rank.length / most) }, (_, n) => rank.slice(n * most, (n + 1) * most)),
  );
  const x = (n: number) => GAP.around + n * (NODE.width + GAP.x);
  const y = (n: number) => GAP.around + n * (NODE.height + GAP.y);
  return {
    size: { width: x(most) - GAP.x + GAP.around, height: y(rows.length) - GAP.y + GAP.around },
    nodes: new Map(rows.flatMap((row, n) => row.map((name, k) => [name, { x: x(k), y: y(n) }] as const))),
    edges: new Map(),
  };
}

export const withFold = (graph: GraphAt, fold: Folded | undefined): GraphAt =>
  fold === undefined
    ? graph
    : {
        ...graph,
        states: graph.states.filter(({ name }) => fold.states.has(name)),
        edges: graph.edges.filter(({ from, to }) => fold.edges.has(edgeId(from, to))),
      };

/**
 * A moment's graph with its part of `lists`, which are of the same path; of older ones the newest visits are missing. How long
 * the run had been in a visit that was open then, they do not tell.
 */
export function withLists(moment: GraphAt, lists: GraphAt | undefined): GraphAt {
  if (lists === undefined || lists === moment) return moment;
  const { at } = moment;
  return {
    ...moment,
    visits: lists.visits
      .filter(({ enteredSeq }) => enteredSeq <= at)
      .map((visit) => {
        const isOpen = visit.leftSeq === null || visit.leftSeq > at;
        return isOpen && at !== lists.at ? { ...visit, leftSeq: null, ms: null } : visit;
      }),
    checkpoints: lists.checkpoints.filter(({ seq }) => seq <= at),
  };
}

/** Edges that a resume may take next, and those that it must take after them: as long as there is but one way. */
export function edgesAhead({ edges, current }: Pick<GraphAt, 'edges' | 'current'>): ReadonlySet<string> {
  const ahead = new Set<string>();
  const out = (from: string) => edges.filter((edge) => edge.from === from);
  let front = current === null ? [] : out(current);
  while (front.length > 0) {
    const fresh = front.filter(({ from, to }) => !ahead.has(edgeId(from, to)));
    for (const { from, to } of fresh) ahead.add(edgeId(from, to));
    const [only] = fresh;
    const after = fresh.length === 1 && only ? out(only.to) : [];
    front = after.length === 1 ? after : [];
  }
  return ahead;
}

function byState<Item extends { readonly state: string }>(
  items: readonly Item[],
): ReadonlyMap<string, Item[]> {
  const by = new Map<string, Item[]>();
  for (const item of items) {
    const known = by.get(item.state);
    if (known) known.push(item);
    else by.set(item.state, [item]);
  }
  return by;
}

/** Visits that a state's words tell one by one. */
const TOLD = 12;

function saidOf(visits: GraphAt['visits']): string | undefined {
  if (visits.length === 0) return undefined;
  const lines = visits
    .slice(-TOLD)
    .map(
      ({ visit, enteredSeq, leftSeq }) =>
        `visit ${visit}: seq ${enteredSeq}${leftSeq === null ? ', still in it' : ` to ${leftSeq}`}`,
    );
  return [visits.length > TOLD ? `${visits.length - TOLD} before` : undefined, ...lines]
    .filter(Boolean)
    .join('\n');
}

/** Of each state, where edges touch its upper side, in px from its left. */
function touchesOf({ edges }: Placed): (at: Point) => readonly number[] {
  const ends = [...edges.values()].flatMap((points) =>
    [points[0], points.at(-1)].filter((end) => end !== undefined),
  );
  const byHeight = new Map<number, Point[]>();
  for (const end of ends) {
    const level = Math.round(end.y);
    byHeight.set(level, [...(byHeight.get(level) ?? []), end]);
  }
  return ({ x, y }) =>
    (byHeight.get(Math.round(y)) ?? [])
      .map((end) => end.x - x)
      .filter((touch) => touch >= 0 && touch <= NODE.width);
}

interface Around {
  /** Edges that a resume may take. */
  readonly ahead?: ReadonlySet<string>;
  /** States that the run has entered up to its newest event, on the line in force. */
  readonly entered?: ReadonlySet<string>;
  readonly rewound?: boolean;
}

/** Nodes and edges for React Flow, in the same order each time. */
export function toGraph(
  graph: GraphAt,
  placed: Placed,
  { ahead = NONE, entered = NONE, rewound = false }: Around = {},
): { readonly nodes: StateNode[]; readonly edges: TransitionEdge[] } {
  const reached = new Set(
    graph.edges.filter(({ from, to }) => ahead.has(edgeId(from, to))).map(({ to }) => to),
  );
  const visitsOf = byState(graph.visits);
  const pinsOf = byState(graph.checkpoints);
  const touches = touchesOf(placed);
  const nodes = graph.states.map((state): StateNode => {
    const visits = visitsOf.get(state.name) ?? [];
    const at = placed.nodes.get(state.name) ?? { x: 0, y: 0 };
    return {
      id: state.name,
      type: 'state',
      position: { x: at.x, y: at.y },
      width: NODE.width,
      height: NODE.height,
      measured: NODE,
      data: {
        name: state.name,
        visits: state.visits,
        unvisited:
          state.visits > 0
            ? undefined
            : entered.has(state.name)
              ? 'later'
              : rewound
                ? 'not-in-force'
                : 'never',
        totalMs: state.totalMs,
        final: state.final,
        initial: state.name === graph.initial,
        declared: state.declared,
        atCursor: state.name === graph.current,
        stoppedHere: state.stoppedHere,
        marks: topMarks(touches(at)),
        status: state.name === graph.current ? graph.status : undefined,
        checkpoints: (pinsOf.get(state.name) ?? []).map((each) => each.n),
        entries: visits.map((each) => each.enteredSeq),
        said: saidOf(visits),
        ahead: reached.has(state.name),
      },
    };
  });
  const known = new Set(graph.states.map((state) => state.name));
  const edges = graph.edges
    .filter((edge) => known.has(edge.from) && known.has(edge.to))
    .map(
      (edge): TransitionEdge => ({
        id: edgeId(edge.from, edge.to),
        type: 'transition',
        source: edge.from,
        target: edge.to,
        data: {
          taken: edge.taken,
          newest: edge.newest,
          declared: edge.declared,
          ahead: ahead.has(edgeId(edge.from, edge.to)),
          points: placed.edges.get(edgeId(edge.from, edge.to)) ?? [],
        },
      }),
    );
  return { nodes, edges };
}

/** Where a click on a state leads: its last entry at or before the cursor, and from there the entry before. */
export function entryBefore(entries: readonly number[], seq: number): number | undefined {
  if (entries.includes(seq)) return entries.findLast((entry) => entry < seq) ?? entries.at(-1);
  return entries.findLast((entry) => entry <= seq) ?? entries[0];
}
