'use client';

import { useQuery } from '@tanstack/react-query';
import {
  BaseEdge,
  type EdgeProps,
  Handle,
  type NodeProps,
  Position,
  ReactFlow,
  ReactFlowProvider,
  useReactFlow,
} from '@xyflow/react';
import { useQueryStates } from 'nuqs';
import {
  createContext,
  type FocusEvent,
  memo,
  type RefObject,
  useContext,
  useDeferredValue,
  useEffect,
  useEffectEvent,
  useMemo,
  useRef,
  useState,
} from 'react';
import { Button } from '@/components/ui/button';
import { plural } from '@/components/ui/format';
import { Glyph } from '@/components/ui/glyph';
import { useHotkeys } from '@/components/ui/hotkeys';
import { EmptyNote, ProblemNote, Skeleton } from '@/components/ui/problem-note';
import type { GraphAt, RunSummary } from '@/lib/client/api-types';
import { runParams } from '@/lib/client/url-state';
import { shortNumbers } from '../checkpoint-words';
import { type Failed, Unread } from '../unread';
import { useGraphAt } from '../use-graphs';
import { LayoutNotLoaded, layout } from './layout';
import { machineWords, stateWords } from './state-words';
import {
  edgesAhead,
  foldedTo,
  NODE,
  type Point,
  placedInRows,
  type Size,
  type StateNode,
  shapeKey,
  shapeOf,
  type TransitionEdge,
  toGraph,
  withFold,
} from './to-graph';
import { fitted, revealing } from './view';

/** What a press on a state does, given the entries of its visits. The same function while the cursor moves. */
const Press = createContext<(entries: readonly number[]) => void>(() => undefined);

const StateNodeView = memo(function StateNodeView({ data }: NodeProps<StateNode>) {
  const press = useContext(Press);
  const { stands, meta, label, title } = stateWords(data);
  return (
    <>
      <Handle type="target" position={Position.Top} isConnectable={false} />
      <button
        type="button"
        className="state-node"
        data-never={data.unvisited === undefined ? undefined : ''}
        data-cursor={data.atCursor ? '' : undefined}
        data-stopped={data.stoppedHere ? stands?.tone : undefined}
        data-final={data.final ? '' : undefined}
        data-ahead={data.ahead ? '' : undefined}
        aria-label={label}
        title={title}
        onClick={() => press(data.entries)}
      >
        {data.initial && <i className="start-dot" style={{ left: data.marks.start }} aria-hidden="true" />}
        {data.atCursor && (
          <span className="flag" data-side={data.marks.flag} aria-hidden="true">
            cursor
          </span>
        )}
        <span className="top">
          {stands && (
            <span data-tone={stands.tone} className="contents">
              <Glyph name={stands.glyph} toned />
            </span>
          )}
          <code className="clip">{data.name}</code>
          {data.unvisited === undefined && <b>{data.visits}</b>}
        </span>
        <span className="meta">
          <span className="clip">{meta}</span>
          {data.checkpoints.length > 0 && (
            <span
              className="pins"
              title={`${data.checkpoints.length === 1 ? 'Checkpoint' : 'Checkpoints'} ${shortNumbers(data.checkpoints, 20)}`}
            >
              <Glyph name="checkpoint" />
              {shortNumbers(data.checkpoints, 2)}
            </span>
          )}
        </span>
      </button>
      <Handle type="source" position={Position.Bottom} isConnectable={false} />
    </>
  );
});

/** elk's splines come as cubic Bézier points; anything else is drawn straight. */
function pathOf(points: readonly Point[]): string {
  const [first, ...rest] = points;
  if (!first) return '';
  if (rest.length % 3 !== 0) return `M${first.x},${first.y} ${rest.map((p) => `L${p.x},${p.y}`).join(' ')}`;
  const curves: string[] = [];
  for (let n = 0; n < rest.length; n += 3)
    curves.push(
      `C${rest
        .slice(n, n + 3)
        .map((p) => `${p.x},${p.y}`)
        .join(' ')}`,
    );
  return `M${first.x},${first.y} ${curves.join(' ')}`;
}

