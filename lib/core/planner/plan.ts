import type { EpochMs, MachineDigest, RunId, Seq, Sha256, StepKey } from '../events/ids';
import type { CommandMode, Decision, Edit, PlanFrom, PlanOptions } from '../events/run-event';
import type { Effect, MachineDifference, StepKind } from '../machine/machine';

export type PlanMode = Extract<CommandMode, 'resume' | 'rewind' | 'fork' | 'replay'>;

/** What a plan does about a step, in the order in which totals are told. */
export const dispositions = [
  'restored',
  'reuse',
  'skip',
  'recompute',
  'execute',
  'retry-same-key',
  'needs-decision',
  'blocked',
] as const;
export type Disposition = (typeof dispositions)[number];

export interface PlannedStep {
  readonly key: StepKey;
  readonly name: string;
  readonly visit: string;
  readonly kind: StepKind;
  readonly effect?: Effect;
  readonly disposition: Disposition;
  /** One sentence for people; not part of the digest. */
  readonly reason: string;
  readonly seq: Seq;
  /** "if still awaited" for open reads, "if equal" for a fork with edits. */
  readonly condition?: 'if-awaited' | 'if-equal';
  readonly ageMs?: number;
  readonly receipt?: string;
  readonly intentSeq?: Seq;
  readonly guarded?: boolean;
  readonly verifiable?: boolean;
  /** Instant from which a probe's "not found" means that it did not happen. */
  readonly askAgainAt?: EpochMs;
  readonly ownerRunId?: RunId;
}

/** What may run beyond the frontier; anything outside stops and asks. */
export interface Envelope {
  readonly states: readonly string[];
  readonly tools: readonly {
    readonly name: string;
    readonly effect: Effect;
    readonly states: readonly string[];
    readonly guarded: boolean;
  }[];
  readonly asksPeople: boolean;
  /** Calls that the record does not hold, and their cost as far as it is told; none: no limit. */
  readonly limits: { readonly steps?: number; readonly costMicroUsd?: number };
}

export interface LeftBehindEffect {
  readonly stepKey: StepKey;
  readonly name: string;
  readonly effect: 'idempotent' | 'external';
  readonly status: string;
  readonly receipt?: string;
  readonly intentSeq: Seq;
  /** `kept`: stays in force and answers from the record. `needs-keep`: must be named in `options.keep`. */
  readonly fate: 'kept' | 'needs-keep';
}

export interface Plan {
  /** Covers everything but reasons, head, times and cost. */
  readonly digest: Sha256;
  readonly mode: PlanMode;
  readonly runId: RunId;
  readonly from: {
    readonly asked: PlanFrom;
    readonly seq: Seq;
    readonly entrySeq: Seq;
    readonly checkpointId?: string;
    readonly name: string;
  };
  readonly headSeq: Seq;
  readonly machineDigest?: MachineDigest;
  readonly steps: readonly PlannedStep[];
  readonly envelope: Envelope;
  readonly totals: Readonly<Record<Disposition, number>>;
  readonly leftBehind: {
    readonly steps: number;
    readonly effects: readonly LeftBehindEffect[];
    readonly questions: readonly StepKey[];
  };
  readonly drift: {
    readonly source: 'worker' | 'recorded';
    readonly differences: readonly MachineDifference[];
    readonly blocked: boolean;
  };
  /** Why the order cannot be given as it stands; empty means that it can. */
  readonly obstacles: readonly {
    readonly kind: /** Whoever asks may give no order; of the plan itself nothing is in the way. */
      | 'role'
      | 'needs-decision'
      | 'blocked'
      | 'drift'
      | 'held'
      | 'mirror'
      | 'no-worker'
      | 'nothing-to-do'
      | 'needs-keep'
      | 'not-recorded'
      | 'abandoned-point';
    readonly sentence: string;
    readonly stepKey?: StepKey;
  }[];
  readonly context: { readonly messages: number; readonly note: string };
  readonly edits: readonly Edit[];
  readonly decisions: Readonly<Record<string, Decision>>;
  readonly options: PlanOptions;
}
