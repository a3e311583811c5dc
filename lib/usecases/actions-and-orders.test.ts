import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  commandId,
  type EpochMs,
  epochMs,
  machineDigest,
  questionId,
  runId,
  sha256,
  stepKey,
  workerId,
} from '@/lib/core/events/ids';
import type { Action, ActionName } from '@/lib/core/planner/actions';
import { doubtsOf } from '@/lib/core/projections/ledger';
import type { RunRecord, RunStatus } from '@/lib/core/projections/records';
import type { Result } from '@/lib/core/shared/result';
import { sdkWorkerEngine } from '@/lib/engines/sdk-worker/sdk-worker';
import { memoryStore } from '@/lib/testing/memory-store';
import { driveLineage, testHash, testMachine } from '@/lib/testing/random-journal';
import { claimRun } from './claim-run';
import type { Command, CommandAnswer, CommandProblem } from './command';
import type { UsecaseDeps } from './deps';
import { getRun } from './get-run';
import { giveCommand } from './give-command';
import { newLeaseId } from './lease-id';
import { makePlan } from './make-plan';
import { releaseLease } from './release-lease';

/*
 * What list and page offer and what orders refuse is one rule (DESIGN promise 12): an action is said to be possible
 * where its order is not refused for the state of the run, and to be impossible where it is.
 */

const DIGEST = machineDigest('d'.repeat(64));
const RUN = runId('run_root');

type Deps = UsecaseDeps & { readonly log: { error(about: object, message: string): void } };

interface World {
  readonly deps: Deps;
  readonly pass: (ms: number) => void;
  readonly claim: () => Promise<unknown>;
}

/** How a random journal is put before the console. */
const variants = ['here', 'mirror', 'replay', 'no machine'] as const;
type Variant = (typeof variants)[number];

/** What happens before one looks. */
const preludes = [
  'resume',
  'rewind',
  'pause',
  'cancel',
  'verify',
  'claim',
  'hand back',
  'lapse',
  'worker',
] as const;
type Prelude = (typeof preludes)[number];

async function worldOf(numbers: readonly number[], variant: Variant): Promise<World> {
  const lineage = driveLineage(numbers);
  let now: EpochMs = epochMs(lineage.now);
  let ids = 0;
  const store = memoryStore({ now: () => now });
  await store.machines.put(DIGEST, testMachine);
  const stored = lineage.of();
  const { machineDigest: _digest, ...unknown } = stored.run.state;
  const { lease } = stored.run;
  const run: RunRecord = {
    ...stored.run,
    ...(lease && { lease: { ...lease, leaseId: newLeaseId({ next: (prefix) => prefix }, RUN) } }),
    ...(variant === 'mirror' && { home: 'mirror' as const }),
    ...(variant === 'replay' && {
      parent: { runId: runId('gone'), seq: stored.run.headSeq, mode: 'replay' as const },
    }),
    ...(variant === 'no machine' && { state: unknown }),
  };
  await store.commit<undefined, never>({
    runId: RUN,
    decide: () => ({
      ok: true,
      value: {
        value: undefined,
        change: {
          run,
          events: stored.events,
          payloads: [],
          steps: [...stored.steps.values()],
          effects: [...lineage.ledger()],
          questions: [...stored.questions.values()],
          checkpoints: stored.checkpoints,
          snapshots: stored.snapshots,
        },
      },
    }),
  });
  const deps: Deps = {
    store,
    engine: sdkWorkerEngine(),
    ids: { next: (prefix) => `${prefix}_${++ids}` },
    hash: testHash,
    leaseMs: 1_000,
    judgedFrom: epochMs(0),
    actor: 'op',
    log: { error: (about) => expect.unreachable(String(Object.values(about)[0])) },
  };
  return {
    deps,
    pass: (ms) => {
      now = epochMs(now + ms);
    },
    claim: () =>
      claimRun(
        deps,
        {
          claimId: `claim_${++ids}`,
          workerId: workerId('w9'),
          agents: [{ name: 'random-agent', machineDigest: DIGEST }],
          waitMs: 0,
        },
        new AbortController().signal,
      ),
  };
}

const viewOf = async ({ deps }: World) => {
  const view = await getRun(deps, { runId: RUN });
  if (!view.ok) throw new Error('there is a run');
  return view.value;
};

let orders = 0;
const given = () => ({ commandId: commandId(`order_${++orders}`), reason: '' });

async function planned(
  { deps }: World,
  mode: 'resume' | 'rewind' | 'fork' | 'replay',
): Promise<Result<CommandAnswer, CommandProblem>> {
  const ask = {
    mode,
    from: mode === 'resume' ? 'latest' : 'start',
    edits: [],
    decisions: {},
    options: {},
  } as const;
  const plan = await makePlan(deps, { runId: RUN, ...ask });
  if (!plan.ok) return plan;
  return giveCommand(deps, {
    runId: RUN,
    command: { ...ask, ...given(), planDigest: plan.value.plan.digest },
  });
}

/** `drift` too: but for a trace without a machine, all machines here are one. */
const stateObstacles: ReadonlySet<string> = new Set([
  'held',
  'mirror',
  'no-worker',
  'nothing-to-do',
  'drift',
]);

