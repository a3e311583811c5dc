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
import { generationsOf, isInDoubt } from '@/lib/core/projections/ledger';
import type { EffectRecord, RunRecord, RunState } from '@/lib/core/projections/records';
import { canonicalJson } from '@/lib/core/shared/canonical-json';
import { fail, ok, type Result } from '@/lib/core/shared/result';
import { type AcceptedPlan, commandKey } from './command';
import type { UsecaseDeps } from './deps';
import { onlyRow } from './heartbeat';
import { judgeRun } from './judge-leases';
import { newLeaseId } from './lease-id';
import { type LoadedPlan, loadPlan, type Today } from './load-plan';
import { markSeen } from './mark-seen';
import type { AnswerRecord, WriteContext } from './ports';
import { tooLate } from './release-lease';
import { stateAt } from './state-at';

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
const CANDIDATES_AT_ONCE = 100;

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
  const names = [...new Set(ask.agents.map(({ name }) => name))];
  for await (const candidate of candidates(deps, names)) {
    if (signal.aborted) return ok(undefined);
    if (!names.includes(candidate.state.agent)) continue;
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

/**
 * Queued runs of the worker's agents, oldest change first, then those that were hinted at. Read page by page: runs
 * that only another worker can take, however many, hide none. A hint that leads nowhere is dropped.
 */
async function* candidates(deps: Deps, agents: readonly string[]): AsyncGenerator<RunRecord> {
  let cursor: string | undefined;
  do {
    const page = await deps.store.runs({
      filter: { status: ['queued'], agent: agents },
      sort: 'updated',
      descending: false,
      limit: CANDIDATES_AT_ONCE,
      ...(cursor !== undefined && { cursor }),
    });
    yield* page.items;
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  for (const id of deps.engine.hinted()) {
    const run = await deps.store.run(id);
    if (run !== undefined && run.state.verifies.length > 0) yield run;
    else deps.engine.settled(id);
  }
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
      const passed = pending?.mode === 'pause' ? [tooLate(pending.commandId)] : [];
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

interface Stale {
  /** The order that cannot be carried out as it was accepted; undefined where its event is not found. */
  readonly stale: EventOf<'command.accepted'> | undefined;
}

/** Whether the worker may claim the run, and with what; `stale` where the order's accepted plan does not hold. */
async function prepare(deps: Deps, run: RunRecord, ask: ClaimAsk): Promise<Prepared | Stale | undefined> {
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
  const command = claim.commandId === undefined ? undefined : await commandOf(deps, run, claim.commandId);
  const common = { claim, ...(command !== undefined && { command }), ...options };
  if (claim.reason === 'verify' || queue?.reason !== 'command') return common;
  // Without what was accepted nobody can say what may run.
  if (accepted === undefined || command === undefined) return { stale: command };
  const ledgerVersion = await deps.store.ledgerVersion(run.root);
  if (!(await stillHolds(deps, run, accepted, command, ask, ledgerVersion))) return { stale: command };
  const plan = { plan: accepted.plan, plannedAt: accepted.plannedAt as EpochMs };
  if (command.mode === 'resume' || command.mode === 'rewind') return { ...common, plan, ledgerVersion };
  if (command.mode !== 'replay') return { ...common, plan };
  return { ...common, plan, started: await replayStarted(deps, command, plannedMachine, ask.workerId) };
}

async function acceptedPlan(deps: Deps, id: CommandId): Promise<AcceptedPlan | undefined> {
  const answer = await deps.store.answer(commandKey(id));
  return answer === undefined
    ? undefined
    : (JSON.parse(answer.answer) as { readonly accepted?: AcceptedPlan }).accepted;
}

const COMMANDS_AT_ONCE = 1_000;

/** The event of an accepted order, the newest ones first: however many came after it, it is found. */
async function commandOf(
  deps: Deps,
  run: RunRecord,
  id: CommandId,
): Promise<EventOf<'command.accepted'> | undefined> {
  let before = (run.headSeq + 1) as Seq;
  for (;;) {
    const accepted = await deps.store.events(run.runId, {
      kinds: ['command.accepted'],
      before,
      limit: COMMANDS_AT_ONCE,
      descending: true,
    });
    for (const event of accepted)
      if (event.kind === 'command.accepted' && event.commandId === id) return event;
    const last = accepted.at(-1);
    if (last === undefined || accepted.length < COMMANDS_AT_ONCE) return undefined;
    before = last.seq;
  }
}

/**
 * Whether the plan is still what would be done. While neither the run nor the lineage's ledger moved since it was
 * accepted it is, being a function of them; else it is made again, from the state before the acceptance.
 */
async function stillHolds(
  deps: Deps,
  run: RunRecord,
  accepted: AcceptedPlan,
  command: EventOf<'command.accepted'>,
  ask: ClaimAsk,
  ledgerVersion: number,
): Promise<boolean> {
  if (run.headSeq === accepted.headSeq && ledgerVersion === accepted.ledgerVersion) return true;
  const { mode } = command;
  if (mode !== 'resume' && mode !== 'rewind') return true;
  const { state: head } = await stateAt(deps, run, (command.seq - 1) as Seq);
  const today = await offered(deps, run, ask);
  const again = await loadPlan(
    deps,
    run,
    {
      mode,
      from: command.from ?? 'latest',
      edits: command.edits ?? [],
      decisions: {},
      options: command.options ?? {},
    },
    { head, decisions: command.decisions ?? {}, ...(today !== undefined && { today }) },
  );
  return again.ok && again.value.plan.digest === accepted.plan.digest;
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

/** The order ends as refused and the run goes back to how it stood: what it was to do is no longer what would be done. */
async function refuseOrder(
  deps: Deps,
  seen: RunRecord,
  command: EventOf<'command.accepted'> | undefined,
): Promise<void> {
  const detail = 'What the order would do has changed since it was accepted. Look at the plan again.';
  const before =
    command === undefined ? undefined : (await stateAt(deps, seen, (command.seq - 1) as Seq)).state;
  await deps.store.commit<undefined, never>({
    runId: seen.runId,
    effectKeys: 'all',
    decide: ({ run, now, effects }: WriteContext) => {
      const pending = run?.state.pending;
      if (run === undefined || run.headSeq !== seen.headSeq) return nothing;
      const commandId = (pending?.commandId ?? run.state.queue?.commandId) as CommandId | undefined;
      const ended = { kind: 'command.ended', outcome: 'refused', detail } as const;
      const events: readonly NewEvent[] = [
        ...(commandId === undefined ? [] : [{ ...ended, commandId }]),
        // A rewind has moved the run already: where it stands now, nobody ever held it.
        before === undefined || command?.mode === 'rewind'
          ? handedOver
          : asItStood(before, run, effects, now),
      ];
      const change = extend(run, effects, events, { at: now, epoch: run.epoch, by: 'console' });
      return ok({ value: undefined, change: { ...change, payloads: [] } });
    },
  });
}

const handedOver: NewEvent = { kind: 'run.interrupted', cause: 'hand-over' };

/** The event that gives a run back the status that it had before the order was accepted, as far as that is still true. */
function asItStood(
  before: RunState,
  { state }: RunRecord,
  effects: readonly EffectRecord[],
  now: EpochMs,
): NewEvent {
  switch (before.status) {
    case 'failed': {
      if (before.failure === undefined) return handedOver;
      const { cause, error, stepKey } = before.failure;
      const failed = { kind: 'run.failed', cause: cause as EventOf<'run.failed'>['cause'], error } as const;
      return stepKey === undefined ? failed : { ...failed, stepKey };
    }
    case 'waiting': {
      const on = before.waitingOn.filter((one) => isStillWaitedFor(one, state, effects, now));
      return on.length === 0 ? handedOver : { kind: 'run.waiting', on };
    }
    case 'paused':
      return {
        kind: 'run.paused',
        ...(before.pausedBefore !== undefined && { before: before.pausedBefore }),
      };
    case 'interrupted': {
      const { cause, workerId } = before.interruption ?? {};
      return {
        kind: 'run.interrupted',
        cause: cause === 'lease-lapsed' || cause === 'recorded' ? cause : 'hand-over',
        ...(workerId !== undefined && { workerId }),
      };
    }
    default:
      return handedOver;
  }
}

function isStillWaitedFor(
  on: RunState['waitingOn'][number],
  state: RunState,
  effects: readonly EffectRecord[],
  now: EpochMs,
): boolean {
  switch (on.for) {
    case 'in-doubt': {
      const effect = generationsOf(effects, on.stepKey).at(-1);
      return effect !== undefined && isInDoubt(effect, now);
    }
    case 'question':
      return Object.values(state.questions).some(
        (question) => question.stepKey === on.stepKey && question.status === 'open',
      );
    default:
      return true;
  }
}
