import type { StepKey } from '@/lib/core/events/ids';
import type { Hash } from '@/lib/core/events/payload';
import { branchPath, keyIn, visitPath } from '@/lib/core/events/step-key';
import { type Call, modelCall, retrievalCall, toolCall, unitName, wholeCall } from './call';
import { type ChatMessage, toolIdsIn } from './messages';
import { compareInstants, type Instant, laterOf } from './span';
import { compareNodes, type Node, type Tree } from './tree';
import { usable } from './values';

/*
 * From the tree to visits and steps; the rule is told in README.md. Units that hold steps are states where there are
 * several things to tell apart, else the phases of the loop are; everything below keeps its nesting in its keys.
 */

export interface Step {
  readonly node: Node;
  readonly call: Call;
  readonly key: StepKey;
  readonly scope: string;
  readonly visit: Visit;
  /** The step that it is part of. */
  readonly within: Step | undefined;
  readonly start: Instant;
  /** Absent: it is open. */
  readonly end: Instant | undefined;
  readonly depth: number;
}

export interface Visit {
  readonly key: string;
  readonly state: string;
  readonly visit: number;
  /** The unit whose work it is; a phase has none. */
  readonly node: Node | undefined;
  readonly start: Instant;
  readonly end: Instant | undefined;
}

export interface Layout {
  readonly visits: readonly Visit[];
  /** By start. */
  readonly steps: readonly Step[];
  /** Units that are the run itself, from the outside in. */
  readonly outer: readonly Node[];
  /** What is no visit and no step, those among them: told where it ends. */
  readonly rest: readonly Node[];
  /** Spans that begin before or end after what holds them, or end before they begin. */
  readonly skewed: readonly Node[];
}

/** Where a node's own steps and units stand. */
type Home = Node | 'top';

interface Item {
  readonly node: Node;
  readonly call: Call;
  start: Instant;
  end: Instant | undefined;
  /** Of all that lies below too. */
  from: Instant;
  to: Instant | undefined;
  readonly items: Item[];
}

export function layOut(tree: Tree, maxDepth: number, hash: Hash): Layout {
  const skewed = new Set<Node>();
  const top: Item[] = [];
  const itemOf = new Map<Node, Item>();
  const homes = new Map<Node, Home>();
  for (const node of tree.nodes) {
    const { parent } = node;
    const home: Home =
      parent === undefined
        ? 'top'
        : itemOf.has(parent) && holds(parent)
          ? parent
          : (homes.get(parent) ?? 'top');
    homes.set(node, home);
    if (node.folded) continue;
    const item = asItem(node, maxDepth, skewed);
    itemOf.set(node, item);
    (home === 'top' ? top : (itemOf.get(home)?.items ?? top)).push(item);
  }
  for (const node of tree.nodes.toReversed()) {
    const item = itemOf.get(node);
    if (item !== undefined) settle(item, skewed);
  }
  settleOrder(top);
  if (!tree.plain)
    for (const item of itemOf.values()) item.items.splice(0, item.items.length, ...item.items.map(core));

  const outer: Node[] = [];
  let level = top;
  for (;;) {
    const [only] = level;
    if (level.length !== 1 || only === undefined || only.items.length === 0 || !isUnit(only.node)) break;
    outer.push(only.node);
    level = only.items;
  }
  const placed = placeVisits(tree.plain ? level : level.map(named), hash);
  const shown = new Set([...placed.visits.map(({ node }) => node), ...placed.steps.map(({ node }) => node)]);
  const rest = tree.nodes.filter((node) => !shown.has(node));
  return { ...placed, outer, rest, skewed: [...skewed].sort(compareNodes) };
}

/** A unit that holds one thing and has nothing to add is told by that thing. */
function core(item: Item): Item {
  let inner = item;
  for (;;) {
    const [only] = inner.items;
    const adds = inner.call.failure !== undefined && only?.call.failure === undefined;
    if (inner.node.role !== 'unit' || only === undefined || inner.items.length > 1 || adds) return inner;
    inner.node.folded = true;
    inner = only;
  }
}

