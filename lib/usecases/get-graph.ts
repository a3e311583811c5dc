import { type MachineDigest, type RunId, type Seq, seq } from '@/lib/core/events/ids';
import { inForce, segmentsAt } from '@/lib/core/projections/effective-path';
import { type Graph, graphAt, type VisitEvent } from '@/lib/core/projections/graph';
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

/** The machine with visits and edges taken up to `at`, on the path that was in force there. */
export async function getGraph(
  deps: Pick<UsecaseDeps, 'store'>,
  ask: { readonly runId: RunId; readonly at: Seq | undefined },
): Promise<Result<GraphView, NotFound>> {
  return ofOneEdition(deps, ask.runId, async (run) => {
    const at = clampToHead(run, ask.at);
    const { state } = await stateAt(deps, run, at);
    const segments = segmentsAt(state.rewinds, at);
    const machineDigest = state.machineDigest ?? run.state.machineDigest;
    const machine = machineDigest === undefined ? undefined : await deps.store.machines.get(machineDigest);
    const visits: VisitEvent[] = [];
    for await (const page of eventPages(deps.store, run.runId, seq(0), at, ['state.entered', 'state.left'])) {
      for (const event of page) if (isVisit(event) && inForce(event.seq, segments)) visits.push(event);
    }
    const checkpoints = (await deps.store.checkpoints(ask.runId)).filter(
      (checkpoint) => checkpoint.seq <= at && inForce(checkpoint.seq, segments),
    );
    return ok({ runId: ask.runId, at, machineDigest, graph: graphAt(machine, state, visits, checkpoints) });
  });
}

const isVisit = (event: { readonly kind: string }): event is VisitEvent =>
  event.kind === 'state.entered' || event.kind === 'state.left';