/** Whether the order is refused for what the run is, not for what its plan would do. */
function refusedForState(result: Result<CommandAnswer, CommandProblem>): boolean {
  if (result.ok) return false;
  const { problem } = result;
  if (problem.kind === 'blocked')
    return problem.plan.plan.obstacles.some(({ kind }) => stateObstacles.has(kind));
  return problem.kind === 'held' || problem.kind === 'mirror' || problem.kind === 'not-possible';
}

async function unplanned(world: World, name: 'pause' | 'cancel' | 'verify' | 'answer'): Promise<boolean> {
  const give = (command: Command) => giveCommand(world.deps, { runId: RUN, command });
  if (name === 'pause' || name === 'cancel') return (await give({ ...given(), mode: name })).ok;
  const { run } = await viewOf(world);
  if (name === 'answer') {
    const open = Object.values(run.state.questions).filter(({ status }) => status === 'open');
    const asked = open[0] ?? { questionId: questionId('none'), questionDigest: sha256('0'.repeat(64)) };
    const { questionId: id, questionDigest } = asked;
    return (await give({ ...given(), mode: 'answer', questionId: id, questionDigest, value: 'yes' })).ok;
  }
  const doubts = doubtsOf(RUN, await world.deps.store.effects(RUN), world.deps.store.clock.now());
  const keys = doubts.length === 0 ? [stepKey('plan#1/none#1')] : doubts.map((effect) => effect.stepKey);
  let some = false;
  for (const key of keys) some = (await give({ ...given(), mode: 'verify', stepKey: key })).ok || some;
  return some;
}

/** Whether the order is taken, as far as the state of the run goes. */
async function isTaken(world: World, name: ActionName): Promise<boolean> {
  switch (name) {
    case 'resume':
    case 'rewind':
    case 'fork':
    case 'replay':
      return !refusedForState(await planned(world, name));
    default:
      return unplanned(world, name);
  }
}

async function happens(world: World, prelude: Prelude): Promise<void> {
  switch (prelude) {
    case 'resume':
    case 'rewind':
      await planned(world, prelude);
      return;
    case 'pause':
    case 'cancel':
    case 'verify':
      await unplanned(world, prelude);
      return;
    case 'claim':
      await world.claim();
      return;
    case 'hand back': {
      const { lease } = (await viewOf(world)).run;
      if (lease !== undefined) await releaseLease(world.deps, { ...lease, outcome: 'hand-over' });
      return;
    }
    case 'lapse':
      world.pass(1_500);
      return;
    case 'worker':
      await world.deps.store.workers.seen({
        workerId: workerId('w8'),
        agents: [{ name: 'random-agent', machineDigest: DIGEST }],
        firstSeenAt: world.deps.store.clock.now(),
        seenAt: world.deps.store.clock.now(),
      });
      return;
  }
}

async function seenAfter(
  numbers: readonly number[],
  variant: Variant,
  before: readonly Prelude[],
): Promise<World> {
  const world = await worldOf(numbers, variant);
  for (const prelude of before) await happens(world, prelude);
  return world;
}

const asked = {
  running: [18, 71, 12, 80],
  waiting: [13, 89, 81, 8, 87, 67, 53],
  interrupted: [35, 62, 46, 35, 95, 13, 72, 10, 38, 79, 37],
  failed: [75, 41, 2, 80, 29, 29, 11, 20, 76],
};
/** A run in each status, where one can be asked with a question that is open. */
const examples: readonly (readonly [RunStatus, readonly number[], readonly Prelude[]])[] = [
  ['running', asked.running, []],
  ['waiting', asked.waiting, []],
  ['interrupted', asked.interrupted, []],
  ['failed', asked.failed, []],
  ['queued', [9], ['lapse', 'resume']],
  ['running', [9], ['lapse', 'resume', 'claim']],
  ['paused', asked.running, ['pause', 'hand back']],
  ['queued', asked.running, ['hand back']],
  ['cancelled', [9], ['lapse', 'resume', 'cancel']],
  ['completed', [61, 46, 73, 39, 72, 73], []],
];

it.each(examples)('a run that is %s: possible is what is not refused', async (status, numbers, before) => {
  const world = await seenAfter(numbers, 'here', before);
  expect((await viewOf(world)).status).toBe(status);
  await agrees(numbers, 'here', before);
});

it(
  'an action is possible exactly where its order is not refused for the state of the run',
  () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat(0xffff), { maxLength: 90, size: 'max' }),
        fc.oneof({ weight: 4, arbitrary: fc.constant('here' as const) }, fc.constantFrom(...variants)),
        fc.array(fc.constantFrom(...preludes), { maxLength: 4 }),
        agrees,
      ),
      { numRuns: 60 },
    ),
  60_000,
);

async function agrees(
  numbers: readonly number[],
  variant: Variant,
  before: readonly Prelude[],
): Promise<void> {
  const view = await viewOf(await seenAfter(numbers, variant, before));
  for (const [name, { possible, reason }] of Object.entries(view.actions) as [ActionName, Action][]) {
    const taken = await isTaken(await seenAfter(numbers, variant, before), name);
    expect({ name, possible, reason }).toMatchObject({ possible: taken });
    if (!possible) expect(reason).toMatch(/[.]$/);
  }
  const { next } = view;
  if (next === undefined) return;
  if (next.action !== 'decide') expect(view.actions[next.action].possible).toBe(true);
  if (next.action === 'answer') expect(['running', 'waiting', 'queued']).toContain(view.status);
}