/** A place on the curve, half-way along its pieces. */
function middleOf(points: readonly Point[]): Point {
  const pieces = Math.floor((points.length - 1) / 3);
  if (pieces === 0 || (points.length - 1) % 3 !== 0) {
    const [a, b] = [points[Math.floor((points.length - 1) / 2)], points[Math.ceil((points.length - 1) / 2)]];
    return a && b ? { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 } : { x: 0, y: 0 };
  }
  const start = Math.floor(pieces / 2) * 3;
  const t = pieces % 2 === 0 ? 0 : 0.5;
  const weights = [(1 - t) ** 3, 3 * (1 - t) ** 2 * t, 3 * (1 - t) * t ** 2, t ** 3];
  const along = (axis: 'x' | 'y') =>
    weights.reduce((sum, weight, n) => sum + weight * (points[start + n]?.[axis] ?? 0), 0);
  return { x: along('x'), y: along('y') };
}

const isPoints = (value: unknown): value is readonly Point[] => Array.isArray(value);

const TransitionView = memo(function TransitionView({
  id,
  data,
  sourceX,
  sourceY,
  targetX,
  targetY,
}: EdgeProps<TransitionEdge>) {
  const raw = data?.['points'];
  const points =
    isPoints(raw) && raw.length > 1
      ? raw
      : [
          { x: sourceX, y: sourceY },
          { x: targetX, y: targetY },
        ];
  const look = data?.newest ? 'newest' : (data?.taken ?? 0) > 0 ? 'taken' : 'never';
  const middle = middleOf(points);
  return (
    <g
      data-look={look}
      className="transition"
      data-ahead={data?.ahead === true ? '' : undefined}
      data-declared={data?.declared === false ? 'no' : undefined}
    >
      <title>{`${id}: taken ${data?.taken ?? 0} times${data?.declared === false ? ', not declared' : ''}`}</title>
      <BaseEdge id={id} path={pathOf(points)} markerEnd={`url(#arrow-${look})`} />
      {(data?.taken ?? 0) > 0 && (
        <g transform={`translate(${middle.x} ${middle.y})`} className="count">
          <rect x={-10} y={-8} width={20} height={16} rx={8} />
          <text y={3.5} textAnchor="middle">
            {data?.taken}
          </text>
        </g>
      )}
    </g>
  );
});

/** All of it, however small: the button's. */
const FIT = { padding: 0.06, maxZoom: 1.1 } as const;
/** With more states than these, only those in sight are drawn. */
const MANY = 100;
const NO_EDGES: TransitionEdge[] = [];
const nodeTypes = { state: StateNodeView };
const edgeTypes = { transition: TransitionView };

function Arrows() {
  return (
    <svg className="absolute size-0" aria-hidden="true">
      <defs>
        {(['newest', 'taken', 'never'] as const).map((look) => (
          <marker
            key={look}
            id={`arrow-${look}`}
            className="arrow"
            data-look={look}
            viewBox="0 0 8 8"
            refX="7"
            refY="4"
            markerWidth="8"
            markerHeight="8"
            markerUnits="userSpaceOnUse"
            orient="auto-start-reverse"
          >
            <path d="M0 0.5 8 4 0 7.5z" />
          </marker>
        ))}
      </defs>
    </svg>
  );
}

interface Props {
  readonly run: RunSummary;
  /** Seq of the cursor, once it rests. */
  readonly settled: number;
  /** The machine at the head; `failed`: why it could not be read. */
  readonly whole: GraphAt | undefined;
  readonly failed: Failed | undefined;
  readonly lists: GraphAt | undefined;
  /** A state was pressed; given the entries of its visits. The same function while the cursor moves. */
  readonly onEnter: (entries: readonly number[]) => void;
}

