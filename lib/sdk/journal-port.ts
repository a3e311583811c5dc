import type { Epoch, MachineDigest, RunId, Seq, Sha256, StepKey } from '../core/events/ids';
import type { PayloadRef } from '../core/events/payload';
import type { CommandMode, Edit, NewEvent, RunEvent } from '../core/events/run-event';
import type { Machine } from '../core/machine/machine';
import type { Disposition } from '../core/planner/plan';
import type { EffectStatus } from '../core/projections/records';
import type { Stored } from './values';

/*
 * What a worker needs from the journal's home. HTTP is the first implementation. Calls reject only when they are given
 * up (the worker stops); while the home cannot be reached they wait and try again.
 */

/** A hold on a run, as the home granted it. */
export interface Held {
  readonly leaseId: string;
  readonly runId: RunId;
  readonly epoch: Epoch;
  readonly leaseMs: number;
  readonly headSeq: Seq;
}

/** Why a run is to be taken up. */
export type ClaimReason =
  | 'resume'
  | 'rewind'
  | 'fork'
  | 'replay'
  | 'verify'
  | 'answer'
  | 'timer'
  | 'hand-over';

/** What an accepted order says, as far as a worker needs it. */
export interface Order {
  readonly commandId: string;
  readonly mode: CommandMode;
  readonly edits?: readonly Edit[];
  readonly stepKey?: StepKey;
  readonly parent?: { readonly runId: RunId; readonly seq: Seq };
}

/** What a worker checks its calls against. */
export interface PlanToCheck {
  readonly digest: string;
  /** Head of the run that the plan was made for: a replay goes up to there. */
  readonly headSeq: Seq;
  readonly steps: readonly { readonly key: StepKey; readonly disposition: Disposition }[];
  readonly envelope: {
    readonly states: readonly string[];
    readonly tools: readonly { readonly name: string }[];
    readonly limits: { readonly steps?: number | null; readonly costMicroUsd?: number | null };
  };
}

/** A run that was claimed, and the order that it carries out. */
export interface Claim extends Held {
  readonly reason: ClaimReason;
  readonly command?: Order;
  readonly plan?: PlanToCheck;
}

/** Events that are stored together or not at all. */
export interface Batch {
  readonly epoch: Epoch;
  /** 1, 2, 3 … in the epoch. */
  readonly batch: number;
  readonly seenSeq: Seq;
  readonly events: readonly NewEvent[];
  readonly payloads: readonly Stored[];
}

/** Why a batch was not stored. */
export type AppendProblem =
  | { readonly kind: 'stale-epoch' }
  | {
      readonly kind: 'effect-exists';
      readonly stepKey: StepKey;
      readonly runId: RunId;
      readonly intentSeq: Seq;
    }
  | { readonly kind: 'unknown-payloads' }
  | { readonly kind: 'refused'; readonly detail: string };

/** Why a batch was not taken, as far as the journal says. */
export const problemText = (problem: AppendProblem): string =>
  problem.kind === 'refused' ? problem.detail : problem.kind;

/** `others`: what the console appended after `seenSeq`. */
export type AppendReply =
  | { readonly ok: true; readonly firstSeq: Seq; readonly headSeq: Seq; readonly others: readonly RunEvent[] }
  | { readonly ok: false; readonly problem: AppendProblem };

/** State at a seq, by reference. */
export interface StateView {
  readonly seq: Seq;
  readonly visit:
    | { readonly key: string; readonly state: string; readonly visit: number; readonly entrySeq: Seq }
    | undefined;
  readonly input: PayloadRef | undefined;
  readonly variables: Readonly<Record<string, PayloadRef>>;
  readonly messageCount: number;
  /** Visits so far by state. */
  readonly visits: Readonly<Record<string, number>>;
  /** APIs that are unavailable. */
  readonly apisDown: readonly string[];
}

/** One occurrence in the lineage's effect ledger. */
export interface LedgerEntry {
  readonly stepKey: StepKey;
  readonly generation: number;
  readonly name: string;
  readonly effect: 'idempotent' | 'external';
  readonly status: EffectStatus;
  readonly runId: RunId;
  readonly intentSeq: Seq;
  readonly idempotencyKey: string;
  readonly argsDigest: Sha256;
  readonly attempt: number;
  /** Epoch milliseconds of the first intent: key validity counts from it. */
  readonly firstIntentAt: number;
  /** From this instant a probe's "not found" means that it did not happen. */
  readonly askAgainAt: number;
  readonly input: PayloadRef | undefined;
  readonly result: PayloadRef | undefined;
  readonly receipt: string | undefined;
}

/** What a worker needs to know of a run before it takes it up. */
export interface AboutRun {
  readonly agent: string;
  /** First run of its lineage. */
  readonly root: RunId;
  readonly isFork: boolean;
  /** Rewinds so far. */
  readonly line: number;
}

/** The journal's home as a worker sees it. */
export interface JournalPort {
  putMachine(digest: MachineDigest, machine: Machine): Promise<void>;
  create(ask: {
    readonly runId: string;
    readonly workerId: string;
    readonly agent: string;
    readonly machineDigest: MachineDigest;
    readonly input: Stored | undefined;
    readonly tags: readonly string[];
  }): Promise<Held>;
  /** `undefined`: nothing to do within `waitMs`. The same `claimId` has the same answer. */
  claim(
    ask: {
      readonly claimId: string;
      readonly workerId: string;
      readonly agents: readonly { readonly name: string; readonly machineDigest: MachineDigest }[];
      readonly waitMs: number;
    },
    signal: AbortSignal,
  ): Promise<Claim | undefined>;
  append(runId: RunId, batch: Batch): Promise<AppendReply>;
  /** `undefined`: another epoch holds the run. */
  heartbeat(
    held: Held,
    seenSeq: Seq,
    signal: AbortSignal,
  ): Promise<{ readonly leaseMs: number; readonly others: readonly RunEvent[] } | undefined>;
  release(held: Held, outcome: 'done' | 'waiting' | 'paused' | 'hand-over'): Promise<void>;
  evidence(
    runId: RunId,
    evidence: {
      readonly epoch: Epoch;
      readonly intentSeq: Seq;
      readonly outcome: 'happened' | 'did-not-happen';
      readonly result?: Stored;
      readonly receipt?: string;
    },
  ): Promise<void>;
  aboutRun(runId: RunId): Promise<AboutRun>;
  state(runId: RunId, at?: Seq): Promise<StateView>;
  /** The journal in (after, upTo], ascending, abandoned parts included. */
  events(runId: RunId, after: Seq, upTo: Seq): Promise<readonly RunEvent[]>;
  /** The conversation at a seq, oldest first. */
  messages(runId: RunId, at: Seq): Promise<readonly PayloadRef[]>;
  /** The whole lineage's ledger, every generation. */
  ledger(runId: RunId): Promise<readonly LedgerEntry[]>;
  /** A payload's text. */
  payload(ref: PayloadRef): Promise<string>;
}
