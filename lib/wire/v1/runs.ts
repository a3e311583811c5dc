import { z } from 'zod';
import { dispositions } from '@/lib/core/planner/plan';
import {
  instant,
  json,
  mapOf,
  name,
  page,
  payloadRef,
  wireMachineDigest,
  wireQuestionId,
  wireRunId,
  wireSeq,
  wireSha256,
  wireStepKey,
} from './common';
import { decision } from './events';

/* Answers about runs, DESIGN §8. Rows stay thin: values are payload references. */

export const runStatus = z.enum([
  'queued',
  'running',
  'waiting',
  'paused',
  'interrupted',
  'failed',
  'completed',
  'cancelled',
  'unknown',
]);
export const phase = z.enum([
  'waiting_human',
  'api_unavailable',
  'tool_calling',
  'llm_calling',
  'condition_check',
  'waiting_result',
  'waiting_timer',
  'idle',
  'finished',
]);
const effect = z.enum(['pure', 'read', 'idempotent', 'external']);
const stepKind = z.enum(['llm', 'tool', 'retrieval', 'condition', 'compute', 'human', 'wait', 'agent']);
const count = z.number().int();
const error = z.object({ type: z.string(), message: z.string(), stack: z.string().exactOptional() });

/** What can be done with the run now; where not, why. The UI shows every action and its reason. */
export const action = z.object({ possible: z.boolean(), reason: z.string().nullable() });
export const actions = z.object({
  resume: action,
  rewind: action,
  fork: action,
  replay: action,
  pause: action,
  cancel: action,
  verify: action,
  answer: action,
});

export const question = z.object({
  questionId: wireQuestionId,
  stepKey: wireStepKey,
  question: payloadRef,
  questionDigest: wireSha256,
  status: z.enum(['open', 'answered', 'expired']),
  askedSeq: wireSeq,
  askedAt: instant,
  until: instant.nullable(),
  answeredBy: z.string().nullable(),
  answer: payloadRef.nullable(),
  /** Whether it is asked on the line in force. */
  inForce: z.boolean(),
});

export type Question = z.output<typeof question>;

export const runSummary = z.object({
  id: wireRunId,
  status: runStatus,
  phase,
  agent: z.string(),
  machineDigest: wireMachineDigest.nullable(),
  tags: z.array(z.string()),
  /** `sdk`, or the id of the format that it was imported from. */
  source: z.string(),
  home: z.enum(['here', 'mirror']),
  lineage: z.object({
    root: wireRunId,
    parent: z.object({ runId: wireRunId, seq: wireSeq, mode: z.enum(['fork', 'replay']) }).nullable(),
    /** The newest, oldest first; `childCount` is how many there are. */
    children: z.array(z.object({ runId: wireRunId, mode: z.enum(['fork', 'replay']), status: runStatus })),
    childCount: count,
  }),
  headSeq: wireSeq,
  /** Another one than before: the journal was assembled anew from its parts, and nothing holds that was read of it. */
  edition: count,
  epoch: count,
  /** Rewinds so far. */
  line: count,
  createdAt: instant,
  updatedAt: instant,
  startedAt: instant.nullable(),
  endedAt: instant.nullable(),
  holder: z.object({ workerId: z.string(), since: instant, mode: z.string() }).nullable(),
  pending: z.object({ commandId: z.string(), mode: z.string(), actor: z.string() }).nullable(),
  /** Open ones. */
  questions: z.array(question),
  visit: z.object({ state: z.string(), visit: count, key: z.string() }).nullable(),
  counts: z.object({
    events: count,
    steps: count,
    visits: count,
    checkpoints: count,
    failedAttempts: count,
    /** Above 0: an attempt of a step ran more than once, which must not happen. */
    repeatedAttempts: count,
  }),
  effectsInDoubt: count,
  /** Steps that ask for a confirmed effect with other arguments now: nothing is sent, and a resume is blocked there. */
  conflicts: z.array(wireStepKey),
  /** Sums of what steps told; null where none told any. */
  cost: z.object({
    inputTokens: count.nullable(),
    outputTokens: count.nullable(),
    costMicroUsd: count.nullable(),
    /** Completed calls of a model that told no cost: above 0, the run cost at least `costMicroUsd`. */
    unpriced: count,
  }),
  failure: z.object({ cause: z.string(), error, stepKey: z.string().nullable(), seq: wireSeq }).nullable(),
  interruption: z.object({ cause: z.string(), workerId: z.string().nullable(), seq: wireSeq }).nullable(),
  /** Where a paused run stopped by itself, outside of what its plan said may run: `state:NAME`, `tool:NAME`, `plan: WHY`. */
  pausedBefore: z.string().nullable(),
  badges: z.array(
    z.enum([
      'replaying',
      'diverged',
      'fork',
      'replay',
      'mirror',
      'in-doubt',
      'ran-twice',
      'perhaps-twice',
      'mined',
    ]),
  ),
  checkpoint: z.object({ id: z.string(), n: count, seq: wireSeq, name: z.string() }).nullable(),
  actions,
  /** Why no worker takes up a queued run; null where one that may is connected, and for a run that is not queued. */
  unclaimed: z
    .object({ kind: z.enum(['no-worker', 'other-machine', 'nobody']), sentence: z.string() })
    .nullable(),
  /** The safest next action, with its reason; null when there is nothing to do. */
  next: z
    .object({
      action: z.enum(['resume', 'rewind', 'answer', 'verify', 'replay', 'decide']),
      from: z.string().nullable(),
      sentence: z.string(),
    })
    .nullable(),
});
export type RunSummary = z.output<typeof runSummary>;
export const runPage = page(runSummary);

