import { type RunId, runId, type Seq, type Sha256, seq } from '@/lib/core/events/ids';
import type { Payload, PayloadRef } from '@/lib/core/events/payload';
import type { RunEvent } from '@/lib/core/events/run-event';
import type { Draft } from '@/lib/core/journal/extend';
import { inheritEvents } from '@/lib/core/journal/inherit';
import { newRun } from '@/lib/core/journal/new-run';
import { inForce, segmentsAt } from '@/lib/core/projections/effective-path';
import type { RunRecord } from '@/lib/core/projections/records';
import { fail, ok, type Result } from '@/lib/core/shared/result';
import {
  acceptance,
  type CommandAnswer,
  type CommandProblem,
  type PlannedCommand,
  plannedParts,
} from './command';
import type { UsecaseDeps } from './deps';
import { judgedRun } from './judge-leases';
import type { LoadedPlan } from './load-plan';
import { keptMoving, MOST_TRIES, planFor } from './order-recovery';
import { eventPages } from './state-at';
import { writeOrder } from './write-order';

type Deps = Pick<UsecaseDeps, 'store' | 'engine' | 'hash' | 'ids' | 'leaseMs' | 'judgedFrom' | 'actor'>;
type Ask = PlannedCommand<'fork' | 'replay'>;

/**
 * `fork` and `replay`: a new run of the lineage. Its first event is the acceptance; a fork goes on with copies of what
 * it inherits, so that it stands on its own, and with the edits as events.
 */
export async function branchRun(
  deps: Deps,
  parentId: RunId,
  command: Ask,
  requestDigest: Sha256,
): Promise<Result<CommandAnswer, CommandProblem>> {
  for (let attempt = 0; attempt < MOST_TRIES; attempt++) {
    const judged = await judgedRun(deps, parentId);
    if (!judged.ok) return judged;
    const parent = judged.value;
    const loaded = await planFor(deps, parent, command);
    if (!loaded.ok) return loaded;
    const start = command.mode === 'fork' ? await forkStart(deps, parent, loaded.value) : replayStart;
    const result = await accept(deps, parent, command, requestDigest, loaded.value, start);
    if (result.ok || result.problem.kind !== 'moved') return result as Result<CommandAnswer, CommandProblem>;
  }
  return fail({ kind: 'not-possible', detail: keptMoving });
}

interface Start {
  readonly drafts: readonly Draft[];
  readonly payloads: readonly Payload[];
}
const replayStart: Start = { drafts: [], payloads: [] };

function accept(
  deps: Deps,
  parent: RunRecord,
  command: Ask,
  requestDigest: Sha256,
  loaded: LoadedPlan,
  start: Start,
): Promise<Result<CommandAnswer, CommandProblem | { readonly kind: 'moved' }>> {
  const { root } = parent;
  const { commandId } = command;
  const id = runId(deps.ids.next('run'));
  const from = { runId: parent.runId, seq: loaded.plan.from.seq };
  return writeOrder<CommandProblem | { readonly kind: 'moved' }>(
    deps,
    { runId: id, root, also: [{ runId: parent.runId, root }], commandId, requestDigest, loaded },
    ({ ledgerVersion, now, also }) => {
      // What the lineage's effects came to since the plan was made may be another plan.
      if (ledgerVersion !== loaded.ledgerVersion) return fail({ kind: 'moved' });
      // So may what late parts made of its journal, and then it is not what was copied.
      if (also.get(parent.runId)?.edition !== parent.edition) return fail({ kind: 'moved' });
      const fresh = newRun({
        runId: id,
        agent: parent.state.agent,
        createdAt: now,
        root,
        parent: { ...from, mode: command.mode },
        source: 'sdk',
      });
      const events: readonly Draft[] = [
        { ...acceptance(command, deps.actor), ...plannedParts(command, loaded), parent: from },
        ...start.drafts,
        { kind: 'run.queued', reason: 'command', commandId },
      ];
      const payloads = [...loaded.payloads, ...start.payloads];
      return ok({ base: fresh, events, options: { snapshotAtEnd: true }, payloads });
    },
  );
}

/** Copies up to the point (with edits: up to where its open visit was entered), then the edits. */
async function forkStart(deps: Deps, parent: RunRecord, { plan, edited }: LoadedPlan): Promise<Start> {
  const upTo = plan.edits.length > 0 ? plan.from.entrySeq : plan.from.seq;
  const copies = inheritEvents(parent.runId, await pathUpTo(deps, parent, upTo), seq(2));
  const { input, patch, payloads } = edited;
  const started = withInput(copies, parent, input);
  return {
    drafts: patch.length === 0 ? started : [...started, { kind: 'variables.patched', patch }],
    payloads,
  };
}

async function pathUpTo(
  deps: Pick<UsecaseDeps, 'store'>,
  parent: RunRecord,
  upTo: Seq,
): Promise<readonly RunEvent[]> {
  // The path as it was seen at the point: rewinds after it do not count.
  const segments = segmentsAt(
    parent.state.rewinds.filter((rewind) => rewind.seq <= upTo),
    upTo,
  );
  const path: RunEvent[] = [];
  for await (const page of eventPages(deps.store, parent.runId, seq(0), upTo)) {
    for (const event of page) if (inForce(event.seq, segments)) path.push(event);
  }
  return path;
}

/** The copies with a `run.started`, whose input is the edited one where there is one. */
function withInput(
  copies: readonly Draft[],
  parent: RunRecord,
  input: PayloadRef | undefined,
): readonly Draft[] {
  const edited = input !== undefined && { input };
  if (copies.some((draft) => draft.kind === 'run.started')) {
    return copies.map((draft) => (draft.kind === 'run.started' ? { ...draft, ...edited } : draft));
  }
  const { agent, machineDigest, tags, input: recorded } = parent.state;
  const started: Draft = {
    kind: 'run.started',
    agent,
    ...(machineDigest !== undefined && { machineDigest }),
    ...(recorded !== undefined && { input: recorded }),
    ...edited,
    tags,
  };
  return [started, ...copies];
}