const Canvas = memo(function Canvas({
  graph,
  whole,
  isFolded,
  rewound,
  press,
}: {
  /** The whole machine would be too large to be read, and nobody asked for it. */
  readonly isFolded: boolean;
  readonly rewound: boolean;
  readonly graph: GraphAt;
  readonly whole: GraphAt;
  readonly press: (entries: readonly number[]) => void;
}) {
  const pane = useRef<HTMLDivElement>(null);
  const { getViewport, setViewport } = useReactFlow();
  const shown = useMemo(() => {
    const fold = foldedTo(whole, graph);
    const kept = isFolded ? fold : undefined;
    return {
      whole: withFold(whole, kept),
      graph: withFold(graph, kept),
      // A drawing of it would take minutes, and could not be read.
      inRows: fold !== undefined && !isFolded,
    };
  }, [whole, graph, isFolded]);
  const ahead = useMemo(() => edgesAhead(whole), [whole]);
  const entered = useMemo(
    () => new Set(whole.states.filter(({ visits }) => visits > 0).map(({ name }) => name)),
    [whole],
  );
  const { shape, key } = useMemo(() => {
    const drawn = shapeOf(shown.whole, shown.graph);
    return { shape: drawn, key: shapeKey(drawn) };
  }, [shown]);
  const placed = useQuery({
    queryKey: ['graph-layout', shown.inRows, key],
    queryFn: () => (shown.inRows ? placedInRows(shape) : layout(shape)),
    staleTime: Number.POSITIVE_INFINITY,
    retry: (_, error) => error instanceof LayoutNotLoaded,
    retryDelay: 1_000,
  });
  const laidOut = useMemo(() => placed.data && { key, ...placed.data }, [key, placed.data]);
  // An answer is shown in one go; drawn after it, the first drawing lets presses in between.
  const drawn = useDeferredValue(laidOut);
  const places = drawn?.key === key ? drawn : undefined;
  const { nodes, edges } = useMemo(
    () =>
      places ? toGraph(shown.graph, places, { ahead, entered, rewound }) : { nodes: [], edges: NO_EDGES },
    [shown, places, ahead, entered, rewound],
  );
  // Hundreds of states and edges at once would hold up the page; the states come first.
  const drawnEdges = useDeferredValue(edges, NO_EDGES);
  // A state that a key brings the focus to. A pointer's press must not move what it presses.
  const showFocused = ({ target, currentTarget }: FocusEvent) => {
    const id =
      target.matches(':focus-visible') && target.closest<HTMLElement>('.react-flow__node')?.dataset['id'];
    const at = id ? places?.nodes.get(id) : undefined;
    if (at)
      void setViewport(revealing(getViewport(), currentTarget.getBoundingClientRect(), { ...at, ...NODE }));
  };
  if (placed.isError)
    return <ProblemNote title="The graph could not be laid out" detail={placed.error.message} />;
  if (!places) return <Skeleton rows={4} />;
  return (
    <Press value={press}>
      <Arrows />
      <div className="canvas" ref={pane}>
        <ReactFlow
          key={key}
          nodes={nodes}
          edges={drawnEdges}
          nodeTypes={nodeTypes}
          edgeTypes={edgeTypes}
          onlyRenderVisibleElements={nodes.length > MANY}
          minZoom={0.1}
          maxZoom={2}
          nodesDraggable={false}
          nodesConnectable={false}
          nodesFocusable={false}
          edgesFocusable={false}
          elementsSelectable={false}
          disableKeyboardA11y
          zoomOnDoubleClick={false}
          onFocus={showFocused}
          proOptions={{ hideAttribution: true }}
        >
          <Follow
            at={graph.current === null ? undefined : places.nodes.get(graph.current)}
            size={places.size}
            pane={pane}
          />
        </ReactFlow>
      </div>
    </Press>
  );
});

