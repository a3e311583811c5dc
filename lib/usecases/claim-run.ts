import type { CommandId, EpochMs, LeaseId, MachineDigest, RunId, Seq, WorkerId } from '@/lib/core/events/ids';
import type { EventOf, NewEvent } from '@/lib/core/events/run-event';
import { extend } from '@/lib/core/journal/extend';
import {
  type Claimable,
  type ClaimReason,
  claimFor,
  liveLease,
  takeClaim,
  type WorkerOffer,
} from '@/lib/core/journal/lease';
import type { PlanMode } from '@/lib/core/planner/plan';
import { generationsOf } from '@/lib/core/projections/ledger';
import type { RunRecord } from '@/lib/core/projections/records';
import { canonicalJson } from '@/lib/core/shared/canonical-json';
import { fail, ok, type Result } from '@/lib/core/shared/result';
import { acceptedEvent, acceptedPlan } from './accepted-order';
import { withdrawn } from './command';
import type { UsecaseDeps } from './deps';
import { onlyRow } from './heartbeat';
import { judgeRun } from './judge-leases';
import { newLeaseId } from './lease-id';
import type { LoadedPlan, Today } from './load-plan';
import { markSeen } from './mark-seen';
import { changedSince } from './plan-again';
import type { AnswerRecord, RunCursor } from './ports';
import { refuseOrder, type Stale } from './refuse-order';

export interface ClaimAsk extends WorkerOffer {
  readonly claimId: string;
  readonly waitMs: number;
}

/** A run under a new lease. `command` is the accepted order's event, `plan` the plan that it carries out. */
export interface Claimed {
  readonly leaseId: LeaseId;
  readonly runId: RunId;
  readonly epoch: number;
  readonly leaseMs: number;
  readonly headSeq: Seq;
  readonly reason: ClaimReason;
  readonly command?: EventOf<'command.accepted'>;
  readonly plan?: Pick<LoadedPlan, 'plan' | 'plannedAt'>;
}

type Deps = Pick<UsecaseDeps, 'store' | 'engine' | 'ids' | 'hash' | 'leaseMs' | 'judgedFrom'> & {
  readonly log: { error(about: object, message: string): void };
};
export type ClaimProblem = { readonly kind: 'claim-differs'; readonly detail: string };

/** How long a waiting claim relies on being woken: leases lapse by time, and other processes write too. */
const LOOK_AGAIN_MS = 1_000;
const CANDIDATES_AT_ONCE = 20;

/**
 * Hands a claimable run to the worker, waiting up to `waitMs` for one; `undefined` where there is none. The same
 * `claimId` gets the same answer. Nothing is claimed for a caller that has gone.
 */
export async function claimRun(
  deps: Deps,
  ask: ClaimAsk,
  signal: AbortSignal,
): Promise<Result<Claimed | undefined, ClaimProblem>> {
  const key = `claim:${ask.claimId}`;
  const requestDigest = deps.hash(
    canonicalJson({
      workerId: ask.workerId,
      agents: ask.agents.map(({ name, machineDigest }) => ({ name, machineDigest })),
    }),
  );
  const until = performance.now() + ask.waitMs;
  const since = deps.store.clock.now();
  for (;;) {
    const before = answerOf(await deps.store.answer(key), requestDigest);
    if (!before.ok || before.value !== undefined) return before;
    await markSeen(deps.store, ask);
    // Listening starts before looking, so that what becomes claimable in between wakes this call.
    const looked = new AbortController();
    const left = until - performance.now();
    const woken = deps.engine.waitForWork(
      Math.max(0, Math.min(left, LOOK_AGAIN_MS)),
      AbortSignal.any([signal, looked.signal]),
    );
    try {
      const claimed = await claimOne(deps, { ...ask, since }, key, requestDigest, signal);
      if (claimed === 'silent') {
        looked.abort();
        return ok(undefined);
      }
      if (!claimed.ok || claimed.value !== undefined) return claimed;
    } catch (error) {
      looked.abort();
      throw error;
    }
    if (left <= 0 || signal.aborted) {
      looked.abort();
      return ok(undefined);
    }
    await woken;
    if (signal.aborted) return ok(undefined);
  }
}

function answerOf(
  answer: AnswerRecord | undefined,
  requestDigest: string,
): Result<Claimed | undefined, ClaimProblem> {
  if (answer === undefined) return ok(undefined);
  if (answer.requestDigest === requestDigest) return ok(JSON.parse(answer.answer) as Claimed);
  return fail({ kind: 'claim-differs', detail: 'Another worker or offer claimed under this claimId.' });
}

