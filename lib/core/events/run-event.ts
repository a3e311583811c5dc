import type { Effect, StepKind } from '../machine/machine';
import type { Json } from '../shared/canonical-json';
import type {
  CommandId,
  Epoch,
  EpochMs,
  MachineDigest,
  QuestionId,
  RunId,
  Seq,
  Sha256,
  StepKey,
  WorkerId,
} from './ids';
import type { PayloadRef } from './payload';

/** A failure as it is recorded: `message` for people, `type` as the thrower named it. */
export interface RecordedError {
  readonly type: string;
  readonly message: string;
  readonly stack?: string;
}

/** Why an attempt ended without a result. Only `rejected` and `not-sent` are definite: the effect surely did not happen. */
export type AttemptFailure = 'timeout' | 'unavailable' | 'rejected' | 'not-sent' | 'error';

/** What is written before an `idempotent` or `external` call leaves. */
export interface Intent {
  readonly idempotencyKey: string;
  /** Raised by a surely unsent call with other arguments, `run-additional`, compensation. First is 1. */
  readonly generation: number;
  /** Digest of the canonical arguments. */
  readonly argsDigest: Sha256;
  /** Last instant at which the call may leave, on the worker's clock. */
  readonly sendBy: EpochMs;
  /**
   * Last instant at which the call may leave, on the store's clock: the lease that it was sent under has ended by then.
   * The store fills it in; absent where no lease is known, as in a foreign trace.
   */
  readonly leavesBy?: EpochMs;
  readonly timeoutMs: number;
  readonly settlesWithinMs: number;
  readonly keyValidForMs: number;
  /** False: downstream knows no key, so a late send cannot be stopped. */
  readonly guarded: boolean;
  /** True: the worker has a `verify` probe for the tool. */
  readonly verifiable: boolean;
}

export interface Usage {
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly costMicroUsd?: number;
}

/** What a scope waits for, by the step that waits. */
export interface WaitingOn {
  readonly stepKey: StepKey;
  readonly for: 'question' | 'in-doubt' | 'blocked' | 'conflict' | 'timer';
  readonly until?: EpochMs;
}

export type CheckpointTrigger =
  | 'before-effect'
  | 'every-n-steps'
  | 'every-t-seconds'
  | 'manual'
  | 'imported'
  | 'inherited';

export type DecisionOutcome =
  | 'happened'
  | 'did-not-happen'
  | 'hold'
  | 'keep-recorded'
  | 'compensate-and-run'
  | 'run-additional';

export interface Decision {
  readonly intentSeq: Seq;
  readonly outcome: DecisionOutcome;
  /** The call's result, which the agent's code is given; needed with `happened`. */
  readonly result?: PayloadRef;
  readonly receipt?: string;
  readonly askedDigest?: Sha256;
}

export type CommandMode =
  | 'resume'
  | 'rewind'
  | 'fork'
  | 'replay'
  | 'verify'
  | 'decide'
  | 'answer'
  | 'pause'
  | 'cancel';

/** Where a plan starts: `start`, `latest`, a checkpoint's id, or `step:<key>`. */
export type PlanFrom = string;

/** `path` is a JSON Pointer: `/variables/NAME…`, `/input`, or `/steps/<escaped key>/result` (a step's output). */
export interface Edit {
  readonly path: string;
  readonly value: Json;
}

export interface PlanOptions {
  readonly llm?: 'record' | 'ask-again';
  readonly context?: Json;
  readonly mapping?: Json;
  readonly compensate?: Json;
  readonly keep?: readonly StepKey[];
  readonly stopBefore?: readonly string[];
  readonly gate?: 'run';
}

/** Patch of one variable: whole top-level values, each a payload of its own, so that snapshots can share them. */
export interface VariablePatch {
  readonly op: 'add' | 'replace' | 'remove';
  /** JSON Pointer with one segment, `/name`. */
  readonly path: string;
  readonly value?: PayloadRef;
}

/** The row of a step as it was when the step began once more. */
export interface EndedBefore {
  readonly attempt: number;
  readonly executions: number;
  readonly startedSeq: Seq;
  readonly startedAt: EpochMs;
  /** It counts among the steps that have an outcome. */
  readonly counted: boolean;
}

interface StepCall {
  readonly stepKey: StepKey;
  readonly name: string;
  readonly step: StepKind;
  /** `human` and `wait` have none. */
  readonly effect?: Effect;
  /** What was asked; written before the call. See `conversation` for an `llm` step's. */
  readonly input?: PayloadRef;
  /** Digest of the whole canonical input, in whatever form it is stored; equal inputs have equal digests. */
  readonly inputDigest: Sha256;
  /**
   * Of an `llm` step: so many leading messages of the run's conversation, as it stands at this event, are those that
   * the request's `messages` begins with; `input` holds the request with the remaining ones. Absent: none.
   */
  readonly conversation?: number;
}