export const stepRow = z.object({
  stepKey: wireStepKey,
  name: z.string(),
  scope: z.string(),
  state: z.string(),
  visit: count,
  kind: stepKind,
  effect: effect.nullable(),
  status: z.enum([
    'running',
    'retrying',
    'waiting',
    'completed',
    'failed',
    'reused',
    'skipped',
    'in-doubt',
    'unknown',
    'abandoned',
    'not-recorded',
  ]),
  attempt: count,
  executions: count,
  line: count,
  /** False for a step that a rewind left behind. */
  inForce: z.boolean(),
  startedSeq: wireSeq,
  startedAt: instant,
  attemptSeq: wireSeq,
  endedSeq: wireSeq.nullable(),
  endedAt: instant.nullable(),
  inputDigest: wireSha256,
  input: payloadRef.nullable(),
  /** Of an `llm` step: `messages` of `input` lacks so many leading messages of the conversation at `attemptSeq`. */
  conversation: count,
  result: payloadRef.nullable(),
  /** Of an `llm` step: the reply's message; `result` is the rest of the reply. */
  message: payloadRef.nullable(),
  receipt: z.string().nullable(),
  failure: z.string().nullable(),
  error: error.nullable(),
  idempotencyKey: z.string().nullable(),
  guarded: z.boolean().nullable(),
  usage: z
    .object({
      inputTokens: count.exactOptional(),
      outputTokens: count.exactOptional(),
      costMicroUsd: count.exactOptional(),
    })
    .nullable(),
  api: z.string().nullable(),
  model: z.string().nullable(),
  verdict: z.enum(['equal', 'equivalent', 'different']).nullable(),
  source: z.object({ runId: z.string().nullable(), seq: wireSeq.nullable() }).nullable(),
});
export type StepRow = z.output<typeof stepRow>;
export const stepPage = page(stepRow);
/** One step with its attempts, oldest first. */
export const stepDetail = stepRow.extend({
  attempts: z.array(
    z.object({
      attempt: count,
      seq: wireSeq,
      at: instant,
      endedSeq: wireSeq.nullable(),
      endedAt: instant.nullable(),
      outcome: z.string(),
      error: error.nullable(),
      epoch: count,
      workerId: z.string().nullable(),
    }),
  ),
});
export type StepDetail = z.output<typeof stepDetail>;

export const checkpointRow = z.object({
  id: z.string(),
  n: count,
  seq: wireSeq,
  entrySeq: wireSeq,
  name: z.string(),
  trigger: z.enum(['before-effect', 'every-n-steps', 'every-t-seconds', 'manual', 'imported', 'inherited']),
  at: instant,
  visit: z.string(),
  line: count,
  inForce: z.boolean(),
});
export type CheckpointRow = z.output<typeof checkpointRow>;
export const checkpointPage = page(checkpointRow);

