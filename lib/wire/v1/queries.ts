import { z } from 'zod';
import type { LeaseId, Seq } from '@/lib/core/events/ids';
import { auditActions } from '@/lib/core/journal/audit';
import { name, wireMachineDigest, wireRunId, wireSha256, wireStepKey } from './common';
import { eventKind } from './events';
import { runStatus } from './runs';

/*
 * Path and query parameters of the API. Every value arrives as text. A parameter that a route does not know is refused:
 * a misspelt filter would otherwise be answered with everything.
 */

/** What a parameter is, beside the text that it arrives as: the document of the API shows that. */
const shown = <Schema extends z.ZodType>(schema: Schema, parameter: Parameter): Schema =>
  schema.meta({ parameter });
/** JSON Schema of a parameter, and how a list of them is written. */
export interface Parameter {
  readonly schema: Readonly<Record<string, unknown>>;
  /** False: a list may also be written `a,b`. */
  readonly explode?: boolean;
}
const listSchema = (item: z.ZodType) => {
  const { $schema: _dialect, ...items } = z.toJSONSchema(item, { io: 'input' });
  return { type: 'array', items, maxItems: MOST_IN_LIST };
};
const MOST_IN_LIST = 100;

/** A whole number in decimal digits; `Number` would read an empty text as 0, and `1e1` and `0x10` too. */
const decimal = (least: number, most: number) =>
  shown(
    z
      .string()
      .regex(/^(?:0|[1-9]\d*)$/, 'must be a whole number in decimal digits')
      .transform(Number)
      .pipe(z.number().min(least).max(most)),
    { schema: { type: 'integer', minimum: least, maximum: most } },
  );
const seqText = decimal(0, 2 ** 31 - 1) as unknown as z.ZodType<Seq, string>;

const texts = z.union([z.string(), z.array(z.string())]).transform((value) => [value].flat());
/** An empty list filters nothing: as if it were absent. */
const orAbsent = <Item>(items: readonly Item[]) => (items.length === 0 ? undefined : items);
/** A repeated parameter, for texts that may hold a comma. */
const repeated = <Item extends string>(item: z.ZodType<Item, string>) =>
  shown(
    texts
      .transform((values) => values.filter((text) => text !== ''))
      .pipe(z.array(item).max(MOST_IN_LIST))
      .transform(orAbsent),
    { schema: listSchema(item), explode: true },
  );
/** `a,b` and a repeated parameter both make a list. */
const listOf = <Item extends string>(item: z.ZodType<Item, string>) =>
  shown(
    texts
      .transform((values) => values.flatMap((text) => text.split(',')).filter((text) => text !== ''))
      .pipe(z.array(item).max(MOST_IN_LIST))
      .transform(orAbsent),
    { schema: listSchema(item), explode: false },
  );
/** ISO 8601 with zone, or epoch milliseconds. */
const instantText = shown(
  z.union([
    z.iso.datetime({ offset: true }).transform((text) => Date.parse(text)),
    decimal(0, 8_640_000_000_000_000),
  ]),
  {
    schema: {
      anyOf: [
        { type: 'string', format: 'date-time' },
        { type: 'integer', minimum: 0, maximum: 8_640_000_000_000_000 },
      ],
    },
  },
);

const yesOrNo = shown(
  z.enum(['true', 'false']).transform((text) => text === 'true'),
  { schema: { type: 'boolean' } },
);
const SPAN_MS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const SPAN = /^[1-9]\d{0,3}[mhd]$/;
/** A length of time, in milliseconds. */
export const span = shown(
  z
    .string()
    .regex(SPAN, 'must be a number of minutes, hours or days, such as 90m, 24h or 7d')
    .transform((text) => Number(text.slice(0, -1)) * SPAN_MS[text.slice(-1) as keyof typeof SPAN_MS]),
  { schema: { type: 'string', pattern: SPAN.source } },
);

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
  notAgent: repeated(name).optional(),
  /** Runs that have every one of them. */
  tag: repeated(name).optional(),
  /** Runs that have none of them. */
  notTag: repeated(name).optional(),
  /** `sdk`, or the id of the format that a run was imported from. */
  source: repeated(name).optional(),
  notSource: repeated(name).optional(),
  /** Whether the run has effects in doubt. */
  inDoubt: yesOrNo.optional(),
  /**
   * Whether the run stands until a person acts: it asks, it is paused or interrupted, or it has an effect in doubt,
   * however it ended. Runs whose home is elsewhere are not among them.
   */
  attention: yesOrNo.optional(),
  q: z.string().max(256).optional(),
  /** Created at or after, before, and within so long until now: `90m`, `24h`, `7d`. */
  from: instantText.optional(),
  to: instantText.optional(),
  within: span.optional(),
  failure: z.string().max(256).optional(),
  root: wireRunId.optional(),
  /** `updated` and `status` change while a list is walked; a walk by `created` gives every run once. */
  sort: z.enum(['updated', 'created', 'agent', 'status']).default('updated'),
  order: z.enum(['asc', 'desc']).default('desc'),
  cursor: z.string().max(4_096).optional(),
  /** 0 asks for the total alone. */
  limit: decimal(0, 1_000).default(50),
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
export const graphQuery = z.strictObject({
  at: seqText.optional(),
  lists: z.enum(['all', 'none']).default('all'),
});
export const effectsQuery = z.strictObject({ at: seqText.optional(), ...whole });
export const messagesQuery = z.strictObject({
  at: seqText.optional(),
  before: seqText.optional(),
  limit: decimal(1, 10_000).default(200),
});
export const diffQuery = z.strictObject({ from: seqText, to: seqText.optional() });
export const auditQuery = z.strictObject({
  actor: repeated(name).optional(),
  action: listOf(z.enum(auditActions)).optional(),
  run: wireRunId.optional(),
  q: z.string().max(256).optional(),
  /** At or after, and before. */
  from: instantText.optional(),
  to: instantText.optional(),
  cursor: z.string().max(4_096).optional(),
  limit: decimal(1, 1_000).default(100),
});
export const streamQuery = z.strictObject({
  run: wireRunId.optional(),
  after: seqText.optional(),
  /** Of what the listener has read, as the run's summary says it. */
  edition: decimal(0, 2 ** 31 - 1).optional(),
});
