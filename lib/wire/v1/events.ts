import { z } from 'zod';
import type { Epoch } from '@/lib/core/events/ids';
import type { EventBody, EventKind, NewEvent, RunEvent } from '@/lib/core/events/run-event';
import {
  json,
  mapOf,
  name,
  payloadRef,
  wireCommandId,
  wireEpochMs,
  wireMachineDigest,
  wireQuestionId,
  wireRunId,
  wireSeq,
  wireSha256,
  wireStepKey,
  wireWorkerId,
} from './common';

/*
 * Version 1 of the journal's events as they are sent, stored and exported. `at` is epoch milliseconds here, as in the
 * journal; every other time in the API is ISO 8601. A change of shape is a new version with an upcaster.
 */

const text = z.string().max(1_000_000);
/** Durations, counters and numbers that stores and timers keep in 32 bits. */
const MOST = 2 ** 31 - 1;
const count = z.number().int().min(0).max(MOST);
const amount = z.number().int().min(0);
const error = z.strictObject({ type: text, message: text, stack: text.exactOptional() });
const failure = z.enum(['timeout', 'unavailable', 'rejected', 'not-sent', 'error']);
const effect = z.enum(['pure', 'read', 'idempotent', 'external']);
const stepKind = z.enum(['llm', 'tool', 'retrieval', 'condition', 'compute', 'human', 'wait', 'agent']);
const verdict = z.enum(['equal', 'equivalent', 'different']);
const attempt = z.number().int().min(1).max(MOST);
const intent = z.strictObject({
  idempotencyKey: z.string().min(1).max(256),
  generation: z.number().int().min(1).max(MOST),
  argsDigest: wireSha256,
  sendBy: wireEpochMs,
  /** Filled in by the store. */
  leavesBy: wireEpochMs.exactOptional(),
  timeoutMs: count,
  settlesWithinMs: count,
  keyValidForMs: count,
  guarded: z.boolean(),
  verifiable: z.boolean(),
});
/** Filled in by the store. */
const endedBefore = z.strictObject({
  attempt,
  executions: count,
  startedSeq: wireSeq,
  startedAt: wireEpochMs,
  counted: z.boolean(),
});
const usage = z.strictObject({
  inputTokens: amount.exactOptional(),
  outputTokens: amount.exactOptional(),
  costMicroUsd: amount.exactOptional(),
});
const waitingOn = z.strictObject({
  stepKey: wireStepKey,
  for: z.enum(['question', 'in-doubt', 'blocked', 'conflict', 'timer']),
  until: wireEpochMs.exactOptional(),
});
const call = {
  stepKey: wireStepKey,
  name,
  step: stepKind,
  effect: effect.exactOptional(),
  input: payloadRef.exactOptional(),
  inputDigest: wireSha256,
  conversation: count.exactOptional(),
};
const source = { sourceRunId: wireRunId.exactOptional(), sourceSeq: wireSeq.exactOptional() };
const patch = z.strictObject({
  op: z.enum(['add', 'replace', 'remove']),
  path: z.string().startsWith('/').max(2_048),
  value: payloadRef.exactOptional(),
});

export const decision = z.strictObject({
  intentSeq: wireSeq,
  outcome: z.enum([
    'happened',
    'did-not-happen',
    'hold',
    'keep-recorded',
    'compensate-and-run',
    'run-additional',
  ]),
  result: payloadRef.exactOptional(),
  receipt: z.string().max(4_096).exactOptional(),
  askedDigest: wireSha256.exactOptional(),
});
export const edit = z.strictObject({ path: z.string().startsWith('/').max(4_096), value: json });
export const planOptions = z.strictObject({
  llm: z.enum(['record', 'ask-again']).exactOptional(),
  context: json.exactOptional(),
  mapping: json.exactOptional(),
  compensate: json.exactOptional(),
  keep: z.array(wireStepKey).exactOptional(),
  stopBefore: z.array(z.string().max(512)).exactOptional(),
  gate: z.literal('run').exactOptional(),
});
export const planFrom = z.string().min(1).max(2_100);

