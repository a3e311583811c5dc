import { describe, expect, it } from 'vitest';
import type { GraphAt } from '@/lib/client/api-types';
import { runId, seq } from '@/lib/core/events/ids';
import {
  edgesAhead,
  entryBefore,
  foldedTo,
  NODE,
  placedInRows,
  shapeKey,
  shapeOf,
  toGraph,
  topMarks,
  withFold,
} from './to-graph';

const state = (name: string, visits: number) => ({
  name,
  final: false,
  visits,
  totalMs: 0,
  lastSeq: null,
  tools: [],
  declared: true,
  stoppedHere: false,
});
const graph = (taken: number): GraphAt => ({
  runId: runId('run_1'),
  at: seq(9),
  status: 'waiting',
  provenance: 'declared',
  machineDigest: null,
  initial: 'plan',
  current: 'pay',
  states: [state('pay', taken), state('plan', 1)],
  edges: [
    { from: 'plan', to: 'pay', taken, lastSeq: null, declared: true, newest: taken > 0 },
    { from: 'plan', to: 'gone', taken: 0, lastSeq: null, declared: true, newest: false },
  ],
  visits: [{ state: 'plan', visit: 1, key: 'plan#1', enteredSeq: seq(2), leftSeq: seq(6), ms: 40 }],
  checkpoints: [{ id: 'cp_4', n: 1, state: 'plan', seq: seq(4) }],
});
const placed = {
  size: { width: 200, height: 100 },
  nodes: new Map([['plan', { x: 5, y: 7 }]]),
  edges: new Map(),
};

describe('the graph', () => {
  it('is laid out by its shape alone, so that moving the cursor moves nothing', () => {
    const whole = graph(3);
    expect(shapeKey(shapeOf(whole, graph(0)))).toBe(shapeKey(shapeOf(whole, whole)));
    expect(shapeOf(whole, graph(0)).states).toEqual(['plan', 'pay']);
  });

  it('keeps its place where a machine is mined: what came later has its room from the first moment on', () => {
    const whole: GraphAt = { ...graph(3), provenance: 'mined' };
    const early: GraphAt = { ...whole, states: [state('plan', 1)], edges: [] };
    expect(shapeKey(shapeOf(whole, early))).toBe(shapeKey(shapeOf(whole, whole)));
    const late: GraphAt = { ...whole, states: [...whole.states, state('new', 1)] };
    expect(shapeOf(whole, late).states).toEqual(['plan', 'pay', 'new']);
  });

  it('carries counts, the cursor, checkpoints and entries on its states', () => {
    const { nodes } = toGraph(graph(2), placed);
    expect(nodes.find((node) => node.id === 'plan')).toMatchObject({
      position: { x: 5, y: 7 },
      data: {
        initial: true,
        atCursor: false,
        status: undefined,
        checkpoints: [1],
        entries: [2],
        said: 'visit 1: seq 2 to 6',
      },
    });
    expect(nodes.find((node) => node.id === 'pay')).toMatchObject({
      data: { visits: 2, atCursor: true, status: 'waiting' },
    });
  });

  it('comes measured, so that moving the cursor does not have React Flow begin anew', () => {
    expect(toGraph(graph(2), placed).nodes.map((node) => node.measured)).toEqual([NODE, NODE]);
  });

  it('draws no edge to a state that is not there', () => {
    expect(
      toGraph(graph(1), placed).edges.map((edge) => [edge.id, edge.data?.taken, edge.data?.newest]),
    ).toEqual([['plan→pay', 1, true]]);
  });

  it('knows of a state without a visit whether the run entered it later', () => {
    const unvisited = (entered: readonly string[], rewound = false) =>
      toGraph(graph(0), placed, { entered: new Set(entered), rewound }).nodes.map(({ id, data }) => [
        id,
        data.unvisited,
      ]);
    expect(unvisited(['plan', 'pay'])).toEqual([
      ['pay', 'later'],
      ['plan', undefined],
    ]);
    expect(unvisited(['plan'])[0]).toEqual(['pay', 'never']);
    expect(unvisited(['plan'], true)[0]).toEqual(['pay', 'not-in-force']);
  });

  it('puts the flag and the first dot where no edge ends, as far as there is room', () => {
    expect(topMarks([])).toEqual({ flag: 'left', start: 92 });
    expect(topMarks([92])).toEqual({ flag: 'left', start: 69 });
    expect(topMarks([46, 92]).flag).toBe('right');
    expect(topMarks([20, 92, 164]).flag).toBe('left');
    const at = { x: 5, y: 7 };
    const edges = new Map([
      [
        'plan→pay',
        [
          { x: 0, y: 90 },
          { x: at.x + 46, y: at.y },
        ],
      ],
    ]);
    const [node] = toGraph({ ...graph(1), states: [state('plan', 1)] }, { ...placed, edges }).nodes;
    expect(node?.data.marks).toEqual({ flag: 'right', start: 92 });
  });

  it('leads from a state to its last entry, and from there to the one before', () => {
    expect([
      entryBefore([2, 8], 9),
      entryBefore([2, 8], 8),
      entryBefore([2, 8], 2),
      entryBefore([], 2),
    ]).toEqual([8, 2, 8, undefined]);
  });

  it('is folded where it is too large to be read: to where the run has been, stands and may come next', () => {
    const many = Array.from({ length: 200 }, (_, n) => state(`s${n}`, n < 10 ? 10 - n : 0));
    const edge = (from: number, to: number, taken: number) => ({
      from: `s${from}`,
      to: `s${to}`,
      taken,
      lastSeq: null,
      declared: true,
      newest: false,
    });
    const edges = many.flatMap((_, n) =>
      n === 199 ? [] : [edge(n, n + 1, n < 9 ? 1 : 0), edge(n, (n * 7) % 200, 0)],
    );
    const whole: GraphAt = { ...graph(1), states: many, edges, initial: 's0', current: 's9' };
    const fold = foldedTo(whole, whole);
    expect([...(fold?.states ?? [])]).toEqual([...Array.from({ length: 11 }, (_, n) => `s${n}`), 's63']);
    const shown = withFold(whole, fold);
    expect(shown.states).toHaveLength(12);
    expect(shown.edges.filter(({ taken }) => taken > 0)).toHaveLength(9);
    expect(shown.edges.filter(({ taken }) => taken === 0).map(({ from, to }) => `${from} ${to}`)).toEqual([
      's9 s10',
      's9 s63',
    ]);
    // A moment elsewhere is not hidden.
    expect(foldedTo(whole, { ...whole, current: 's150' })?.states.has('s150')).toBe(true);
    expect(foldedTo(graph(1), graph(1))).toBeUndefined();
  });

  it('knows which edges a resume may take, and which must follow', () => {
    const way = (...pairs: readonly string[]) => ({
      current: 'a',
      edges: pairs.map((pair) => ({
        from: pair[0] ?? '',
        to: pair[1] ?? '',
        taken: 0,
        lastSeq: null,
        declared: true,
        newest: false,
      })),
    });
    expect([...edgesAhead(way('ab', 'bc', 'cd', 'ce', 'xa'))]).toEqual(['a→b', 'b→c']);
    expect([...edgesAhead(way('ab', 'ac', 'bd'))]).toEqual(['a→b', 'a→c']);
    // Round and round, but not forever.
    expect([...edgesAhead(way('ab', 'ba'))]).toEqual(['a→b', 'b→a']);
    expect([...edgesAhead({ ...way('ab'), current: null })]).toEqual([]);
  });
});