export const effectRow = z.object({
  stepKey: wireStepKey,
  name: z.string(),
  effect: z.enum(['idempotent', 'external']),
  status: z.enum(['intended', 'confirmed', 'failed', 'in-doubt', 'compensated']),
  generation: count,
  intentSeq: wireSeq,
  intentAt: instant,
  idempotencyKey: z.string(),
  receipt: z.string().nullable(),
  executions: count,
  guarded: z.boolean(),
  verifiable: z.boolean(),
  /** The run that owns the intent. */
  runId: wireRunId,
  confirmedBy: z.enum(['outcome', 'probe', 'late-worker', 'decision']).nullable(),
  held: z.boolean(),
  askAgainAt: instant.nullable(),
  input: payloadRef.nullable(),
  result: payloadRef.nullable(),
  /** What a worker needs to go on with it: digest of the arguments, newest attempt, first intent, and when the call has surely settled. */
  argsDigest: wireSha256.exactOptional(),
  attempt: count.exactOptional(),
  firstIntentAt: instant.exactOptional(),
  settledAt: instant.exactOptional(),
  /**
   * What said that it happened and could not confirm it: it brings no result, or is about another intent: an earlier
   * one, or one that another run sent at another console.
   */
  evidence: z
    .array(
      z.object({
        runId: wireRunId,
        intentSeq: wireSeq,
        source: z.enum(['outcome', 'probe', 'late-worker', 'decision']),
        receipt: z.string().nullable(),
      }),
    )
    .exactOptional(),
  /** An alarm: another intent than `intentSeq` is said to have happened, and that one may have happened as well. */
  perhapsTwice: z.boolean().exactOptional(),
});
export type EffectRow = z.output<typeof effectRow>;
export const effectPage = page(effectRow);

export const messageRow = z.object({
  n: count,
  seq: wireSeq,
  at: instant,
  role: z.string(),
  message: payloadRef,
  inherited: z.boolean(),
});
export type MessageRow = z.output<typeof messageRow>;
export const messagePage = page(messageRow);
export const questionPage = page(question);

/** State at a seq: variables and conversation by reference. */
export const stateAt = z.object({
  runId: wireRunId,
  seq: wireSeq,
  at: instant,
  line: count,
  status: runStatus,
  phase,
  visit: z.object({ key: z.string(), state: z.string(), visit: count, entrySeq: wireSeq }).nullable(),
  input: payloadRef.nullable(),
  variables: z.record(z.string(), payloadRef),
  messages: z.object({ count, headSeq: wireSeq }),
  open: z.array(stepRow),
  apis: z.record(
    z.string(),
    z.object({ status: z.enum(['ok', 'unavailable']), lastCall: z.string(), seq: wireSeq }),
  ),
  visits: z.record(z.string(), z.object({ count, totalMs: z.number(), lastSeq: wireSeq })),
  edges: z.record(z.string(), z.object({ count, lastSeq: wireSeq })),
  counts: z.object({ steps: count, visits: count, checkpoints: count, failedAttempts: count }),
  /** Snapshot that it was folded from, and how many events after it. */
  folded: z.object({ snapshotSeq: wireSeq, events: count }),
});
export type StateAt = z.output<typeof stateAt>;

/** Differences of two states: JSON Pointers under `/variables`, `/visit`, `/messages/count`, `/status`. */
export const stateDiff = z.object({
  from: wireSeq,
  to: wireSeq,
  changes: z.array(
    z.object({
      path: z.string(),
      change: z.enum(['added', 'removed', 'changed']),
      left: json.nullable(),
      right: json.nullable(),
      leftRef: payloadRef.nullable(),
      rightRef: payloadRef.nullable(),
    }),
  ),
});
export type StateDiff = z.output<typeof stateDiff>;

/** The machine with what was visited and taken up to `at`. Edges `declared: false` were taken but not declared. */
export const graphAt = z.object({
  runId: wireRunId,
  at: wireSeq,
  status: runStatus,
  provenance: z.enum(['declared', 'imported', 'mined']),
  machineDigest: wireMachineDigest.nullable(),
  initial: z.string(),
  current: z.string().nullable(),
  states: z.array(
    z.object({
      name: z.string(),
      final: z.boolean(),
      visits: count,
      totalMs: z.number(),
      lastSeq: wireSeq.nullable(),
      tools: z.array(z.string()),
      declared: z.boolean(),
      stoppedHere: z.boolean(),
    }),
  ),
  edges: z.array(
    z.object({
      from: z.string(),
      to: z.string(),
      taken: count,
      lastSeq: wireSeq.nullable(),
      declared: z.boolean(),
      newest: z.boolean(),
    }),
  ),
  visits: z.array(
    z.object({
      state: z.string(),
      visit: count,
      key: z.string(),
      enteredSeq: wireSeq,
      leftSeq: wireSeq.nullable(),
      /** In it, of one that is open up to `at`; null where a part of the run does not tell. */
      ms: count.nullable(),
    }),
  ),
  checkpoints: z.array(z.object({ id: z.string(), n: count, state: z.string(), seq: wireSeq })),
});
export type GraphAt = z.output<typeof graphAt>;

