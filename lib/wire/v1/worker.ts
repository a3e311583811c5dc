import { z } from 'zod';
import type { Epoch } from '@/lib/core/events/ids';
import {
  inlinePayload,
  json,
  name,
  page,
  payloadRef,
  wireMachineDigest,
  wireRunId,
  wireSeq,
  wireWorkerId,
} from './common';
import { newEvent, runEvent } from './events';

/* The SDK's write path and a worker's side, DESIGN §4, §6, §8. */

const count = z
  .number()
  .int()
  .min(0)
  .max(2 ** 31 - 1);
const wireEpoch = count as unknown as z.ZodType<Epoch>;

export const createRunBody = z.strictObject({
  runId: wireRunId.optional(),
  workerId: wireWorkerId,
  agent: name,
  machineDigest: wireMachineDigest,
  /** Inline, or a reference to a payload stored before. */
  input: z.union([z.strictObject({ ref: payloadRef }), z.strictObject({ value: json })]).optional(),
  tags: z.array(name).max(64).optional(),
});
export const createRunAnswer = z.object({
  runId: wireRunId,
  leaseId: z.string(),
  epoch: count,
  leaseMs: count,
  headSeq: wireSeq,
});

export const batch = z.strictObject({
  epoch: wireEpoch,
  batch: count.min(1),
  seenSeq: wireSeq,
  events: z.array(newEvent).min(1).max(10_000),
  payloads: z.array(inlinePayload).max(10_000).optional(),
});
/** A writer without a lease: `expectedSeq` instead of epoch and batch; 409 `moved`. */
export const unleasedBatch = z.strictObject({
  expectedSeq: wireSeq,
  events: z.array(newEvent).min(1).max(10_000),
  payloads: z.array(inlinePayload).max(10_000).optional(),
});
/** Either of the two, told apart by `expectedSeq`, so that a wrong one is answered with its own path. */
export const appendBody = z
  .unknown()
  .transform((raw, context): z.output<typeof batch> | z.output<typeof unleasedBatch> => {
    const schema =
      typeof raw === 'object' && raw !== null && Object.hasOwn(raw, 'expectedSeq') ? unleasedBatch : batch;
    const parsed = schema.safeParse(raw);
    if (parsed.success) return parsed.data;
    context.issues.push(
      ...parsed.error.issues.map((issue) => ({ ...issue, input: raw }) as z.core.$ZodRawIssue),
    );
    return z.NEVER;
  });
/** `edition`: as in the run's summary; pages of two editions do not belong together. */
export const eventPage = page(runEvent).extend({ edition: z.number().int() });
export const appendAnswer = z.object({ firstSeq: wireSeq, headSeq: wireSeq, others: z.array(runEvent) });
/** Several runs in one request; one answer for each, in order, a problem where it was refused. What is stored shares a sync where the store can. */
export const appendManyBody = z.strictObject({
  batches: z
    .array(batch.extend({ runId: wireRunId }))
    .min(1)
    .max(1_000),
});
export const appendManyAnswer = z.object({
  items: z.array(
    z.union([
      z.object({ runId: wireRunId, status: z.literal(200), answer: appendAnswer }),
      z.object({
        runId: wireRunId,
        status: count,
        problem: z.looseObject({ type: z.string(), title: z.string(), status: count, detail: z.string() }),
      }),
    ]),
  ),
});

export const evidenceBody = z.strictObject({
  epoch: wireEpoch,
  intentSeq: wireSeq,
  outcome: z.enum(['happened', 'did-not-happen', 'unknown']),
  result: z.union([z.strictObject({ ref: payloadRef }), z.strictObject({ value: json })]).optional(),
  receipt: z.string().max(4_096).optional(),
});

export const claimBody = z.strictObject({
  claimId: wireWorkerId,
  workerId: wireWorkerId,
  agents: z
    .array(z.strictObject({ name, machineDigest: wireMachineDigest }))
    .min(1)
    .max(256),
  waitMs: z.number().int().min(0).max(60_000),
});
export const claimReason = z.enum([
  'resume',
  'rewind',
  'fork',
  'replay',
  'verify',
  'answer',
  'timer',
  'hand-over',
]);
export const claimAnswer = z.object({
  leaseId: z.string(),
  runId: wireRunId,
  epoch: count,
  leaseMs: count,
  headSeq: wireSeq,
  reason: claimReason,
  /** The accepted command's event body, where one led to the claim. */
  command: z.looseObject({ commandId: z.string(), mode: z.string() }).exactOptional(),
  /** `PlanAnswer` of the accepted command. */
  plan: z.looseObject({ digest: z.string() }).exactOptional(),
});
export const heartbeatBody = z.strictObject({ epoch: wireEpoch, seenSeq: wireSeq });
export const heartbeatAnswer = z.object({ leaseMs: count, others: z.array(runEvent) });
export const releaseBody = z.strictObject({
  epoch: wireEpoch,
  outcome: z.enum(['done', 'waiting', 'paused', 'hand-over']),
});
export const workerRow = z.object({
  workerId: z.string(),
  agents: z.array(z.object({ name: z.string(), machineDigest: z.string() })),
  firstSeenAt: z.string(),
  seenAt: z.string(),
  live: z.boolean(),
  runs: z.array(wireRunId),
});
export const workerPage = page(workerRow);