describe('a machine in rows', () => {
  const names = Array.from({ length: 100 }, (_, n) => `s${n}`);
  const shape = {
    states: [...names, 'alone'],
    edges: names.slice(1).map((to, n) => ({ from: n < 9 ? 's0' : 's1', to })),
  };
  const { nodes, size } = placedInRows(shape);

  it('has a place for each state, none over another, all within its size', () => {
    expect(new Set(nodes.keys())).toEqual(new Set(shape.states));
    const places = [...nodes.values()];
    expect(new Set(places.map(({ x, y }) => `${x} ${y}`)).size).toBe(shape.states.length);
    for (const { x, y } of places) {
      expect(x + NODE.width).toBeLessThan(size.width);
      expect(y + NODE.height).toBeLessThan(size.height);
    }
  });

  it('puts what is nearer to the first state higher, and what nothing leads to last', () => {
    const row = (name: string) => nodes.get(name)?.y ?? Number.NaN;
    expect(row('s0')).toBeLessThan(row('s1'));
    expect(row('s9')).toBeLessThan(row('s10'));
    expect(row('s99')).toBeLessThan(row('alone'));
  });

  it('is placed where there is no state at all, and where edges lead round', () => {
    expect(placedInRows({ states: [], edges: [] }).nodes.size).toBe(0);
    const round = {
      states: ['a', 'b'],
      edges: [
        { from: 'a', to: 'b' },
        { from: 'b', to: 'a' },
        { from: 'a', to: 'a' },
      ],
    };
    expect(placedInRows(round).nodes.size).toBe(2);
  });
});