/** What happened, without where it stands in the journal. Adding a kind means adding an arm to every fold. */
export type EventBody =
  | {
      readonly kind: 'run.queued';
      readonly reason: 'created' | 'command' | 'answer' | 'timer' | 'expiry' | 'hand-over';
      readonly commandId?: CommandId;
    }
  | {
      readonly kind: 'run.started';
      readonly agent: string;
      readonly machineDigest?: MachineDigest;
      readonly input?: PayloadRef;
      readonly tags: readonly string[];
      readonly workerId?: WorkerId;
    }
  | { readonly kind: 'run.waiting'; readonly on: readonly WaitingOn[] }
  /** `before`: where the run stopped by itself, outside of what its plan said may run; a person's pause has none. */
  | { readonly kind: 'run.paused'; readonly before?: string }
  | {
      readonly kind: 'run.interrupted';
      /** `order-refused`: an accepted order was refused at its claim, since what it would do had changed. */
      readonly cause: 'lease-lapsed' | 'hand-over' | 'recorded' | 'order-refused';
      readonly workerId?: WorkerId;
    }
  | {
      readonly kind: 'run.resumed';
      readonly workerId: WorkerId;
      readonly revived: boolean;
      readonly commandId?: CommandId;
    }
  | {
      readonly kind: 'run.rewound';
      readonly toSeq: Seq;
      readonly kept: readonly StepKey[];
      readonly commandId: CommandId;
    }
  | { readonly kind: 'run.completed'; readonly result?: PayloadRef }
  | {
      readonly kind: 'run.failed';
      /** `refused`: what it was made for was no longer what would be done; it never began. */
      readonly cause: 'error' | 'diverged' | 'no-record' | 'drift' | 'not-recorded' | 'refused';
      readonly error: RecordedError;
      readonly stepKey?: StepKey;
    }
  | { readonly kind: 'run.cancelled'; readonly reason?: string; readonly commandId?: CommandId }
  | {
      readonly kind: 'state.entered';
      readonly key: string;
      readonly state: string;
      readonly visit: number;
      readonly from?: string;
    }
  | {
      readonly kind: 'state.left';
      readonly key: string;
      readonly state: string;
      readonly visit: number;
      readonly to?: string;
      readonly condition?: string;
    }
  | { readonly kind: 'scope.left'; readonly scope: string }
  | ({
      readonly kind: 'step.started';
      readonly attempt: number;
      /** What the console knows of a step that had ended before it was started again: the state keeps none that ended. */
      readonly endedBefore?: EndedBefore;
      readonly intent?: Intent;
      readonly compensates?: StepKey;
      readonly api?: string;
      readonly model?: string;
      readonly parameters?: Json;
    } & StepCall)
  | {
      readonly kind: 'step.completed';
      readonly stepKey: StepKey;
      readonly attempt: number;
      readonly recorded: boolean;
      readonly result?: PayloadRef;
      /** Of an `llm` step: the reply's `message`, byte for byte as the conversation stores it; `result` is the rest. */
      readonly message?: PayloadRef;
      readonly receipt?: string;
      readonly usage?: Usage;
      readonly verdict?: 'equal' | 'equivalent' | 'different';
      readonly problem?: string;
    }
  | {
      readonly kind: 'step.failed';
      readonly stepKey: StepKey;
      readonly attempt: number;
      readonly failure: AttemptFailure;
      readonly error: RecordedError;
      readonly final: boolean;
      readonly nextDelayMs?: number;
      readonly partial?: PayloadRef;
    }
  | ({
      readonly kind: 'step.reused';
      readonly sourceRunId?: RunId;
      readonly sourceSeq?: Seq;
      readonly result?: PayloadRef;
      /** As in `step.completed`. */
      readonly message?: PayloadRef;
      /** Of a recorded failure: what kind it was, and what the agent's code is given again. */
      readonly failure?: AttemptFailure;
      readonly error?: RecordedError;
      readonly verdict?: 'equal' | 'equivalent' | 'different';
    } & StepCall)
  | ({
      readonly kind: 'step.skipped';
      readonly sourceRunId?: RunId;
      readonly sourceSeq?: Seq;
      readonly result?: PayloadRef;
      readonly receipt?: string;
    } & StepCall)
  | {
      readonly kind: 'value.recorded';
      readonly key: StepKey;
      readonly of: 'time' | 'random' | 'id';
      readonly value: number | string;
    }
  | {
      readonly kind: 'api.unavailable';
      readonly api: string;
      readonly failures: number;
      readonly failure: AttemptFailure;
    }
  | { readonly kind: 'api.recovered'; readonly api: string }
  | { readonly kind: 'variables.patched'; readonly key?: StepKey; readonly patch: readonly VariablePatch[] }
  | {
      readonly kind: 'message.appended';
      readonly key?: StepKey;
      readonly role: string;
      readonly message: PayloadRef;
    }
  | {
      readonly kind: 'context.compacted';
      readonly key?: StepKey;
      readonly layer: string;
      readonly summary?: PayloadRef;
      readonly keptMessages: number;
    }
  | {
      readonly kind: 'checkpoint.saved';
      readonly trigger: CheckpointTrigger;
      readonly visit: string;
      readonly name: string;
      readonly entrySeq: Seq;
      readonly othersSeq: Seq;
      readonly intentSeq?: Seq;
    }
  | {
      readonly kind: 'effect.verified';
      readonly stepKey: StepKey;
      readonly intentSeq: Seq;
      readonly outcome: 'happened' | 'did-not-happen' | 'unknown';
      readonly source: 'probe' | 'late-worker';
      readonly result?: PayloadRef;
      readonly receipt?: string;
      readonly note?: string;
      readonly commandId?: CommandId;
    }
  | {
      readonly kind: 'effect.decided';
      readonly stepKey: StepKey;
      readonly decision: Decision;
      readonly actor: string;
      readonly reason: string;
      readonly commandId: CommandId;
    }
  | {
      readonly kind: 'effect.conflict';
      readonly stepKey: StepKey;
      readonly asked: PayloadRef;
      readonly askedDigest: Sha256;
      readonly recordedDigest: Sha256;
    }
  | {
      readonly kind: 'question.asked';
      readonly questionId: QuestionId;
      readonly stepKey: StepKey;
      readonly question: PayloadRef;
      readonly questionDigest: Sha256;
      readonly until?: EpochMs;
    }
  | {
      readonly kind: 'question.answered';
      readonly questionId: QuestionId;
      readonly stepKey: StepKey;
      readonly value: PayloadRef;
      readonly actor: string;
      readonly commandId: CommandId;
    }
  | { readonly kind: 'question.expired'; readonly questionId: QuestionId; readonly stepKey: StepKey }
  | {
      readonly kind: 'command.accepted';
      readonly commandId: CommandId;
      readonly mode: CommandMode;
      readonly actor: string;
      readonly reason: string;
      readonly from?: PlanFrom;
      readonly planDigest?: Sha256;
      readonly edits?: readonly Edit[];
      readonly decisions?: Readonly<Record<string, Decision>>;
      readonly options?: PlanOptions;
      readonly stepKey?: StepKey;
      readonly parent?: { readonly runId: RunId; readonly seq: Seq };
    }
  | {
      readonly kind: 'command.ended';
      readonly commandId: CommandId;
      readonly outcome: 'done' | 'refused' | 'withdrawn';
      readonly detail?: string;
      /** Told by a worker of an order that had ended by then: that end stands, and this changes nothing. */
      readonly late?: true;
    }
  | {
      readonly kind: 'divergence.found';
      readonly stepKey: string;
      readonly what: 'input' | 'result' | 'kind' | 'missing' | 'extra' | 'state';
      readonly sentence: string;
      readonly recorded?: PayloadRef;
      readonly asked?: PayloadRef;
    };

export type EventKind = EventBody['kind'];

/** Who wrote an event. The console's events are inputs to the run, never releases. */
export type Writer = 'worker' | 'console';

/** Where an inherited event stood in the run that it was copied from. The ledger passes over inherited intents. */
export interface Origin {
  readonly runId: RunId;
  readonly seq: Seq;
}

export interface EventStamp {
  readonly runId: RunId;
  readonly seq: Seq;
  readonly at: EpochMs;
  readonly epoch: Epoch;
  readonly by: Writer;
  /** Schema version of the body; what was written in an older one is read through `upcast`. */
  readonly version: number;
  readonly inherited?: Origin;
}

/** One line of a run's journal. */
export type RunEvent = EventStamp & EventBody;

/** An event before the store has placed it. `at` defaults to the store's clock. */
export type NewEvent = EventBody & { readonly at?: EpochMs };

export type EventOf<Kind extends EventKind> = Extract<RunEvent, { readonly kind: Kind }>;

export const EVENT_VERSION = 1;
