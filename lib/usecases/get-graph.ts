import { type MachineDigest, type RunId, type Seq, seq } from '@/lib/core/events/ids';
import type { RunEvent } from '@/lib/core/events/run-event';
import type { Machine } from '@/lib/core/machine/machine';
import { inForce, type Segment, segmentsAt } from '@/lib/core/projections/effective-path';
import { type Graph, graphAt, mineMachine, type VisitEvent } from '@/lib/core/projections/graph';
import type { RunState } from '@/lib/core/projections/records';
import { ok, type Result } from '@/lib/core/shared/result';
import type { UsecaseDeps } from './deps';
import { ofOneEdition } from './one-edition';
import type { NotFound } from './problems';
import { clampToHead, eventPages, stateAt } from './state-at';

export interface GraphView {
  readonly runId: RunId;
  readonly at: Seq;
  readonly machineDigest: MachineDigest | undefined;
  readonly graph: Graph;
}

/**
 * The machine with visits and edges taken up to `at`, on the path that was in force there. Where the journal names no
 * machine, it is what all of the journal shows. Without `lists` its visits and checkpoints are left out: they grow with
 * the run, and the rest does not.
 */
export async function getGraph(
  deps: Pick<UsecaseDeps, 'store'>,
  ask: { readonly runId: RunId; readonly at: Seq | undefined; readonly lists?: boolean },
): Promise<Result<GraphView, NotFound>> {
  const { lists = true } = ask;
  return ofOneEdition(deps, ask.runId, async (run) => {
    const at = clampToHead(run, ask.at);
    const { state } = await stateAt(deps, run, at);
    const segments = segmentsAt(state.rewinds, at);
    const machineDigest = state.machineDigest ?? run.state.machineDigest;
    const visits = await (lists ? everyVisit : firstAndLast)(deps.store, run.runId, state, segments);
    const first = visits[0]?.state;
    const machine =
      machineDigest === undefined ? shownBy(run.state, first) : await deps.store.machines.get(machineDigest);
    const checkpoints = lists
      ? (await deps.store.checkpoints(ask.runId)).filter(
          (checkpoint) => checkpoint.seq <= at && inForce(checkpoint.seq, segments),
        )
      : [];
    const graph = graphAt(machine, state, visits, checkpoints);
    return ok({ runId: ask.runId, at, machineDigest, graph: lists ? graph : { ...graph, visits: [] } });
  });
}

type VisitsOf = (
  store: UsecaseDeps['store'],
  id: RunId,
  state: RunState,
  segments: readonly Segment[],
) => Promise<readonly VisitEvent[]>;

const everyVisit: VisitsOf = async (store, id, { seq: at }, segments) => {
  const visits: VisitEvent[] = [];
  for await (const page of eventPages(store, id, seq(0), at, ['state.entered', 'state.left']))
    visits.push(...page.filter(isVisit).filter((event) => inForce(event.seq, segments)));
  return visits;
};

async function firstEntry(
  store: UsecaseDeps['store'],
  id: RunId,
  segments: readonly Segment[],
): Promise<RunEvent | undefined> {
  for (const { from, to } of segments) {
    const stretch = { after: seq(from - 1), before: seq(to + 1), limit: 1 };
    const [entry] = await store.events(id, { ...stretch, kinds: ['state.entered'] });
    if (entry !== undefined) return entry;
  }
  return undefined;
}

/** Where the path begins, and whether the newest visit is open: all that states and edges are told by. */
const firstAndLast: VisitsOf = async (store, id, { seq: at, visit }, segments) => {
  if (visit === undefined) return [];
  const first = await firstEntry(store, id, segments);
  const newest = await store.eventsAt(id, [visit.entrySeq]);
  for await (const page of eventPages(store, id, visit.entrySeq, at, ['state.left'])) {
    const end = page.filter(isVisit).find((event) => event.key === visit.key && inForce(event.seq, segments));
    if (end !== undefined) return [first, ...newest, end].filter(isVisit);
  }
  return [first, ...newest].filter(isVisit);
};

const isVisit = (event: RunEvent | undefined): event is VisitEvent =>
  event?.kind === 'state.entered' || event?.kind === 'state.left';

const shownBy = (head: RunState, first: string | undefined): Machine => ({
  ...mineMachine(head),
  ...(first !== undefined && { initial: first }),
});
