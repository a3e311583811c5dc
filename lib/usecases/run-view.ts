import type { EpochMs, RunId } from '@/lib/core/events/ids';
import { liveLease } from '@/lib/core/journal/lease';
import {
  type Action,
  type ActionName,
  actionsOf,
  type NextAction,
  nextAction,
} from '@/lib/core/planner/actions';
import type { Phase, QuestionRecord, RunRecord, RunStatus } from '@/lib/core/projections/records';
import { phaseOf, statusNow } from '@/lib/core/projections/run-state';
import type { UsecaseDeps } from './deps';
import { isLive } from './list-workers';

/** A run as the list and the page show it. `status` is the one expression for both. */
export interface RunView {
  readonly run: RunRecord;
  readonly status: RunStatus;
  readonly phase: Phase;
  readonly children: readonly {
    readonly runId: RunId;
    readonly mode: 'fork' | 'replay';
    readonly status: RunStatus;
  }[];
  /** Open ones of the line in force. */
  readonly questions: readonly QuestionRecord[];
  readonly actions: Readonly<Record<ActionName, Action>>;
  readonly next: NextAction | undefined;
  readonly mined: boolean;
  /** A lease on it is live. */
  readonly held: boolean;
}

/** What is known about runs at one instant; `lineages` are asked for once each. */
export async function viewRuns(
  deps: Pick<UsecaseDeps, 'store' | 'engine' | 'leaseMs' | 'judgedFrom'>,
  runs: readonly RunRecord[],
  now: EpochMs = deps.store.clock.now(),
): Promise<readonly RunView[]> {
  const roots = [...new Set(runs.map((run) => run.root))];
  const lineages = new Map(
    await Promise.all(roots.map(async (root) => [root, await deps.store.lineage(root)] as const)),
  );
  const verifiable = new Map(
    await Promise.all(
      runs
        .filter((run) => run.inDoubt > 0)
        .map(async (run) => [run.runId, await countVerifiable(deps, run)] as const),
    ),
  );
  const workers = (await deps.store.workers.list()).filter((worker) => isLive(worker, now, deps.leaseMs));
  const hosted = new Set(workers.flatMap((worker) => worker.agents.map(({ name }) => name)));
  return runs.map((run) =>
    viewOf(deps, run, now, lineages.get(run.root) ?? [], verifiable.get(run.runId) ?? 0, hosted),
  );
}

async function countVerifiable(deps: Pick<UsecaseDeps, 'store'>, run: RunRecord): Promise<number> {
  const effects = await deps.store.effects(run.root);
  return effects.filter(
    (effect) => effect.runId === run.runId && effect.status === 'in-doubt' && effect.intent.verifiable,
  ).length;
}

function viewOf(
  deps: Pick<UsecaseDeps, 'engine' | 'judgedFrom'>,
  run: RunRecord,
  now: EpochMs,
  lineage: readonly RunRecord[],
  verifiable: number,
  hosted: ReadonlySet<string>,
): RunView {
  const status = statusNow(run, now, deps.judgedFrom);
  const input = {
    now,
    judgedFrom: deps.judgedFrom,
    can: deps.engine.can,
    verifiable,
    hasWorker: hosted.has(run.state.agent),
  };
  return {
    run,
    status,
    phase: phaseOf({ ...run.state, status }),
    children: lineage.flatMap((other) =>
      other.parent?.runId === run.runId
        ? [{ runId: other.runId, mode: other.parent.mode, status: statusNow(other, now, deps.judgedFrom) }]
        : [],
    ),
    questions: Object.values(run.state.questions).filter((question) => question.status === 'open'),
    actions: actionsOf(run, status, input),
    next: nextAction(run, status, input),
    mined: run.state.machineDigest === undefined,
    held: liveLease(run, now, deps.judgedFrom) !== undefined,
  };
}
