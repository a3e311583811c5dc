import type { Edge, Node } from '@xyflow/react';
import type { GraphAt } from '@/lib/client/api-types';

export interface StateNodeView extends Record<string, unknown> {
  readonly name: string;
  readonly visits: number;
  readonly totalMs: number;
  readonly final: boolean;
  readonly initial: boolean;
  readonly declared: boolean;
  readonly atCursor: boolean;
  readonly stoppedHere: boolean;
  /** How the run stands, in the state that it is in. */
  readonly status: GraphAt['status'] | undefined;
  readonly checkpoints: readonly number[];
  /** Entries of its visits, oldest first. */
  readonly entries: readonly number[];
}
export interface TransitionView extends Record<string, unknown> {
  readonly taken: number;
  readonly newest: boolean;
  readonly declared: boolean;
}
export type StateNode = Node<StateNodeView, 'state'>;
export type TransitionEdge = Edge<TransitionView, 'transition'>;

export interface Placed {
  readonly size: Size;
  readonly nodes: ReadonlyMap<string, { readonly x: number; readonly y: number }>;
  /** Bend points of an edge, ends included. */
  readonly edges: ReadonlyMap<string, readonly { readonly x: number; readonly y: number }[]>;
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

export const NODE = { width: 160, height: 44 } as const;
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

/** Nodes and edges for React Flow, in the same order each time. */
export function toGraph(
  graph: GraphAt,
  placed: Placed,
): { readonly nodes: StateNode[]; readonly edges: TransitionEdge[] } {
  const nodes = graph.states.map((state): StateNode => {
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
        totalMs: state.totalMs,
        final: state.final,
        initial: state.name === graph.initial,
        declared: state.declared,
        atCursor: state.name === graph.current,
        stoppedHere: state.stoppedHere,
        status: state.name === graph.current ? graph.status : undefined,
        checkpoints: graph.checkpoints.filter((each) => each.state === state.name).map((each) => each.n),
        entries: graph.visits.filter((each) => each.state === state.name).map((each) => each.enteredSeq),
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
