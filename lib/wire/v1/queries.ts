import { z } from 'zod';
import type { LeaseId, Seq } from '@/lib/core/events/ids';
import { name, wireMachineDigest, wireRunId, wireSha256, wireStepKey } from './common';
import { eventKind } from './events';
import { runStatus } from './runs';

/*
 * Path and query parameters of the API. Every value arrives as text. A parameter that a route does not know is refused:
 * a misspelt filter would otherwise be answered with everything.
 */

/** A whole number in decimal digits; `Number` would read an empty text as 0, and `1e1` and `0x10` too. */
const decimal = (least: number, most: number) =>
  z
    .string()
    .regex(/^(?:0|[1-9]\d*)$/, 'must be a whole number in decimal digits')
    .transform(Number)
    .pipe(z.number().min(least).max(most));
const seqText = decimal(0, 2 ** 31 - 1) as unknown as z.ZodType<Seq, string>;

const texts = z.union([z.string(), z.array(z.string())]).transform((value) => [value].flat());
/** An empty list filters nothing: as if it were absent. */
const orAbsent = <Item>(items: readonly Item[]) => (items.length === 0 ? undefined : items);
/** A repeated parameter, for texts that may hold a comma. */
const repeated = <Item extends string>(item: z.ZodType<Item, string>) =>
  texts
    .transform((values) => values.filter((text) => text !== ''))
    .pipe(z.array(item).max(100))
    .transform(orAbsent);
/** `a,b` and a repeated parameter both make a list. */
const listOf = <Item extends string>(item: z.ZodType<Item, string>) =>
  texts
    .transform((values) => values.flatMap((text) => text.split(',')).filter((text) => text !== ''))
    .pipe(z.array(item).max(100))
    .transform(orAbsent);
/** ISO 8601 with zone, or epoch milliseconds. */
const instantText = z.union([
  z.iso.datetime({ offset: true }).transform((text) => Date.parse(text)),
  decimal(0, 8_640_000_000_000_000),
]);

export const runParams = z.object({ runId: wireRunId });
export const stepParams = z.object({ runId: wireRunId, key: wireStepKey });
export const leaseParams = z.object({
  leaseId: z.string().min(1).max(2_048) as unknown as z.ZodType<LeaseId>,
});
export const payloadParams = z.object({ sha256: wireSha256 });
export const machineParams = z.object({ digest: wireMachineDigest });
export const payloadQuery = z.strictObject({ codec: z.enum(['json', 'text', 'bytes']).optional() });

export const tracesQuery = z.strictObject({ format: z.string().max(64).optional() });
export const noQuery = z.strictObject({});

export const runsQuery = z.strictObject({
  status: listOf(runStatus).optional(),
  agent: repeated(name).optional(),
  tag: repeated(name).optional(),
  q: z.string().max(256).optional(),
  from: instantText.optional(),
  to: instantText.optional(),
  failure: z.string().max(256).optional(),
  root: wireRunId.optional(),
  /** `updated` and `status` change while a list is walked; a walk by `created` gives every run once. */
  sort: z.enum(['updated', 'created', 'agent', 'status']).default('updated'),
  order: z.enum(['asc', 'desc']).default('desc'),
  cursor: z.string().max(4_096).optional(),
  limit: decimal(1, 1_000).default(50),
});
/** Of lists that are given whole, whatever the limit: none of their answers gives a cursor, so there is none to take. */
const whole = {
  limit: decimal(1, 20_000).optional(),
  cursor: z.never('this list is given whole and has no cursors').optional(),
};
export const wholeQuery = z.strictObject(whole);
export const eventsQuery = z.strictObject({
  after: seqText.optional(),
  before: seqText.optional(),
  limit: decimal(1, 10_000).default(500),
  kinds: listOf(eventKind).optional(),
  order: z.enum(['asc', 'desc']).default('asc'),
});
export const bucketsQuery = z.strictObject({ n: decimal(1, 2_000).default(200), ...whole });
export const stepsQuery = z.strictObject({
  cursor: seqText.optional(),
  limit: decimal(1, 20_000).default(5_000),
});
export const atQuery = z.strictObject({ at: seqText.optional() });
export const effectsQuery = z.strictObject({ at: seqText.optional(), ...whole });
export const messagesQuery = z.strictObject({
  at: seqText.optional(),
  before: seqText.optional(),
  limit: decimal(1, 10_000).default(200),
});
export const diffQuery = z.strictObject({ from: seqText, to: seqText.optional() });
export const streamQuery = z.strictObject({ run: wireRunId.optional(), after: seqText.optional() });
