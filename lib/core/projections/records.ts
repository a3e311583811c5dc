import type {
  Epoch,
  EpochMs,
  LeaseId,
  MachineDigest,
  QuestionId,
  RunId,
  Seq,
  Sha256,
  StepKey,
  WorkerId,
} from '../events/ids';
import type { PayloadRef } from '../events/payload';
import type {
  AttemptFailure,
  CheckpointTrigger,
  Intent,
  RecordedError,
  Usage,
  WaitingOn,
} from '../events/run-event';
import type { Effect, StepKind } from '../machine/machine';

/*
 * The rows that a store keeps beside the journal. Each is a cache of a fold over it and can be built again from it
 * (leases and batches apart, which are the store's own).
 */

export type RunStatus =
  | 'queued'
  | 'running'
  | 'waiting'
  | 'paused'
  | 'interrupted'
  | 'failed'
  | 'completed'
  | 'cancelled'
  | 'unknown';

/** What a scope is doing, most pressing first; a run shows the most pressing of its scopes. */
export const phases = [
  'waiting_human',
  'api_unavailable',
  'tool_calling',
  'llm_calling',
  'condition_check',
  'waiting_result',
  'waiting_timer',
  'idle',
  'finished',
] as const;
export type Phase = (typeof phases)[number];

export type StepStatus =
  | 'running'
  /** Between attempts: the last one failed and another will come. */
  | 'retrying'
  | 'waiting'
  | 'completed'
  | 'failed'
  /** Answered from the record. */
  | 'reused'
  | 'skipped'
  /** External, and what happened is not known. */
  | 'in-doubt'
  /** Still open when the run stopped; its outcome is not known. */
  | 'unknown'
  /** Its scope ended without it. */
  | 'abandoned'
  /** Ran, but its value could not be recorded: resume from here is blocked. */
  | 'not-recorded';

/** One step on one line. Unique by (run, line, stepKey). */
export interface StepRecord {
  readonly stepKey: StepKey;
  readonly line: number;
  readonly name: string;
  readonly kind: StepKind;
  readonly effect?: Effect;
  readonly status: StepStatus;
  readonly attempt: number;
  /** Attempts started since the last outcome of another one; above `attempt` means that one attempt ran twice. */
  readonly executions: number;
  readonly startedSeq: Seq;
  readonly startedAt: EpochMs;
  /** Of the newest attempt. */
  readonly attemptSeq: Seq;
  readonly endedSeq?: Seq;
  readonly endedAt?: EpochMs;
  readonly inputDigest: Sha256;
  readonly input?: PayloadRef;
  /** `input` of an `llm` step lacks so many leading messages of the conversation at `attemptSeq`. */
  readonly conversation?: number;
  readonly result?: PayloadRef;
  /** Message of an `llm` step's reply; `result` is the rest of it. */
  readonly message?: PayloadRef;
  readonly receipt?: string;
  readonly failure?: AttemptFailure;
  readonly error?: RecordedError;
  readonly intent?: Intent;
  readonly usage?: Usage;
  readonly api?: string;
  readonly model?: string;
  readonly verdict?: 'equal' | 'equivalent' | 'different';
  /** Where the recorded answer came from, for `reused` and `skipped`. */
  readonly source?: { readonly runId?: RunId; readonly seq?: Seq };
}

export type EffectStatus = 'intended' | 'confirmed' | 'failed' | 'in-doubt' | 'compensated';

/** One occurrence of an `idempotent` or `external` call in a lineage. Unique by (root, stepKey, generation). */
export interface EffectRecord {
  readonly root: RunId;
  readonly stepKey: StepKey;
  readonly generation: number;
  readonly idempotencyKey: string;
  /** The run that owns the newest intent; receipts and decisions go there. */
  readonly runId: RunId;
  readonly name: string;
  readonly effect: 'idempotent' | 'external';
  /** `in-doubt`: the worker reported an ending without a definite outcome, or its epoch ended. `failed`: surely did not happen. */
  readonly status: EffectStatus;
  readonly intent: Intent;
  readonly intentSeq: Seq;
  readonly epoch: Epoch;
  readonly firstIntentAt: EpochMs;
  readonly intentAt: EpochMs;
  readonly attempt: number;
  /** Times that the call may have left: intents less those surely not sent. */
  readonly executions: number;
  readonly input?: PayloadRef;
  /** Absent of a confirmed one where what it answered is not known, see `isResultUnknown`. */
  readonly result?: PayloadRef;
  readonly receipt?: string;
  /** How the outcome is known. */
  readonly confirmedBy?: 'outcome' | 'probe' | 'late-worker' | 'decision';
  /** In the run that owns the row; a decision's may be in the run that decided. */
  readonly confirmedSeq?: Seq;
  /** An attempt in doubt before the newest one: a refusal of the newest settles its own attempt only. */
  readonly doubtBefore: boolean;
  /** Who says so while it is in doubt: the worker by `step.failed`, or the stop of its run, which a revival takes back. */
  readonly doubtBy?: 'worker' | 'stop';
  readonly held?: boolean;
  /**
   * The intents before the newest that may have left, about which a late word may come. Each of an external call was found
   * not to have happened; those of an idempotent one have the same key.
   */
  readonly earlier?: readonly IntentPlace[];
  /** What said that it happened and could not confirm it: it brings no result, or is about an earlier intent. */
  readonly evidence?: readonly Evidence[];
  /**
   * Calls that other runs of the lineage sent for the occurrence while this one stood, as uploaded journals tell of them:
   * one a run, none of them `failed`, none with calls beside it. `evidenceOf` tells what they say.
   */
  readonly beside?: readonly EffectRecord[];
}