async function claimOne(
  deps: Deps,
  ask: ClaimAsk & { readonly since: EpochMs },
  key: string,
  requestDigest: ReturnType<Deps['hash']>,
  signal: AbortSignal,
): Promise<Result<Claimed | undefined, ClaimProblem> | 'silent'> {
  for await (const candidate of candidates(deps, ask.agents)) {
    if (signal.aborted) return ok(undefined);
    // Its own lease lapsed while this poll was open: it may be frozen, so it has to ask again to be given anything.
    const { lease } = candidate;
    const lapsedSince =
      lease?.workerId === ask.workerId &&
      lease.expiresAt > ask.since &&
      liveLease(candidate, deps.store.clock.now(), deps.judgedFrom) === undefined;
    if (lapsedSince) return 'silent';
    try {
      const run = await judgeRun(deps, candidate);
      const claimed = await tryClaim(deps, run, ask, key, requestDigest);
      if (!claimed.ok || claimed.value !== undefined) return claimed;
    } catch (error) {
      // One run that cannot be claimed hides no other one from every worker.
      deps.log.error({ err: error, runId: candidate.runId }, 'a run could not be claimed');
    }
  }
  return ok(undefined);
}

/** What waits for this worker, page by page: what it cannot take yet, however much, hides none. */
async function* candidates(deps: Deps, agents: ClaimAsk['agents']): AsyncGenerator<RunRecord> {
  let cursor: RunCursor | undefined;
  do {
    const page = await deps.store.claimable({
      agents,
      limit: CANDIDATES_AT_ONCE,
      ...(cursor !== undefined && { cursor }),
    });
    yield* page.items;
    cursor = page.nextCursor;
  } while (cursor !== undefined);
}

/** What the claim's commit is to write, made ready outside of the run's lock. */
interface Prepared {
  readonly claim: Claimable;
  readonly command?: EventOf<'command.accepted'>;
  readonly plan?: Pick<LoadedPlan, 'plan' | 'plannedAt'>;
  readonly plannedMachine?: MachineDigest;
  readonly hasProbe?: boolean;
  /** The ledger that the plan was seen to hold on; it has to be that of the claim's commit. */
  readonly ledgerVersion?: number;
  readonly started?: Extract<NewEvent, { readonly kind: 'run.started' }>;
}

async function tryClaim(
  deps: Deps,
  seen: RunRecord,
  ask: ClaimAsk,
  key: string,
  requestDigest: ReturnType<Deps['hash']>,
): Promise<Result<Claimed | undefined, ClaimProblem>> {
  const prepared = await prepare(deps, seen, ask);
  if (prepared === undefined) return ok(undefined);
  if ('stale' in prepared) {
    await refuseOrder(deps, seen, prepared.stale);
    return ok(undefined);
  }
  const lease = newLeaseId(deps.ids, seen.runId);
  return deps.store.commit<Claimed | undefined, ClaimProblem>({
    runId: seen.runId,
    effectKeys: 'all',
    answerKey: key,
    decide: (context) => {
      const before = answerOf(context.answer, requestDigest);
      if (!before.ok) return before;
      if (before.value !== undefined) return ok({ value: before.value, change: undefined });
      const { run, now } = context;
      if (run === undefined || run.headSeq !== seen.headSeq || run.epoch !== seen.epoch) return nothing;
      // Looked at again with the next poll.
      if (prepared.ledgerVersion !== undefined && prepared.ledgerVersion !== context.ledgerVersion)
        return nothing;
      const claim = claimFor(run, ask, now, optionsOf(deps, prepared));
      if (claim === undefined) return nothing;
      const taken = takeClaim(
        run,
        claim,
        { leaseId: lease, workerId: ask.workerId, now, leaseMs: deps.leaseMs },
        prepared.started,
      );
      // A pause that nobody lived to carry out is not the next holder's: a person let the run go on since.
      const { pending } = run.state;
      const passed = pending?.mode === 'pause' ? [withdrawn(pending.commandId, TOO_LATE)] : [];
      const change =
        taken.event === undefined
          ? onlyRow(taken.run)
          : {
              ...extend(taken.run, context.effects, [...passed, taken.event], {
                at: now,
                epoch: taken.run.epoch,
                by: 'console',
              }),
              payloads: [],
            };
      const value: Claimed = {
        leaseId: lease,
        runId: run.runId,
        epoch: taken.run.epoch,
        leaseMs: deps.leaseMs,
        headSeq: change.run.headSeq,
        reason: claim.reason,
        ...(prepared.command !== undefined && { command: prepared.command }),
        ...(prepared.plan !== undefined && { plan: prepared.plan }),
      };
      const answer = { key, runId: run.runId, requestDigest, answer: JSON.stringify(value), at: now };
      return ok({ value, change: { ...change, answers: [answer] } });
    },
  });
}

