import type { EpochMs, Seq } from '../events/ids';
import type { EventOf } from '../events/run-event';
import { visitOf } from '../events/step-key';
import type { Machine } from '../machine/machine';
import { machineSeen } from '../machine/mine';
import type { CheckpointRecord, RunState } from './records';

export interface GraphState {
  readonly name: string;
  readonly final: boolean;
  readonly visits: number;
  /** ms in its visits, of one that is open up to the moment. */
  readonly totalMs: number;
  readonly lastSeq?: Seq;
  readonly tools: readonly string[];
  readonly declared: boolean;
  /** The run stopped here: failed, interrupted or cancelled. */
  readonly stoppedHere: boolean;
}

export interface GraphEdge {
  readonly from: string;
  readonly to: string;
  readonly taken: number;
  readonly lastSeq?: Seq;
  readonly declared: boolean;
  /** The edge taken last. */
  readonly newest: boolean;
}

export interface GraphVisit {
  readonly state: string;
  readonly visit: number;
  readonly key: string;
  readonly enteredSeq: Seq;
  readonly leftSeq?: Seq;
  /** ms in it, of one that is open up to the moment; absent where that is not known. */
  readonly ms?: number;
}

export interface Graph {
  /** How the run stood at the moment. */
  readonly status: RunState['status'];
  readonly provenance: Machine['provenance'];
  readonly initial: string;
  /** The state that the run is in. */
  readonly current?: string;
  readonly states: readonly GraphState[];
  readonly edges: readonly GraphEdge[];
  readonly visits: readonly GraphVisit[];
  readonly checkpoints: readonly {
    readonly id: string;
    readonly n: number;
    readonly state: string;
    readonly seq: Seq;
  }[];
}

export type VisitEvent = EventOf<'state.entered'> | EventOf<'state.left'>;

/** The machine that the trace shows up to `state`; tools and models are not in a state. Marked as mined. */
export const mineMachine = (state: RunState): Machine =>
  machineSeen({
    agent: state.agent,
    states: Object.keys(state.visits),
    edges: Object.keys(state.edges).map((edge) => {
      const [from = '', to = ''] = splitEdge(edge);
      return [from, to] as const;
    }),
    finals: state.status === 'completed' && state.visit !== undefined ? [state.visit.state] : [],
  });

/**
 * The machine with what was visited and taken up to `state`; mined from the trace where there is none. A state or edge
 * that was seen and not declared is marked. `visitEvents`: of the effective path up to `state.seq`, ascending.
 */
export function graphAt(
  machine: Machine | undefined,
  state: RunState,
  visitEvents: readonly VisitEvent[],
  checkpoints: readonly CheckpointRecord[],
): Graph {
  const drawn = machine ?? mineMachine(state);
  const visits = visitsOf(visitEvents, state.seq, state.at);
  const first = visits[0]?.state;
  const current = state.visit?.state;
  return {
    status: state.status,
    provenance: drawn.provenance,
    initial: machine === undefined && first !== undefined ? first : drawn.initial,
    ...(current !== undefined && { current }),
    states: statesOf(drawn, state, openMs(state, visits)),
    edges: edgesOf(drawn, state),
    visits,
    checkpoints: checkpoints
      .filter((checkpoint) => checkpoint.seq <= state.seq)
      .map(({ id, n, seq, visit }) => ({ id, n, seq, state: visitOf(visit).state })),
  };
}

const stops: ReadonlySet<RunState['status']> = new Set(['failed', 'interrupted', 'cancelled'] as const);

/** ms since the newest visit was entered; 0 when it was left. */
function openMs({ visit, at }: RunState, visits: readonly GraphVisit[]): number {
  const open = visit && visits.some(({ key, leftSeq }) => key === visit.key && leftSeq === undefined);
  return open ? Math.max(0, at - visit.at) : 0;
}

function statesOf(machine: Machine, state: RunState, open: number): readonly GraphState[] {
  const names = new Set([...Object.keys(machine.states), ...Object.keys(state.visits)]);
  return [...names].map((name) => {
    const declared = machine.states[name];
    const seen = state.visits[name];
    return {
      name,
      final: declared?.final ?? false,
      visits: seen?.count ?? 0,
      totalMs: (seen?.totalMs ?? 0) + (state.visit?.state === name ? open : 0),
      ...(seen && { lastSeq: seen.lastSeq }),
      tools: declared?.tools ?? [],
      declared: declared !== undefined,
      stoppedHere: stops.has(state.status) && state.visit?.state === name,
    };
  });
}

function edgesOf(machine: Machine, state: RunState): readonly GraphEdge[] {
  const edges = new Map<string, { readonly from: string; readonly to: string; readonly declared: boolean }>();
  for (const [from, { transitions }] of Object.entries(machine.states)) {
    for (const to of transitions) edges.set(`${from}→${to}`, { from, to, declared: true });
  }
  for (const edge of Object.keys(state.edges)) {
    const [from = '', to = ''] = splitEdge(edge);
    if (!edges.has(edge)) edges.set(edge, { from, to, declared: false });
  }
  const newest = Math.max(0, ...Object.values(state.edges).map((edge) => edge.lastSeq));
  return [...edges].map(([key, edge]) => {
    const taken = state.edges[key];
    return {
      ...edge,
      taken: taken?.count ?? 0,
      ...(taken && { lastSeq: taken.lastSeq }),
      newest: taken !== undefined && taken.lastSeq === newest,
    };
  });
}

/**
 * Visits in the order of their entry, as they stood at `at`; one whose entry is not among the events is left out. `now`:
 * when that was, undefined where the visits that are open there may have been left before anybody looks.
 */
export function visitsOf(
  events: readonly VisitEvent[],
  at: Seq,
  now: EpochMs | undefined,
): readonly GraphVisit[] {
  const visits = new Map<string, GraphVisit>();
  const entries = new Map<string, EpochMs>();
  for (const event of events) {
    if (event.seq > at) break;
    if (event.kind === 'state.entered') {
      entries.set(event.key, event.at);
      visits.set(event.key, {
        state: event.state,
        visit: event.visit,
        key: event.key,
        enteredSeq: event.seq,
        ...(now !== undefined && { ms: Math.max(0, now - event.at) }),
      });
    } else {
      const visit = visits.get(event.key);
      const entered = entries.get(event.key);
      if (visit && entered !== undefined)
        visits.set(event.key, { ...visit, leftSeq: event.seq, ms: Math.max(0, event.at - entered) });
    }
  }
  return [...visits.values()];
}

/** State names are free text, so an edge's key may hold more than one arrow: the first one splits it. */
const splitEdge = (edge: string): readonly string[] => {
  const arrow = edge.indexOf('→');
  return arrow < 0 ? [edge] : [edge.slice(0, arrow), edge.slice(arrow + 1)];
};
