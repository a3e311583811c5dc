import {
  type CommandId,
  commandId,
  type EpochMs,
  epoch,
  epochMs,
  type LeaseId,
  type MachineDigest,
  type StepKey,
  type WorkerId,
} from '../events/ids';
import type { NewEvent } from '../events/run-event';
import type { Lease, RunRecord, RunState } from '../projections/records';
import { assertNever } from '../shared/assert';
import { lapsed } from './lapsed';

export { lapsed } from './lapsed';

export type ClaimReason =
  | 'resume'
  | 'rewind'
  | 'fork'
  | 'replay'
  | 'verify'
  | 'answer'
  | 'timer'
  | 'hand-over';

export interface WorkerOffer {
  readonly workerId: WorkerId;
  readonly agents: readonly { readonly name: string; readonly machineDigest: MachineDigest }[];
}

export interface Claimable {
  readonly reason: ClaimReason;
  readonly commandId?: CommandId;
  /** For `verify`: the step asked about. */
  readonly stepKey?: StepKey;
}

/** The lease, where it is live. A lapse that the journal has stands: a console's start gives that lease no new time. */
export function liveLease(run: RunRecord, now: EpochMs, judgedFrom?: EpochMs): Lease | undefined {
  const { lease, state } = run;
  if (lease === undefined) return undefined;
  const judged = state.status === 'interrupted' && lease.mode !== 'verify';
  return lapsed(lease, now, judged ? undefined : judgedFrom) ? undefined : lease;
}

export interface ClaimOptions {
  readonly judgedFrom?: EpochMs;
  /** Digest of the machine that the pending command's plan was made for; without it the run's own counts. */
  readonly plannedMachine?: MachineDigest;
  /** The worker's own machine, other than the run's, declares the probe that is asked for. */
  readonly hasProbe?: boolean;
}

/** Whether this worker may claim the run now, and why. What is queued goes before a probe. */
export function claimFor(
  run: RunRecord,
  worker: WorkerOffer,
  now: EpochMs,
  options: ClaimOptions = {},
): Claimable | undefined {
  if (run.home === 'mirror' || liveLease(run, now, options.judgedFrom)) return undefined;
  const { state } = run;
  const has = (digest: MachineDigest | undefined) =>
    worker.agents.some(
      (agent) => agent.name === state.agent && (digest === undefined || agent.machineDigest === digest),
    );
  const queued = state.status === 'queued' ? state.queue : undefined;
  if (queued) {
    const reason = reasonOf(run, queued);
    const ordered = queued.reason === 'command';
    const machine = ordered ? (options.plannedMachine ?? state.machineDigest) : state.machineDigest;
    // An order's plan is for one machine: where that is not known, no worker is known to have it.
    if (reason !== undefined && !(ordered && machine === undefined) && has(machine)) {
      return { reason, ...(queued.commandId !== undefined && { commandId: commandId(queued.commandId) }) };
    }
  }
  const verify = state.verifies[0];
  // A dead holder's run is judged first: under a probe's live lease it would say `running` for as long.
  if (
    verify &&
    judge(run, now, options.judgedFrom) === undefined &&
    (options.hasProbe || has(state.machineDigest))
  )
    return { reason: 'verify', commandId: commandId(verify.commandId), stepKey: verify.stepKey };
  return undefined;
}

/** What a claim of the queued run is for; undefined where nobody may claim it. */
export function reasonOf(
  run: RunRecord,
  queued: NonNullable<RunRecord['state']['queue']>,
): ClaimReason | undefined {
  // Carried on in any other way, a replay would touch the outside.
  if (run.parent?.mode === 'replay')
    return queued.reason === 'command' && run.state.pending?.mode === 'replay' ? 'replay' : undefined;
  switch (queued.reason) {
    case 'created':
      return undefined;
    case 'command': {
      const mode = run.state.pending?.mode;
      return mode === 'resume' || mode === 'rewind' || mode === 'fork' || mode === 'replay' ? mode : 'resume';
    }
    case 'answer':
    case 'timer':
    case 'hand-over':
      return queued.reason;
    case 'expiry':
      return 'timer';
    default:
      return assertNever(queued.reason, 'reason to queue');
  }
}

export interface LeaseGrant {
  readonly leaseId: LeaseId;
  readonly workerId: WorkerId;
  readonly now: EpochMs;
  readonly leaseMs: number;
}

type InterruptedBody = Extract<NewEvent, { readonly kind: 'run.interrupted' }>;
type QueuedBody = Extract<NewEvent, { readonly kind: 'run.queued' }>;
type StartedBody = Extract<NewEvent, { readonly kind: 'run.started' }>;

/**
 * The run under its new lease (epoch + 1, batches from 1), and the console's event to append with the new epoch:
 * `run.resumed`, for a replay's first claim `started`, none for `verify`.
 */
export function takeClaim(
  run: RunRecord,
  claim: Claimable,
  grant: LeaseGrant,
  started?: StartedBody,
): { readonly run: RunRecord; readonly event?: NewEvent } {
  const next = epoch(run.epoch + 1);
  const lease: Lease = {
    leaseId: grant.leaseId,
    workerId: grant.workerId,
    epoch: next,
    since: grant.now,
    expiresAt: epochMs(grant.now + grant.leaseMs),
    leaseMs: grant.leaseMs,
    mode: claim.reason,
  };
  const held: RunRecord = { ...run, epoch: next, lastBatch: 0, lease };
  if (claim.reason === 'verify') return { run: held };
  const resumed: NewEvent = {
    kind: 'run.resumed',
    workerId: grant.workerId,
    revived: false,
    ...(claim.commandId !== undefined && { commandId: claim.commandId }),
  };
  return { run: held, event: claim.reason === 'replay' && started ? started : resumed };
}

/**
 * A holder that was thought dead shows that it lives, and nobody claimed the run meanwhile: it goes on in its own epoch,
 * and the order that was withdrawn with its lapse is under way again.
 */
export const revivalOf = ({ workerId }: Lease, { interruption }: RunState): NewEvent => ({
  kind: 'run.resumed',
  workerId,
  revived: true,
  ...(interruption?.order !== undefined && { commandId: commandId(interruption.order.commandId) }),
});

/**
 * The judge's verdict on a run whose lease lapsed: interrupted where it was running, queued where it waits for a
 * question that was answered before the worker gave the run back. Undefined where there is nothing to judge.
 */
export function judge(
  run: RunRecord,
  now: EpochMs,
  judgedFrom?: EpochMs,
): InterruptedBody | QueuedBody | undefined {
  const { status } = run.state;
  if (run.home === 'mirror' || (status !== 'running' && status !== 'waiting')) return undefined;
  if (run.lease && !lapsed(run.lease, now, judgedFrom)) return undefined;
  if (status === 'waiting') {
    return run.lease && waitsForAnswered(run.state) ? { kind: 'run.queued', reason: 'answer' } : undefined;
  }
  return {
    kind: 'run.interrupted',
    cause: 'lease-lapsed',
    ...(run.lease && { workerId: run.lease.workerId }),
  };
}

/** A person was asked, every question of that call has its answer, and the call has not been given it yet. */
export const waitsForAnswered = (state: RunState): boolean =>
  [...Object.values(state.open), ...Object.values(state.stopped)].some((step) => {
    if (step.kind !== 'human') return false;
    const asked = Object.values(state.questions).filter((question) => question.stepKey === step.stepKey);
    return asked.length > 0 && asked.every((question) => question.status !== 'open');
  });