export const bucketRow = z.object({
  fromSeq: wireSeq,
  toSeq: wireSeq,
  fromAt: instant,
  toAt: instant,
  events: count,
  effects: count,
  errors: count,
  checkpoints: count,
});
export const bucketPage = page(bucketRow);
export type BucketRow = z.output<typeof bucketRow>;

export const plannedStep = z.object({
  key: wireStepKey,
  name: z.string(),
  visit: z.string(),
  kind: stepKind,
  effect: effect.nullable(),
  disposition: z.enum(dispositions),
  reason: z.string(),
  seq: wireSeq,
  condition: z.enum(['if-awaited', 'if-equal']).nullable(),
  ageMs: z.number().nullable(),
  receipt: z.string().nullable(),
  intentSeq: wireSeq.nullable(),
  guarded: z.boolean().nullable(),
  verifiable: z.boolean().nullable(),
  askAgainAt: instant.nullable(),
  ownerRunId: wireRunId.nullable(),
});
/** What an order will do. `digest` covers all but reasons, head, times and cost. */
export const planAnswer = z.object({
  digest: wireSha256,
  mode: z.enum(['resume', 'rewind', 'fork', 'replay']),
  runId: wireRunId,
  from: z.object({
    asked: z.string(),
    seq: wireSeq,
    entrySeq: wireSeq,
    checkpointId: z.string().nullable(),
    name: z.string(),
  }),
  headSeq: wireSeq,
  machineDigest: wireMachineDigest.nullable(),
  steps: z.array(plannedStep),
  envelope: z.object({
    states: z.array(z.string()),
    tools: z.array(z.object({ name: z.string(), effect, states: z.array(z.string()), guarded: z.boolean() })),
    asksPeople: z.boolean(),
    limits: z.object({ steps: count.nullable(), costMicroUsd: count.nullable() }),
  }),
  totals: z.object({
    restored: count,
    reuse: count,
    skip: count,
    recompute: count,
    execute: count,
    'retry-same-key': count,
    'needs-decision': count,
    blocked: count,
  }),
  leftBehind: z.object({
    steps: count,
    effects: z.array(
      z.object({
        stepKey: wireStepKey,
        name: z.string(),
        effect: z.enum(['idempotent', 'external']),
        status: z.string(),
        receipt: z.string().nullable(),
        intentSeq: wireSeq,
        fate: z.enum(['kept', 'needs-keep']),
      }),
    ),
    questions: z.array(wireStepKey),
  }),
  drift: z.object({
    source: z.enum(['worker', 'recorded']),
    differences: z.array(
      z.object({
        path: z.string(),
        grade: z.enum(['harmless', 'warn', 'block']),
        recorded: json.nullable(),
        now: json.nullable(),
        sentence: z.string(),
      }),
    ),
    blocked: z.boolean(),
  }),
  obstacles: z.array(z.object({ kind: z.string(), sentence: z.string(), stepKey: wireStepKey.nullable() })),
  context: z.object({ messages: count, note: z.string() }),
  edits: z.array(z.object({ path: z.string(), value: json })),
  decisions: z.record(z.string(), decision),
  plannedAt: instant,
});
export type PlanAnswer = z.output<typeof planAnswer>;

export const machineState = z.strictObject({
  transitions: z.array(name),
  tools: z.array(name),
  final: z.boolean().exactOptional(),
  version: z.string().exactOptional(),
});
const bounded = z
  .number()
  .int()
  .min(0)
  .max(2 ** 31 - 1);
export const toolDeclaration = z.strictObject({
  effect,
  keyed: z.boolean(),
  verify: z.boolean(),
  timeoutMs: bounded.min(1),
  settlesWithinMs: bounded,
  keyValidForMs: bounded,
  retries: bounded,
  input: json.exactOptional(),
  result: json.exactOptional(),
  version: z.string().exactOptional(),
  description: z.string().exactOptional(),
  secrets: z.array(name).exactOptional(),
});
export const llmDeclaration = z.strictObject({ model: name, timeoutMs: bounded.min(1), retries: bounded });
export const machine = z.strictObject({
  agent: name,
  provenance: z.enum(['declared', 'imported', 'mined']),
  initial: name,
  states: mapOf(name, machineState),
  tools: mapOf(name, toolDeclaration),
  prompts: mapOf(name, z.string()).exactOptional(),
  llms: mapOf(name, llmDeclaration).exactOptional(),
  /** The older form of `llms`. */
  models: z.array(z.string()).exactOptional(),
  limits: z
    .strictObject({ steps: count.min(1).exactOptional(), costMicroUsd: count.min(1).exactOptional() })
    .exactOptional(),
  checkpoints: z.strictObject({ everySteps: count.min(1), everyMs: count.min(1) }).exactOptional(),
});
