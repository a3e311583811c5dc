import { epochMs } from '@/lib/core/events/ids';
import { assertDefined } from '@/lib/core/shared/assert';
import { isStep, roleOf, type SpanRole } from './kind';
import { compareInstants, type Instant, type Span } from './span';

/*
 * The spans of a trace as a tree, whatever is missing of it or wrong with it, and what of it is shown. Nothing here
 * recurses: a hostile trace may nest as deep as it has spans.
 */

export interface Node {
  readonly span: Span;
  readonly start: Instant;
  readonly parent: Node | undefined;
  /** Its parent is named and is not there. */
  readonly missingParent: string | undefined;
  /** By start. */
  readonly children: Node[];
  role: SpanRole;
  /** Whether it is a step, or anything below it is. */
  busy: boolean;
  /** Spans around a model's call that only wrap it; nearest first. */
  wrappers: readonly Span[];
  /** Not shown by itself: the nearest shown span above it names it. */
  folded: boolean;
}

export interface Tree {
  /** Parents before children, earlier ones first. */
  readonly nodes: readonly Node[];
  readonly roots: readonly Node[];
  /** No span of the trace says anything of models, tools or agents: its spans are shown as they are. */
  readonly plain: boolean;
  readonly cycles: readonly Span[];
  readonly startless: readonly Span[];
}

export const compareNodes = (left: Node, right: Node): number =>
  compareInstants(left.start, right.start) || (left.span.id < right.span.id ? -1 : 1);

export function treeOf(spans: readonly Span[]): Tree {
  const startless = spans.filter(({ start }) => start === undefined);
  const earliest = spans.reduce<Instant | undefined>(
    (min, { start }) =>
      start !== undefined && (min === undefined || compareInstants(start, min) < 0) ? start : min,
    undefined,
  );
  const startOf = (span: Span): Instant => span.start ?? earliest ?? span.end ?? { ms: epochMs(0), ns: 0 };
  const byId = new Map(spans.map((span) => [span.id, span]));
  const ordered = [...spans].sort(
    (left, right) => compareInstants(startOf(left), startOf(right)) || (left.id < right.id ? -1 : 1),
  );
  const cycles = cutsOf(ordered, byId);
  const { nodes, roots } = connect(ordered, byId, new Set(cycles), startOf);
  for (const node of nodes.toReversed())
    node.busy = isStep(node.role) || node.children.some(({ busy }) => busy);
  const plain = nodes.every((node) => !node.busy && node.role !== 'agent');
  if (plain) showPlainly(nodes);
  else {
    wrapCalls(nodes);
    foldNoise(nodes);
  }
  return { nodes, roots, plain, cycles, startless };
}

/** Spans at which a circle of parents is cut: of each circle the earliest. O(spans). */
function cutsOf(ordered: readonly Span[], byId: ReadonlyMap<string, Span>): readonly Span[] {
  const walkOf = new Map<string, number>();
  const placeOf = new Map(ordered.map((span, place) => [span, place]));
  const cuts: Span[] = [];
  for (const [walk, first] of ordered.entries()) {
    let at: Span | undefined = first;
    while (at !== undefined && !walkOf.has(at.id)) {
      walkOf.set(at.id, walk);
      at = at.parentId === undefined ? undefined : byId.get(at.parentId);
    }
    // The walk came back to itself: a circle. Walks begin at the earliest span that none has seen, which may lie before it.
    if (at !== undefined && walkOf.get(at.id) === walk) cuts.push(earliestIn(at, byId, placeOf));
  }
  return cuts;
}

function earliestIn(member: Span, byId: ReadonlyMap<string, Span>, placeOf: ReadonlyMap<Span, number>): Span {
  let earliest = member;
  let at = member;
  do {
    if ((placeOf.get(at) ?? 0) < (placeOf.get(earliest) ?? 0)) earliest = at;
    at = assertDefined(byId.get(at.parentId ?? ''), 'a circle goes on');
  } while (at !== member);
  return earliest;
}