/** Fits the graph again when its pane gets another size, and keeps the cursor's state in sight. */
function Follow({
  at,
  size,
  pane,
}: {
  /** Where the cursor's state is placed. */
  readonly at: Point | undefined;
  readonly size: Size;
  readonly pane: RefObject<HTMLDivElement | null>;
}) {
  const { getViewport, setViewport, viewportInitialized: ready } = useReactFlow();
  // As the browser tells it: to ask for it would make it lay out the page for each move.
  const room = useRef<Size | undefined>(undefined);
  const fit = useEffectEvent((now: Size) => {
    room.current = now;
    void setViewport(fitted(now, size, at && { ...at, ...NODE }));
  });
  const show = useEffectEvent(() => {
    if (!room.current || !at) return;
    const now = getViewport();
    const next = revealing(now, room.current, { ...at, ...NODE });
    if (next !== now) void setViewport(next);
  });
  useEffect(() => {
    const box = pane.current;
    if (!box || !ready) return;
    const observer = new ResizeObserver(([entry]) => entry && fit(entry.contentRect));
    observer.observe(box);
    return () => observer.disconnect();
  }, [pane, ready]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the view follows the cursor's state
  useEffect(() => {
    if (ready) show();
  }, [at, ready]);
  return null;
}

function Zoom() {
  const { zoomIn, zoomOut, fitView } = useReactFlow();
  const closer = () => void zoomIn();
  const farther = () => void zoomOut();
  const fit = () => void fitView(FIT);
  useHotkeys([
    { key: '+', what: 'zoom in', run: closer },
    { key: '-', what: 'zoom out', run: farther },
    { key: '0', what: 'fit the graph', run: fit },
  ]);
  return (
    <>
      <Button
        kind="quiet"
        size="small"
        glyph="minus"
        label="Zoom out"
        title="Zoom out (-)"
        onPress={farther}
      />
      <Button kind="quiet" size="small" glyph="plus" label="Zoom in" title="Zoom in (+)" onPress={closer} />
      <Button
        kind="quiet"
        size="small"
        glyph="fit"
        label="Fit the graph"
        title="Fit the graph (0)"
        onPress={fit}
      />
    </>
  );
}

const graphParams = { graph: runParams.graph };

export const GraphPane = memo(function GraphPane({ run, settled, whole, failed, lists, onEnter }: Props) {
  const { atCursor, failed: cursorFailed } = useGraphAt(run, settled, lists);
  const [{ graph: scope }, setParams] = useQueryStates(graphParams, { history: 'replace' });
  const setScope = (next: 'cursor' | 'whole') => void setParams({ graph: next });
  const [isWhole, setIsWhole] = useState(false);
  const graph = scope === 'cursor' ? atCursor : whole;
  const known = graph && machineWords(graph);
  const fold = useMemo(() => (whole && graph ? foldedTo(whole, graph) : undefined), [whole, graph]);
  const error = failed ?? (scope === 'cursor' ? cursorFailed : undefined);
  return (
    <ReactFlowProvider>
      <section className="pane" aria-label="Machine">
        <div className="pane-head">
          <h2>Machine</h2>
          {graph && (
            <span
              className="second small clip"
              title={known === 'mined' ? 'Drawn from what the trace shows; nobody declared it' : undefined}
            >
              {known}
              {graph.machineDigest !== null && (
                <code className="third"> {graph.machineDigest.slice(0, 8)}</code>
              )}
            </span>
          )}
          <span className="grow" />
          <fieldset className="segment" data-size="small" aria-label="Counts">
            <button type="button" aria-pressed={scope === 'cursor'} onClick={() => setScope('cursor')}>
              At cursor
            </button>
            <button type="button" aria-pressed={scope === 'whole'} onClick={() => setScope('whole')}>
              Whole run
            </button>
          </fieldset>
          <Zoom />
        </div>
        <div className="graph">
          {error !== undefined && <Unread what="The graph" error={error.error} onAgain={error.again} />}
          {(!graph || !whole) && error === undefined && <Skeleton rows={4} />}
          {graph && error === undefined && graph.states.length === 0 && (
            <EmptyNote title="No state yet">The run has not entered its first state.</EmptyNote>
          )}
          {graph && whole && error === undefined && graph.states.length > 0 && (
            <Canvas graph={graph} whole={whole} isFolded={!isWhole} rewound={run.line > 0} press={onEnter} />
          )}
          {fold && whole && error === undefined && (
            <p className="graph-folded" role="status">
              {isWhole
                ? `All ${plural(whole.states.length, 'state')}, in rows${graph?.current == null ? '' : `; the view follows the cursor, at ${graph.current}`}`
                : `${fold.states.size} of ${plural(whole.states.length, 'state')}, ${fold.edges.size} of ${plural(whole.edges.length, 'edge')}`}
              <Button size="small" kind="quiet" onPress={() => setIsWhole(!isWhole)}>
                {isWhole ? 'Fold' : 'Show all'}
              </Button>
            </p>
          )}
          <div className="graph-legend" aria-hidden="true">
            <span>
              <i data-k="cursor" /> at cursor
            </span>
            <span>
              <i /> visited
            </span>
            <span>
              <i data-k="never" /> not visited
            </span>
            <span>
              <i data-k="bad" /> stopped here
            </span>
            <span>
              <Glyph name="checkpoint" /> checkpoint
            </span>
          </div>
        </div>
      </section>
    </ReactFlowProvider>
  );
});