const TOO_LATE = 'The run stopped in another way before it could be paused.';

const nothing = ok({ value: undefined, change: undefined });

const optionsOf = (
  deps: Deps,
  { plannedMachine, hasProbe }: { readonly plannedMachine?: MachineDigest; readonly hasProbe?: boolean },
) => ({
  judgedFrom: deps.judgedFrom,
  ...(plannedMachine !== undefined && { plannedMachine }),
  ...(hasProbe !== undefined && { hasProbe }),
});

/** Whether the worker's machine declares the probe of the effect that is to be verified next. */
async function hasProbe(deps: Deps, run: RunRecord, ask: ClaimAsk): Promise<boolean> {
  const [verify] = run.state.verifies;
  if (verify === undefined) return false;
  const offer = await offered(deps, run, ask);
  if (offer === undefined || offer.digest === run.state.machineDigest) return false;
  const name = generationsOf(await deps.store.effects(run.root), verify.stepKey).at(-1)?.name;
  const { tools } = offer.machine;
  return name !== undefined && Object.hasOwn(tools, name) && tools[name]?.verify === true;
}

/** Whether the worker may claim the run, and with what; `stale` where the order's accepted plan does not hold. */
async function prepare(
  deps: Deps,
  run: RunRecord,
  ask: ClaimAsk,
): Promise<Prepared | { readonly stale: Stale } | undefined> {
  const now = deps.store.clock.now();
  const { queue, status } = run.state;
  const ordered = status === 'queued' && queue?.reason === 'command' ? queue.commandId : undefined;
  const accepted = ordered === undefined ? undefined : await acceptedPlan(deps, ordered as CommandId);
  const plannedMachine = accepted?.machineDigest;
  const options = {
    ...(plannedMachine !== undefined && { plannedMachine }),
    ...((await hasProbe(deps, run, ask)) && { hasProbe: true }),
  };
  const claim = claimFor(run, ask, now, optionsOf(deps, options));
  if (claim === undefined) return undefined;
  const command = claim.commandId === undefined ? undefined : await acceptedEvent(deps, run, claim.commandId);
  const common = { claim, ...(command !== undefined && { command }), ...options };
  if (claim.reason === 'verify' || queue?.reason !== 'command') return common;
  const ledgerVersion = await deps.store.ledgerVersion(run.root);
  const mode = planModeOf(command);
  // Without what was accepted nobody can say what may run.
  if (accepted === undefined || command === undefined || mode === undefined)
    return { stale: { event: command, because: 'its accepted plan is not found', ledgerVersion } };
  const today = await offered(deps, run, ask);
  const because = await changedSince(deps, run, { event: command, mode, accepted }, today, ledgerVersion);
  if (because !== undefined) return { stale: { event: command, because, ledgerVersion } };
  const plan = { plan: accepted.plan, plannedAt: accepted.plannedAt as EpochMs };
  const planned = { ...common, plan, ledgerVersion };
  return mode === 'replay'
    ? { ...planned, started: await replayStarted(deps, command, plannedMachine, ask.workerId) }
    : planned;
}

function planModeOf(command: EventOf<'command.accepted'> | undefined): PlanMode | undefined {
  switch (command?.mode) {
    case 'resume':
    case 'rewind':
    case 'fork':
    case 'replay':
      return command.mode;
    default:
      return undefined;
  }
}

async function offered(deps: Deps, run: RunRecord, ask: ClaimAsk): Promise<Today | undefined> {
  const agent = ask.agents.find(({ name }) => name === run.state.agent);
  const machine = agent === undefined ? undefined : await deps.store.machines.get(agent.machineDigest);
  return agent === undefined || machine === undefined
    ? undefined
    : { digest: agent.machineDigest, machine, workerId: ask.workerId };
}

/** A replay starts with what was recorded, under the machine that its plan was made for. */
async function replayStarted(
  deps: Deps,
  command: EventOf<'command.accepted'>,
  machineDigest: MachineDigest | undefined,
  workerId: WorkerId,
): Promise<Extract<NewEvent, { readonly kind: 'run.started' }>> {
  const parent = command.parent === undefined ? undefined : await deps.store.run(command.parent.runId);
  if (parent === undefined) throw new Error(`Broken invariant: replay ${command.runId} has no parent`);
  const { agent, input, tags } = parent.state;
  return {
    kind: 'run.started',
    agent,
    ...(machineDigest !== undefined && { machineDigest }),
    ...(input !== undefined && { input }),
    tags,
    workerId,
  };
}