/** A unit around one other gives its place to that: an agent's name says more than its host's. */
function named(item: Item): Item {
  let inner = item;
  for (;;) {
    const [only] = inner.items;
    if (inner.node.role !== 'unit' || only === undefined || inner.items.length > 1 || !isUnit(only.node))
      return inner;
    inner.node.folded = true;
    inner = only;
  }
}

const isUnit = ({ role }: Node): boolean => role === 'agent' || role === 'unit';
/** Steps below it stand in it. Models hold nothing: what runs while they answer stands beside them. */
const holds = (node: Node): boolean => isUnit(node) || node.role === 'tool';

function asItem(node: Node, maxDepth: number, skewed: Set<Node>): Item {
  const { end } = node.span;
  const isBackwards = end !== undefined && compareInstants(end, node.start) < 0;
  if (isBackwards) skewed.add(node);
  const stop = isBackwards ? node.start : end;
  return {
    node,
    call: callOf(node, maxDepth),
    start: node.start,
    end: stop,
    from: node.start,
    to: stop,
    items: [],
  };
}

function callOf({ span, role, wrappers }: Node, maxDepth: number): Call {
  switch (role) {
    case 'llm':
      return modelCall(span, wrappers, maxDepth);
    case 'tool':
      return toolCall(span, maxDepth);
    case 'retrieval':
      return retrievalCall(span, maxDepth);
    case 'agent':
      return wholeCall(span, 'agent', maxDepth);
    case 'unit':
    case 'hull':
      return wholeCall(span, 'compute', maxDepth);
  }
}

/** Orders what it holds and stretches over it. */
function settle(item: Item, skewed: Set<Node>): void {
  settleOrder(item.items);
  for (const inner of item.items) {
    if (
      startsBefore(inner.from, item.start) ||
      (item.end !== undefined && inner.to !== undefined && startsBefore(item.end, inner.to))
    )
      skewed.add(inner.node);
    if (compareInstants(inner.from, item.from) < 0) item.from = inner.from;
    if (item.to !== undefined) item.to = inner.to === undefined ? undefined : laterOf(item.to, inner.to);
  }
}

const inMs = ({ ms, ns }: Instant): number => ms + ns / 1_000_000;
/** Clocks tell whole milliseconds and durations tell more: so much apart is together. */
const GRAIN = 1;
const startsBefore = (left: Instant, right: Instant): boolean => inMs(left) < inMs(right) - GRAIN;

/**
 * What came of something begins after it, also where clocks that tell whole milliseconds have it begin with it: a tool
 * after the reply that asked for it, a model's call after the answers that it is told.
 */
function settleOrder(items: Item[]): void {
  const asked = new Map<string, Item>();
  const answered = new Map<string, Item>();
  for (const item of items) {
    const { call } = item;
    if (call.kind === 'llm' && call.reply !== undefined)
      for (const id of toolIdsIn([call.reply]).called) asked.set(id, item);
    else if (call.kind === 'tool' && call.callId !== undefined) answered.set(call.callId, item);
  }
  for (const item of [...items].sort(compareItems)) {
    const { call } = item;
    if (call.kind === 'tool' && call.callId !== undefined) startAfter(item, asked.get(call.callId));
    else if (call.kind === 'llm')
      for (const id of toolIdsIn(lastAnswers(call.messages)).answered) startAfter(item, answered.get(id));
  }
  items.sort(compareItems);
}

/** The answers at the end of a request: those before were told already. */
function lastAnswers(messages: readonly ChatMessage[]): readonly ChatMessage[] {
  const from = messages.findLastIndex(({ role }) => role === 'assistant');
  return messages.slice(from + 1);
}

function startAfter(item: Item, cause: Item | undefined): void {
  if (cause?.end === undefined || compareInstants(item.start, cause.end) >= 0) return;
  // A tool that runs while the model still streams began before the reply was whole: that is told as it was.
  if (startsBefore(item.start, cause.end) || startsBefore(item.start, cause.start)) return;
  item.start = cause.end;
  item.from = laterOf(item.from, cause.end);
  if (item.end !== undefined) item.end = laterOf(item.end, cause.end);
  if (item.to !== undefined) item.to = laterOf(item.to, cause.end);
}

