import { z } from 'zod';
import type {
  CommandId,
  EpochMs,
  MachineDigest,
  QuestionId,
  RunId,
  Seq,
  Sha256,
  StepKey,
  WorkerId,
} from '@/lib/core/events/ids';
import type { Json } from '@/lib/core/shared/canonical-json';

const branded = <Out>(schema: z.ZodType<string>) => schema as unknown as z.ZodType<Out>;
/** Text that every store keeps: well-formed Unicode without U+0000. */
const storable = (text: string) => text.isWellFormed() && !text.includes('\u0000');

/** Any text of 1 to 128 characters (code points, as every `max` here counts), well-formed and without U+0000. */
const clientId = z.string().min(1).max(128).refine(storable, 'must be well-formed text without U+0000');
/** A segment that every URL parser resolves away, percent-encoded too: nothing named so could be asked for. */
const addressable = (text: string) => text !== '.' && text !== '..';
const UNADDRESSABLE = '"." and ".." cannot stand in an address';

export const wireRunId = branded<RunId>(clientId.refine(addressable, UNADDRESSABLE));
export const wireWorkerId = branded<WorkerId>(clientId);
export const wireCommandId = branded<CommandId>(clientId);
/** States keep steps and questions in maps by key. */
const notProto = (text: string) => text !== '__proto__';
const NOT_PROTO = 'may not be __proto__';

export const wireQuestionId = branded<QuestionId>(z.string().min(1).max(2_048).refine(notProto, NOT_PROTO));
export const wireStepKey = branded<StepKey>(
  z
    .string()
    .min(1)
    .max(2_048)
    .refine(storable, 'must be well-formed text without U+0000')
    .refine(addressable, UNADDRESSABLE)
    .refine(notProto, NOT_PROTO),
);
export const wireSha256 = branded<Sha256>(
  z.string().regex(/^[0-9a-f]{64}$/, 'must be 64 lower-case hexadecimal digits'),
);
export const wireMachineDigest = branded<MachineDigest>(
  z.string().regex(/^[0-9a-f]{64}$/, 'must be 64 lower-case hexadecimal digits'),
);
export const wireSeq = z
  .number()
  .int()
  .min(0)
  .max(2 ** 31 - 1) as unknown as z.ZodType<Seq>;
export const wireEpochMs = z
  .number()
  .int()
  .min(0)
  .max(8_640_000_000_000_000) as unknown as z.ZodType<EpochMs>;
export const name = z.string().min(1).max(256).refine(storable, 'must be well-formed text without U+0000');
/** A time in an answer: ISO 8601 with zone. */
export const instant = z.iso.datetime({ offset: true });
/**
 * Any JSON, taken as it is. Not `z.json()`: that rebuilds the value and leaves out a member named `__proto__`,
 * and what comes here is always the output of `JSON.parse`, within the depth limit.
 */
export const json: z.ZodType<Json> = z
  .unknown()
  .refine((value) => value !== undefined, 'is required') as unknown as z.ZodType<Json>;

function withoutProto(map: unknown, context: z.RefinementCtx): unknown {
  if (typeof map === 'object' && map !== null && Object.hasOwn(map, '__proto__'))
    context.addIssue('may have no member named __proto__');
  return map;
}

/** A map by name. `z.record` leaves out a member named `__proto__` without a word; here it is refused. */
export const mapOf = <Key extends z.ZodType<string, string>, Value extends z.ZodType>(
  key: Key,
  value: Value,
) =>
  z.preprocess(withoutProto, z.record(key, value)) as unknown as z.ZodPipe<
    z.ZodType<z.input<z.ZodRecord<Key, Value>>, z.input<z.ZodRecord<Key, Value>>>,
    z.ZodRecord<Key, Value>
  >;

export const payloadRef = z.strictObject({
  sha256: wireSha256,
  bytes: z.number().int().min(0),
  codec: z.enum(['json', 'text', 'bytes']),
});

/** A small payload beside the events that refer to it: `text` for `json` and `text`, base64 for `bytes`. */
export const inlinePayload = z.discriminatedUnion('codec', [
  z.strictObject({ sha256: wireSha256, codec: z.enum(['json', 'text']), text: z.string() }),
  z.strictObject({ sha256: wireSha256, codec: z.literal('bytes'), base64: z.base64() }),
]);

export const page = <Item extends z.ZodType>(item: Item) =>
  z.object({ items: z.array(item), total: z.number().int(), nextCursor: z.string().nullable() });

/** RFC 9457 problem details. `type` is `urn:rerail:problem:<kind>`. */
export const problem = z.looseObject({
  type: z.string(),
  title: z.string(),
  status: z.number().int(),
  detail: z.string(),
  errors: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
});