const bodies = [
  z.strictObject({
    kind: z.literal('run.queued'),
    reason: z.enum(['created', 'command', 'answer', 'timer', 'expiry', 'hand-over']),
    commandId: wireCommandId.exactOptional(),
  }),
  z.strictObject({
    kind: z.literal('run.started'),
    agent: name,
    machineDigest: wireMachineDigest.exactOptional(),
    input: payloadRef.exactOptional(),
    tags: z.array(name).max(64),
    workerId: wireWorkerId.exactOptional(),
  }),
  z.strictObject({ kind: z.literal('run.waiting'), on: z.array(waitingOn) }),
  z.strictObject({ kind: z.literal('run.paused'), before: text.exactOptional() }),
  z.strictObject({
    kind: z.literal('run.interrupted'),
    cause: z.enum(['lease-lapsed', 'hand-over', 'recorded', 'order-refused']),
    workerId: wireWorkerId.exactOptional(),
  }),
  z.strictObject({
    kind: z.literal('run.resumed'),
    workerId: wireWorkerId,
    revived: z.boolean(),
    commandId: wireCommandId.exactOptional(),
  }),
  z.strictObject({
    kind: z.literal('run.rewound'),
    toSeq: wireSeq,
    kept: z.array(wireStepKey),
    commandId: wireCommandId,
  }),
  z.strictObject({ kind: z.literal('run.completed'), result: payloadRef.exactOptional() }),
  z.strictObject({
    kind: z.literal('run.failed'),
    cause: z.enum(['error', 'diverged', 'no-record', 'drift', 'not-recorded', 'refused']),
    error,
    stepKey: wireStepKey.exactOptional(),
  }),
  z.strictObject({
    kind: z.literal('run.cancelled'),
    reason: text.exactOptional(),
    commandId: wireCommandId.exactOptional(),
  }),
  z.strictObject({
    kind: z.literal('state.entered'),
    key: text,
    state: name,
    visit: z.number().int().min(1).max(MOST),
    from: name.exactOptional(),
  }),
  z.strictObject({
    kind: z.literal('state.left'),
    key: text,
    state: name,
    visit: z.number().int().min(1).max(MOST),
    to: name.exactOptional(),
    condition: text.exactOptional(),
  }),
  z.strictObject({ kind: z.literal('scope.left'), scope: text }),
  z.strictObject({
    kind: z.literal('step.started'),
    ...call,
    attempt,
    endedBefore: endedBefore.exactOptional(),
    intent: intent.exactOptional(),
    compensates: wireStepKey.exactOptional(),
    api: name.exactOptional(),
    model: name.exactOptional(),
    parameters: json.exactOptional(),
  }),
  z.strictObject({
    kind: z.literal('step.completed'),
    stepKey: wireStepKey,
    attempt,
    recorded: z.boolean(),
    result: payloadRef.exactOptional(),
    message: payloadRef.exactOptional(),
    receipt: text.exactOptional(),
    usage: usage.exactOptional(),
    verdict: verdict.exactOptional(),
    problem: text.exactOptional(),
  }),
  z.strictObject({
    kind: z.literal('step.failed'),
    stepKey: wireStepKey,
    attempt,
    failure,
    error,
    final: z.boolean(),
    nextDelayMs: count.exactOptional(),
    partial: payloadRef.exactOptional(),
  }),
  z.strictObject({
    kind: z.literal('step.reused'),
    ...call,
    ...source,
    result: payloadRef.exactOptional(),
    message: payloadRef.exactOptional(),
    failure: failure.exactOptional(),
    error: error.exactOptional(),
    verdict: verdict.exactOptional(),
  }),
  z.strictObject({
    kind: z.literal('step.skipped'),
    ...call,
    ...source,
    result: payloadRef.exactOptional(),
    receipt: text.exactOptional(),
  }),
  z.strictObject({
    kind: z.literal('value.recorded'),
    key: wireStepKey,
    of: z.enum(['time', 'random', 'id']),
    value: z.union([z.number(), text]),
  }),
  z.strictObject({ kind: z.literal('api.unavailable'), api: name, failures: count, failure }),
  z.strictObject({ kind: z.literal('api.recovered'), api: name }),
  z.strictObject({
    kind: z.literal('variables.patched'),
    key: wireStepKey.exactOptional(),
    patch: z.array(patch),
  }),
  z.strictObject({
    kind: z.literal('message.appended'),
    key: wireStepKey.exactOptional(),
    role: name,
    message: payloadRef,
  }),
  z.strictObject({
    kind: z.literal('context.compacted'),
    key: wireStepKey.exactOptional(),
    layer: name,
    summary: payloadRef.exactOptional(),
    keptMessages: count,
  }),
  z.strictObject({
    kind: z.literal('checkpoint.saved'),
    trigger: z.enum(['before-effect', 'every-n-steps', 'every-t-seconds', 'manual', 'imported', 'inherited']),
    visit: text,
    name: text,
    entrySeq: wireSeq,
    othersSeq: wireSeq,
    intentSeq: wireSeq.exactOptional(),
  }),
  z.strictObject({
    kind: z.literal('effect.verified'),
    stepKey: wireStepKey,
    intentSeq: wireSeq,
    outcome: z.enum(['happened', 'did-not-happen', 'unknown']),
    source: z.enum(['probe', 'late-worker']),
    result: payloadRef.exactOptional(),
    receipt: text.exactOptional(),
    note: text.exactOptional(),
    commandId: wireCommandId.exactOptional(),
  }),
  z.strictObject({
    kind: z.literal('effect.decided'),
    stepKey: wireStepKey,
    decision,
    actor: text,
    reason: text,
    commandId: wireCommandId,
  }),
  z.strictObject({
    kind: z.literal('effect.conflict'),
    stepKey: wireStepKey,
    asked: payloadRef,
    askedDigest: wireSha256,
    recordedDigest: wireSha256,
  }),
  z.strictObject({
    kind: z.literal('question.asked'),
    questionId: wireQuestionId,
    stepKey: wireStepKey,
    question: payloadRef,
    questionDigest: wireSha256,
    until: wireEpochMs.exactOptional(),
  }),
  z.strictObject({
    kind: z.literal('question.answered'),
    questionId: wireQuestionId,
    stepKey: wireStepKey,
    value: payloadRef,
    actor: text,
    commandId: wireCommandId,
  }),
  z.strictObject({ kind: z.literal('question.expired'), questionId: wireQuestionId, stepKey: wireStepKey }),
  z.strictObject({
    kind: z.literal('command.accepted'),
    commandId: wireCommandId,
    mode: z.enum(['resume', 'rewind', 'fork', 'replay', 'verify', 'decide', 'answer', 'pause', 'cancel']),
    actor: text,
    reason: text,
    from: planFrom.exactOptional(),
    planDigest: wireSha256.exactOptional(),
    edits: z.array(edit).exactOptional(),
    decisions: mapOf(z.string(), decision).exactOptional(),
    options: planOptions.exactOptional(),
    stepKey: wireStepKey.exactOptional(),
    parent: z.strictObject({ runId: wireRunId, seq: wireSeq }).exactOptional(),
  }),
  z.strictObject({
    kind: z.literal('command.ended'),
    commandId: wireCommandId,
    outcome: z.enum(['done', 'refused', 'withdrawn']),
    detail: text.exactOptional(),
    /** Told by a worker of an order that had ended by then: changes nothing. The console's to say. */
    late: z.literal(true).exactOptional(),
  }),
  z.strictObject({
    kind: z.literal('divergence.found'),
    stepKey: text,
    what: z.enum(['input', 'result', 'kind', 'missing', 'extra', 'state']),
    sentence: text,
    recorded: payloadRef.exactOptional(),
    asked: payloadRef.exactOptional(),
  }),
] as const;