const compareItems = (left: Item, right: Item): number =>
  compareInstants(left.from, right.from) || rank(left) - rank(right) || compareNodes(left.node, right.node);
/** Of what begins at the same instant a model comes first: tools run because it said so. */
const rank = ({ call }: Item): number => (call.kind === 'llm' ? 0 : 1);

// ── visits and keys ──────────────────────────────────────────────────────────────────────────────────────────────

const PHASES = { llm: 'model', tool: 'tools', retrieval: 'retrieval' } as const;

interface Group {
  readonly state: string;
  readonly node: Node | undefined;
  readonly items: Item[];
  readonly from: Instant;
  to: Instant | undefined;
}

/** Items of one level, by start, as visits to be. */
function groupsOf(level: readonly Item[]): readonly Group[] {
  const groups: Group[] = [];
  let phase: Group | undefined;
  for (const item of level) {
    const { node, call, from, to } = item;
    if (isUnit(node) && (node.role === 'agent' || item.items.length > 0)) {
      groups.push({ state: stateName(unitName(node.span)), node, items: [item], from, to });
      phase = undefined;
      continue;
    }
    const state =
      node.role === 'llm' || node.role === 'tool' || node.role === 'retrieval' ? PHASES[node.role] : 'work';
    // Each turn of a model is a visit of its own, unless calls run side by side.
    const joins =
      phase?.state === state &&
      (call.kind !== 'llm' || phase.to === undefined || compareInstants(from, phase.to) < 0);
    if (phase !== undefined && joins) {
      phase.items.push(item);
      if (phase.to !== undefined) phase.to = to === undefined ? undefined : laterOf(phase.to, to);
    } else {
      phase = { state, node: undefined, items: [item], from, to };
      groups.push(phase);
    }
  }
  return groups;
}

/** An arrow would part the name of a transition in the wrong place. */
const stateName = (name: string): string => usable(name.replaceAll('→', '->'), 'unit');

/** An item whose step is still to be placed. */
interface Waiting {
  readonly item: Item;
  readonly scope: string;
  readonly depth: number;
  readonly within: Step | undefined;
}

function placeVisits(level: readonly Item[], hash: Hash): Pick<Layout, 'visits' | 'steps'> {
  const counts = new Map<string, number>();
  const nth = (of: string): number => {
    const n = (counts.get(of) ?? 0) + 1;
    counts.set(of, n);
    return n;
  };
  const visits: Visit[] = [];
  const steps: Step[] = [];
  for (const { state, node, items, from, to } of groupsOf(level)) {
    const visit = nth(`state ${state}`);
    const key = visitPath(state, visit);
    const [whole] = items;
    // A unit with nothing in it, such as an agent that shows none of its calls, is a step of its own state.
    const inside = node !== undefined && whole !== undefined && whole.items.length > 0 ? whole.items : items;
    const here: Visit = {
      key,
      state,
      visit,
      node: inside === items ? undefined : node,
      start: from,
      end: to,
    };
    visits.push(here);
    const open: Waiting[] = inside
      .map((item) => ({ item, scope: key, depth: 1, within: undefined }))
      .reverse();
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const { item, scope, depth, within } = next;
      const { call } = item;
      const stepKeyed = keyIn(scope, call.name, nth(`${scope}/${call.name}`));
      const step: Step = {
        node: item.node,
        call,
        key: stepKeyed,
        scope,
        visit: here,
        within,
        start: item.from,
        end: endOf(item),
        depth,
      };
      steps.push(step);
      const below = short(stepKeyed, key, hash);
      for (const inner of item.items.toReversed())
        open.push({ item: inner, scope: below, depth: depth + 1, within: step });
    }
  }
  return { visits, steps };
}

/** It ends when its own span does; what outlives it is told as skewed. */
const endOf = ({ end, from }: Item): Instant | undefined =>
  end === undefined ? undefined : laterOf(end, from);

const LONGEST_SCOPE = 1_200;

/** Addresses have a longest length: far below, a digest stands for the way there. */
const short = (scope: string, visit: string, hash: Hash): string =>
  scope.length <= LONGEST_SCOPE ? scope : branchPath(`${visit}/deep#1`, hash(scope).slice(0, 16));
