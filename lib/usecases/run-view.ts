import type { EpochMs, RunId } from '@/lib/core/events/ids';
import { liveLease } from '@/lib/core/journal/lease';
import {
  type Action,
  type ActionName,
  actionsOf,
  type NextAction,
  nextAction,
} from '@/lib/core/planner/actions';
import { type Unclaimed, unclaimed } from '@/lib/core/planner/unclaimed';
import { doubtsOf, evidenceOf, ledgerOf, mayHaveHappenedTwice } from '@/lib/core/projections/ledger';
import type {
  EffectRecord,
  Phase,
  QuestionRecord,
  RunRecord,
  RunStatus,
} from '@/lib/core/projections/records';
import { phaseOf, statusNow } from '@/lib/core/projections/run-status';
import type { UsecaseDeps } from './deps';
import { liveWorkers } from './list-workers';
import type { Children, WorkerRecord } from './ports';

/** A run as the list and the page show it. `status` is the one expression for both. */
export interface RunView {
  readonly run: RunRecord;
  readonly status: RunStatus;
  readonly phase: Phase;
  /** The newest, and how many there are. */
  readonly children: Children;
  /** Open ones of the line in force. */
  readonly questions: readonly QuestionRecord[];
  readonly actions: Readonly<Record<ActionName, Action>>;
  readonly next: NextAction | undefined;
  /** Why no worker takes up a queued run. */
  readonly unclaimed: Unclaimed | undefined;
  /** Effects in doubt. */
  readonly doubts: number;
  /** An alarm: effects of which two calls may have happened. */
  readonly perhapsTwice: number;
  readonly mined: boolean;
  /** A lease on it is live. */
  readonly held: boolean;
}

/** So many children are named; the others are counted. */
const MOST_CHILDREN = 100;

/** The runs that were made of each of these. */
export const childrenOf = (
  { store, judgedFrom }: Pick<UsecaseDeps, 'store' | 'judgedFrom'>,
  runs: readonly RunId[],
  now: EpochMs,
): Promise<ReadonlyMap<RunId, Children>> => store.children(runs, MOST_CHILDREN, { now, judgedFrom });

/** What is known about runs at one instant. What surrounds them is read for all of them at once. */
export async function viewRuns(
  deps: Pick<UsecaseDeps, 'store' | 'engine' | 'leaseMs' | 'judgedFrom' | 'barred'>,
  runs: readonly RunRecord[],
  now: EpochMs = deps.store.clock.now(),
): Promise<readonly RunView[]> {
  const ids = runs.map((run) => run.runId);
  const [children, effects, workers, mined] = await Promise.all([
    childrenOf(deps, ids, now),
    deps.store.watchedEffects(ids),
    liveWorkers(deps, now),
    minedAmong(deps, runs),
  ]);
  const alarming = await alarms(deps, effects);
  return runs.map((run) =>
    viewOf(deps, run, now, {
      children: children.get(run.runId) ?? childless,
      doubts: doubtsOf(run.runId, effects, now),
      perhapsTwice: alarming.filter(({ runId }) => runId === run.runId).length,
      workers,
      mined: mined.has(run.runId),
    }),
  );
}

/** Those whose machine is what their trace shows: none was declared, or the importer mined it. One that has not begun shows none. */
async function minedAmong(
  { store }: Pick<UsecaseDeps, 'store'>,
  runs: readonly RunRecord[],
): Promise<ReadonlySet<RunId>> {
  const foreign = runs.filter(({ home }) => home === 'mirror');
  const digests = new Set(foreign.flatMap(({ state }) => state.machineDigest ?? []));
  const machines = new Map(
    await Promise.all(
      [...digests].map(async (digest) => [digest, await store.machines.get(digest)] as const),
    ),
  );
  const isMined = ({ home, state: { machineDigest, counts } }: RunRecord): boolean =>
    machineDigest === undefined
      ? counts.visits > 0
      : home === 'mirror' && machines.get(machineDigest)?.provenance === 'mined';
  return new Set(runs.filter(isMined).map(({ runId }) => runId));
}

/** Those of them of which two calls may have happened. Other generations tell as well; they are rare. */
async function alarms(
  deps: Pick<UsecaseDeps, 'store'>,
  watched: readonly EffectRecord[],
): Promise<readonly EffectRecord[]> {
  const suspects = watched.filter((effect) => effect.generation > 1 || evidenceOf(effect).length > 0);
  const roots = new Set(suspects.map(({ root }) => root));
  const ledgers = new Map(
    await Promise.all(
      [...roots].map(async (root) => [root, ledgerOf(await deps.store.effects(root))] as const),
    ),
  );
  const generations = ({ root, stepKey }: EffectRecord) => ledgers.get(root)?.get(stepKey) ?? [];
  return watched.filter((effect) => mayHaveHappenedTwice(effect, generations(effect)));
}

const childless: Children = { total: 0, newest: [] };

function viewOf(
  deps: Pick<UsecaseDeps, 'engine' | 'judgedFrom' | 'barred'>,
  run: RunRecord,
  now: EpochMs,
  around: {
    readonly children: Children;
    readonly doubts: readonly EffectRecord[];
    readonly perhapsTwice: number;
    readonly workers: readonly WorkerRecord[];
    readonly mined: boolean;
  },
): RunView {
  const { children, doubts, perhapsTwice, workers, mined } = around;
  const status = statusNow(run, now, deps.judgedFrom);
  const input = {
    now,
    judgedFrom: deps.judgedFrom,
    can: deps.engine.can,
    ...(deps.barred !== undefined && { barred: deps.barred }),
    doubts,
    hasWorker: workers.some(({ agents }) => agents.some(({ name }) => name === run.state.agent)),
  };
  return {
    run,
    status,
    phase: phaseOf({ ...run.state, status }, doubts),
    children,
    questions: Object.values(run.state.questions).filter((question) => question.status === 'open'),
    actions: actionsOf(run, status, input),
    next: nextAction(run, status, input),
    unclaimed: unclaimed(run, workers),
    doubts: doubts.length,
    perhapsTwice,
    mined,
    held: liveLease(run, now, deps.judgedFrom) !== undefined,
  };
}