const at = { at: wireEpochMs.exactOptional() };
const stamp = {
  runId: wireRunId,
  seq: wireSeq,
  at: wireEpochMs,
  epoch: count as unknown as z.ZodType<Epoch>,
  by: z.enum(['worker', 'console']),
  version: z.literal(1),
  inherited: z.strictObject({ runId: wireRunId, seq: wireSeq }).exactOptional(),
};

export const eventKind = z.enum(bodies.map((body) => body.shape.kind.value));
export const eventBody = z.discriminatedUnion('kind', bodies) as unknown as z.ZodType<EventBody>;
/** An event as a writer sends it. */
export const newEvent = z.discriminatedUnion(
  'kind',
  bodies.map((body) => body.extend(at)) as unknown as typeof bodies,
) as unknown as z.ZodType<NewEvent>;
/** An event as the journal gives it. */
export const runEvent = z.discriminatedUnion(
  'kind',
  bodies.map((body) => body.extend(stamp)) as unknown as typeof bodies,
) as unknown as z.ZodType<RunEvent>;

type Parsed = z.output<(typeof bodies)[number]>;
/** Compile-time proof that what is parsed is what `core` knows, and that no kind is missing; never called. */
export const bodiesAgree = {
  parsedIsCore: (body: Parsed): EventBody => body,
  everyKindIsParsed: (kind: EventKind): Parsed['kind'] => kind,
};
