import { z } from 'zod';
import type { LeaseId, Seq } from '@/lib/core/events/ids';
import { name, pageQuery, wireMachineDigest, wireRunId, wireSha256, wireStepKey } from './common';
import { runStatus } from './runs';

/* Path and query parameters of the API. Every value arrives as text. */

const seqText = z.coerce
  .number()
  .int()
  .min(0)
  .max(2 ** 31 - 1) as unknown as z.ZodType<Seq>;
/** `a,b` and a repeated parameter both make a list. */
const listOf = <Item extends string>(item: z.ZodType<Item, string>) =>
  z
    .union([z.string(), z.array(z.string())])
    .transform((value) =>
      [value]
        .flat()
        .flatMap((text) => text.split(','))
        .filter((text) => text !== ''),
    )
    .pipe(z.array(item).max(100));
/** ISO 8601 with zone, or epoch milliseconds. */
const instantText = z.union([
  z.iso.datetime({ offset: true }).transform((text) => Date.parse(text)),
  z.coerce.number().int().min(0).max(8_640_000_000_000_000),
]);

export const runParams = z.object({ runId: wireRunId });
export const stepParams = z.object({ runId: wireRunId, key: wireStepKey });
export const leaseParams = z.object({
  leaseId: z.string().min(1).max(1_024) as unknown as z.ZodType<LeaseId>,
});
export const payloadParams = z.object({ sha256: wireSha256 });
export const machineParams = z.object({ digest: wireMachineDigest });
export const payloadQuery = z.object({ codec: z.enum(['json', 'text', 'bytes']).optional() });

export const runsQuery = pageQuery.extend({
  status: listOf(runStatus).optional(),
  agent: listOf(name).optional(),
  tag: listOf(name).optional(),
  q: z.string().max(256).optional(),
  from: instantText.optional(),
  to: instantText.optional(),
  failure: z.string().max(256).optional(),
  root: wireRunId.optional(),
  sort: z.enum(['updated', 'created', 'agent', 'status']).default('updated'),
  order: z.enum(['asc', 'desc']).default('desc'),
});
export const eventsQuery = z.object({
  after: seqText.optional(),
  before: seqText.optional(),
  limit: z.coerce.number().int().min(1).max(10_000).default(500),
  kinds: listOf(z.string().max(64)).optional(),
  order: z.enum(['asc', 'desc']).default('asc'),
});
export const bucketsQuery = z.object({ n: z.coerce.number().int().min(1).max(2_000).default(200) });
export const stepsQuery = z.object({
  cursor: seqText.optional(),
  limit: z.coerce.number().int().min(1).max(20_000).default(5_000),
});
export const atQuery = z.object({ at: seqText.optional() });
export const messagesQuery = z.object({
  at: seqText.optional(),
  before: seqText.optional(),
  limit: z.coerce.number().int().min(1).max(10_000).default(200),
});
export const diffQuery = z.object({ from: seqText, to: seqText.optional() });
export const streamQuery = z.object({ run: wireRunId.optional(), after: seqText.optional() });