/** Where an intent stands. */
export interface IntentPlace {
  readonly runId: RunId;
  readonly intentSeq: Seq;
}

export interface Evidence extends IntentPlace {
  readonly source: NonNullable<EffectRecord['confirmedBy']>;
  /** Its own intent was found not to have happened in spite of it. */
  readonly overruled?: true;
  /** Of the event, in the run that the intent stands in. */
  readonly seq: Seq;
  readonly receipt?: string;
  readonly result?: PayloadRef;
}

export interface QuestionRecord {
  readonly questionId: QuestionId;
  readonly stepKey: StepKey;
  readonly line: number;
  readonly question: PayloadRef;
  readonly questionDigest: Sha256;
  readonly askedSeq: Seq;
  readonly askedAt: EpochMs;
  readonly until?: EpochMs;
  readonly status: 'open' | 'answered' | 'expired';
  readonly answeredBy?: string;
  readonly answeredSeq?: Seq;
  readonly answer?: PayloadRef;
}

/** A checkpoint of a run; its state is the snapshot at `seq`. */
export interface CheckpointRecord {
  /** `cp_<seq>`. */
  readonly id: string;
  /** 1, 2, 3 … in the run. */
  readonly n: number;
  readonly line: number;
  readonly seq: Seq;
  readonly entrySeq: Seq;
  readonly othersSeq: Seq;
  readonly intentSeq?: Seq;
  /** What had just happened: "after check_balance". */
  readonly name: string;
  readonly trigger: CheckpointTrigger;
  readonly visit: string;
  readonly at: EpochMs;
}

/** A step that has begun and not ended, or that a stop of the run closed as unknown. */
export interface OpenStep extends StepRecord {
  readonly waitsFor?: WaitingOn['for'];
  /** A probe or a person settled its effect while it is open; the outcome is recorded when the run goes on. */
  readonly settled?: 'happened' | 'did-not-happen';
}

/**
 * State of a run at a `seq`: the fold of its effective path, by reference and bounded by the machine and by what is
 * open, never by the run's length. Plain JSON, so that a snapshot is this value.
 */