function connect(
  ordered: readonly Span[],
  byId: ReadonlyMap<string, Span>,
  cut: ReadonlySet<Span>,
  startOf: (span: Span) => Instant,
): Pick<Tree, 'nodes' | 'roots'> {
  const childrenOf = new Map<string, Span[]>();
  const top: Span[] = [];
  for (const span of ordered) {
    const { parentId } = span;
    if (parentId === undefined || !byId.has(parentId) || cut.has(span)) top.push(span);
    else {
      const siblings = childrenOf.get(parentId);
      if (siblings === undefined) childrenOf.set(parentId, [span]);
      else siblings.push(span);
    }
  }
  const nodes: Node[] = [];
  const place = (span: Span, parent: Node | undefined): Node => {
    const { parentId } = span;
    const node: Node = {
      span,
      start: startOf(span),
      parent,
      missingParent: parent === undefined && parentId !== undefined && !cut.has(span) ? parentId : undefined,
      children: [],
      role: roleOf(span),
      busy: false,
      wrappers: [],
      folded: false,
    };
    nodes.push(node);
    return node;
  };
  const roots = top.map((span) => place(span, undefined));
  for (let i = 0; i < nodes.length; i += 1) {
    const node = nodes[i] as Node;
    for (const child of childrenOf.get(node.span.id) ?? []) node.children.push(place(child, node));
  }
  return { nodes, roots };
}

/** Every span without children is a step of its own, what holds some a unit. */
function showPlainly(nodes: readonly Node[]): void {
  for (const node of nodes) {
    node.role = 'unit';
    node.busy = true;
  }
}

/**
 * Of model spans within model spans the innermost is the call; those around it only wrap it. A tool's span within one of
 * the same tool tells it once more.
 */
function wrapCalls(nodes: readonly Node[]): void {
  /** Model calls at or below a node that no agent or tool stands around. */
  const calls = new Map<Node, readonly Node[]>();
  for (const node of nodes.toReversed()) {
    if (node.role === 'agent' || node.role === 'tool') continue;
    const inside = node.children.flatMap((child) => calls.get(child) ?? []);
    if (node.role !== 'llm') {
      // More than one is all that matters: a wrapper of several has nothing to say of each.
      if (inside.length > 0) calls.set(node, inside.slice(0, 2));
    } else if (inside.length === 0) calls.set(node, [node]);
    else {
      node.role = 'hull';
      const [only] = inside;
      if (inside.length === 1 && only !== undefined) only.wrappers = [...only.wrappers, node.span];
      calls.set(node, inside);
    }
  }
  for (const node of nodes) {
    const above = nearest(node.parent, ({ role }) => role === 'tool' || role === 'agent' || role === 'llm');
    if (
      node.role === 'tool' &&
      above?.role === 'tool' &&
      toolIn(node) !== undefined &&
      toolIn(node) === toolIn(above)
    ) {
      node.role = 'hull';
      node.folded = true;
    }
  }
}

const toolIn = ({ span }: Node) => span.attributes.get('gen_ai.tool.name');

/** Nearest at or above; bounded, so that a chain of many spans costs no square. */
function nearest(from: Node | undefined, wanted: (node: Node) => boolean): Node | undefined {
  let node = from;
  for (let i = 0; node !== undefined && i < 64; i += 1, node = node.parent) if (wanted(node)) return node;
  return undefined;
}

/** What is no step and holds none is told by what stands around it. An agent that shows no steps is one itself. */
function foldNoise(nodes: readonly Node[]): void {
  for (const node of nodes.toReversed())
    node.busy =
      (isStep(node.role) && !node.folded) || node.role === 'agent' || node.children.some(({ busy }) => busy);
  for (const node of nodes) if (node.role === 'hull' || !node.busy) node.folded = true;
}
