import type { RunId, Seq } from '@/lib/core/events/ids';
import type { StateChange } from '@/lib/core/projections/diff';
import type { GraphVisit } from '@/lib/core/projections/graph';
import type { Phase } from '@/lib/core/projections/records';
import type { GraphView } from '@/lib/usecases/get-graph';
import type { FoldedState } from '@/lib/usecases/state-at';
import type { GraphAt, StateAt, StateDiff } from '@/lib/wire/v1/runs';
import { iso, orNull } from './common';
import { presentStep } from './rows';

export function presentState(view: FoldedState & { readonly runId: RunId; readonly phase: Phase }): StateAt {
  const { state } = view;
  return {
    runId: view.runId,
    seq: state.seq,
    at: iso(state.at),
    line: state.line,
    status: state.status,
    phase: view.phase,
    visit:
      state.visit === undefined
        ? null
        : {
            key: state.visit.key,
            state: state.visit.state,
            visit: state.visit.visit,
            entrySeq: state.visit.entrySeq,
          },
    input: orNull(state.input),
    variables: state.variables,
    messages: { count: state.messages.count, headSeq: state.messages.headSeq },
    open: Object.values(state.open).map((step) => presentStep(step, true)),
    apis: state.apis,
    visits: state.visits,
    edges: state.edges,
    counts: {
      steps: state.counts.steps,
      visits: state.counts.visits,
      checkpoints: state.counts.checkpoints,
      failedAttempts: state.counts.failedAttempts,
    },
    folded: { snapshotSeq: view.snapshotSeq, events: view.events },
  };
}

export const presentDiff = (diff: {
  readonly from: Seq;
  readonly to: Seq;
  readonly changes: readonly StateChange[];
}): StateDiff => ({
  from: diff.from,
  to: diff.to,
  changes: diff.changes.map((change) => ({
    path: change.path,
    change: change.change,
    left: orNull(change.left),
    right: orNull(change.right),
    leftRef: orNull(change.leftRef),
    rightRef: orNull(change.rightRef),
  })),
});

export const presentVisit = (visit: GraphVisit): GraphAt['visits'][number] => ({
  ...visit,
  leftSeq: orNull(visit.leftSeq),
  ms: orNull(visit.ms),
});

export const presentGraph = ({ runId, at, machineDigest, graph }: GraphView): GraphAt => ({
  runId,
  at,
  status: graph.status,
  provenance: graph.provenance,
  machineDigest: orNull(machineDigest),
  initial: graph.initial,
  current: orNull(graph.current),
  states: graph.states.map((state) => ({
    ...state,
    lastSeq: orNull(state.lastSeq),
    tools: [...state.tools],
  })),
  edges: graph.edges.map((edge) => ({ ...edge, lastSeq: orNull(edge.lastSeq) })),
  visits: graph.visits.map(presentVisit),
  checkpoints: [...graph.checkpoints],
});