export interface RunState {
  /** `FOLD_VERSION` of the fold that gave it: another one's is not gone on from. */
  readonly fold: number;
  readonly seq: Seq;
  readonly at: EpochMs;
  readonly line: number;
  readonly status: RunStatus;
  readonly agent: string;
  readonly machineDigest?: MachineDigest;
  readonly input?: PayloadRef;
  readonly tags: readonly string[];
  readonly startedAt?: EpochMs;
  readonly endedAt?: EpochMs;
  readonly workerId?: WorkerId;
  /** The open visit, or the last one when the run has ended. */
  readonly visit?: {
    readonly key: string;
    readonly state: string;
    readonly visit: number;
    readonly entrySeq: Seq;
    readonly at: EpochMs;
  };
  /** Visits and time by state; edges taken as `from→to` with U+2192. */
  readonly visits: Readonly<
    Record<string, { readonly count: number; readonly totalMs: number; readonly lastSeq: Seq }>
  >;
  readonly edges: Readonly<Record<string, { readonly count: number; readonly lastSeq: Seq }>>;
  /** Each top-level variable is a payload of its own. */
  readonly variables: Readonly<Record<string, PayloadRef>>;
  readonly messages: { readonly count: number; readonly headSeq: Seq };
  /** Steps that have an outcome on this path, and what they told of their usage: absent until one tells it. */
  readonly counts: {
    readonly steps: number;
    readonly failedAttempts: number;
    /** Starts of an attempt that had been started before: above 0 is an alarm, since one attempt runs once. */
    readonly repeatedAttempts: number;
    readonly visits: number;
    readonly checkpoints: number;
    readonly inputTokens?: number;
    readonly outputTokens?: number;
    readonly costMicroUsd?: number;
    /** Completed calls of a model that told no cost: above 0, `costMicroUsd` is a part of it. */
    readonly unpriced: number;
  };
  /** Begun and not ended, by step key. */
  readonly open: Readonly<Record<string, OpenStep>>;
  /**
   * Closed as unknown by interruption, failure or cancellation; reopened by `run.resumed`. With status `failed`: its
   * failure ended the run, and the next claim tries it again.
   */
  readonly stopped: Readonly<Record<string, OpenStep>>;
  readonly questions: Readonly<Record<string, QuestionRecord>>;
  readonly apis: Readonly<
    Record<
      string,
      {
        readonly status: 'ok' | 'unavailable';
        readonly lastCall: 'completed' | AttemptFailure;
        readonly seq: Seq;
        readonly failures: number;
      }
    >
  >;
  readonly waitingOn: readonly WaitingOn[];
  readonly failure?: {
    readonly cause: string;
    readonly error: RecordedError;
    readonly stepKey?: StepKey;
    readonly seq: Seq;
  };
  readonly interruption?: {
    readonly cause: string;
    readonly workerId?: WorkerId;
    readonly seq: Seq;
    /** The order that was withdrawn with the lapse: a worker that comes back takes it up again. */
    readonly order?: PendingOrder;
  };
  /** What the newest pause stopped before, where no person asked for it: `state:NAME`, `tool:NAME`, `plan: WHY`. */
  readonly pausedBefore?: string;
  /** Accepted and not ended. */
  readonly pending?: PendingOrder;
  /** Newest checkpoint on this path. */
  readonly checkpoint?: {
    readonly id: string;
    readonly n: number;
    readonly seq: Seq;
    readonly entrySeq: Seq;
    readonly name: string;
  };
  /** What ended or was entered last, as checkpoints are named after it. */
  readonly lastEndedStep?: string;
  readonly diverged: boolean;
  readonly finished: boolean;
  /** Seq of the newest `run.started`: the point `start`. */
  readonly startSeq?: Seq;
  /** Newest event of the console that was folded in. */
  readonly othersSeq: Seq;
  /** The newest `run.queued` that no claim has answered yet. */
  readonly queue?: {
    readonly reason: 'created' | 'command' | 'answer' | 'timer' | 'expiry' | 'hand-over';
    readonly commandId?: string;
    readonly seq: Seq;
  };
  /** `verify` commands that were accepted and not ended, oldest first. */
  readonly verifies: readonly {
    readonly commandId: string;
    readonly stepKey: StepKey;
    readonly actor: string;
    readonly seq: Seq;
  }[];
  /** Steps that failed for good and that no code has gone on from yet, oldest first: one of them may end the run. */
  readonly unhandled: Readonly<Record<string, OpenStep>>;
  /** Every rewind, in order: what lies in (toSeq, seq) is off the effective path. */
  readonly rewinds: readonly { readonly seq: Seq; readonly toSeq: Seq }[];
}

export interface PendingOrder {
  readonly commandId: string;
  readonly mode: string;
  readonly actor: string;
  readonly seq: Seq;
}

/** Who holds a run. Times are the store's clock. */
export interface Lease {
  readonly leaseId: LeaseId;
  readonly workerId: WorkerId;
  readonly epoch: Epoch;
  readonly since: EpochMs;
  readonly expiresAt: EpochMs;
  readonly leaseMs: number;
  /** Why it was claimed; a `verify` lease refuses no command. */
  readonly mode: string;
}

/** A run's row: identity, lineage, lease, and its state at the head. */
export interface RunRecord {
  readonly runId: RunId;
  readonly root: RunId;
  readonly parent?: { readonly runId: RunId; readonly seq: Seq; readonly mode: 'fork' | 'replay' };
  readonly home: 'here' | 'mirror';
  /** `sdk`, or the id of the format that it was imported from. */
  readonly source: string;
  readonly createdAt: EpochMs;
  readonly updatedAt: EpochMs;
  readonly headSeq: Seq;
  /** How often its journal was assembled anew from its parts, each time with other events at places that stood before. */
  readonly edition: number;
  readonly epoch: Epoch;
  /** Newest batch stored in `epoch`; 0 before the first. */
  readonly lastBatch: number;
  readonly lease?: Lease;
  /** Machine that the newest order was planned for: only a worker with it may claim that order. */
  readonly plannedMachine?: MachineDigest;
  readonly state: RunState;
  /** Rises with every change of the lineage's ledger; kept on the root's row alone. */
  readonly ledgerVersion: number;
}
