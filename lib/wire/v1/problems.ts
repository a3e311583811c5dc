import { z } from 'zod';
import { wireMachineDigest, wireRunId, wireSeq, wireSha256, wireStepKey } from './common';
import { eventKind } from './events';
import { planAnswer, runStatus } from './runs';

/*
 * What the API's refusals carry beside `type`, `title`, `status` and `detail`, by kind. A kind is part of the contract:
 * programs tell by it what to do.
 */

const count = z.number().int().min(0);
const errors = z.array(z.object({ path: z.string(), message: z.string() }));
const role = z.enum(['viewer', 'operator', 'admin']);
const holder = z.object({
  workerId: z.string().nullable(),
  actor: z.string().nullable(),
  commandId: z.string().nullable(),
  mode: z.string(),
  since: z.iso.datetime({ offset: true }).nullable(),
});
const payloads = z.array(wireSha256);
const stepKey = wireStepKey;
const epoch = count;
const none = {};

export const problemMembers = {
  'invalid-request': { errors },
  'body-too-large': { limit: z.enum(['body', 'decompressed body']), limitBytes: count },
  'too-deep': { limit: z.literal('depth').optional(), limitDepth: count, errors: errors.optional() },
  'unsupported-media-type': { contentType: z.string(), accepted: z.array(z.string()) },
  'unsupported-encoding': { contentEncoding: z.string() },
  'body-stalled': { idleMs: count },
  'body-too-slow': { leastBytesPerSecond: count },
  'no-room': { retryAfterSeconds: count },
  'range-not-satisfiable': { bytes: count },
  'foreign-address': none,
  'foreign-host': none,
  'cross-site': none,
  'not-signed-in': none,
  'bad-token': none,
  'too-many-attempts': { retryAfterSeconds: count },
  'bad-name': none,
  'sign-in-not-needed': none,
  'needs-role': { needed: role, role },
  'link-reads-one-run': none,
  'not-found': none,
  'method-not-allowed': none,
  internal: none,
  'storage-full': none,
  'copy-not-built': none,
  'bad-expiry': none,
  'not-yours': none,
  'no-such-link': none,
  'link-expired': none,
  'link-revoked': none,
  mirror: none,
  // The epoch that counts; `runStatus` where the lease was given back.
  'stale-epoch': { epoch: epoch.optional(), runStatus: runStatus.optional() },
  'batch-gap': { expected: count },
  'batch-differs': none,
  'effect-exists': {
    stepKey,
    generation: count,
    runId: wireRunId,
    intentSeq: wireSeq,
    effectStatus: z.enum(['intended', 'confirmed', 'failed', 'in-doubt', 'compensated']),
  },
  moved: { headSeq: wireSeq },
  'needs-lease': none,
  'unknown-payloads': { payloads },
  'refused-event': { index: count, event: eventKind, sentence: z.string() },
  'bad-payload': none,
  'unknown-machine': { machines: z.array(wireMachineDigest) },
  'digest-differs': { expected: wireMachineDigest },
  exists: none,
  'no-such-intent': none,
  'claim-differs': none,
  held: { holder },
  'stale-plan': { plan: planAnswer },
  blocked: { plan: planAnswer },
  'not-possible': none,
  'already-answered': { by: z.string() },
  'command-differs': none,
  'question-changed': { questionDigest: wireSha256 },
  'intent-changed': { stepKey: z.string(), intentSeq: wireSeq },
  'not-in-doubt': { stepKey: z.string() },
  'several-runs': { runs: z.array(z.object({ runId: wireRunId, stepKeys: z.array(stepKey) })) },
  'use-rewind': { sentence: z.string(), newestCheckpointId: z.string().optional() },
  'no-such-point': { from: z.string(), sentence: z.string() },
  'replay-from-start': { sentence: z.string() },
  'edit-refused': { path: z.string(), sentence: z.string(), offer: z.string().optional() },
  'bad-decision': { stepKey, sentence: z.string() },
  'unsupported-option': { option: z.string(), sentence: z.string() },
  'unzips-too-far': { limit: z.literal('decompression ratio'), limitRatio: count },
  'unknown-format': { known: z.array(z.object({ format: z.string(), title: z.string() })), errors },
  malformed: { errors },
  differs: { runId: wireRunId, seq: wireSeq },
  'home-here': { runId: wireRunId, headSeq: wireSeq },
} as const satisfies Readonly<Record<string, z.ZodRawShape>>;

export type ProblemKind = keyof typeof problemMembers;
