import { readdirSync, readFileSync } from 'node:fs';
import { maxHeaderSize } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { MAX_MESSAGE } from '@/lib/ingest/langgraph/line-journal';
import { MAX_NAME as LANGGRAPH_NAME } from '@/lib/ingest/langgraph/thread-state';
import { MAX_TEXT } from '@/lib/ingest/otlp/journal';
import { MAX_TAG, MOST_TAGS } from '@/lib/ingest/otlp/names';
import { MAX_NAME as OTLP_NAME } from '@/lib/ingest/otlp/values';
import { LARGEST_COMPARED_BYTES } from '@/lib/usecases/get-diff';
import { LONGEST_MS, USUAL_MS } from '@/lib/usecases/make-share';
import { UNREFERENCED_LIVE_MS } from '@/lib/usecases/sweep-payloads';
import { commandBody, planBody } from '@/lib/wire/v1/commands';
import { name, wireQuestionId, wireRunId, wireStepKey } from '@/lib/wire/v1/common';
import { decision, edit, eventBody, planFrom, planOptions } from '@/lib/wire/v1/events';
import { bucketsQuery, eventsQuery, runsQuery, stepsQuery } from '@/lib/wire/v1/queries';
import { appendManyBody, batch, claimBody, createRunBody } from '@/lib/wire/v1/worker';
import { OVERALL, PER_ADDRESS } from './attempts';
import { BODY_IDLE_MS, BODY_STRETCH_MS } from './body-pace';
import { SMALL_UPLOADS_AT_ONCE, UPLOADS_AT_ONCE } from './container';
import { copyLimits } from './copy-file';
import { STRANGERS } from './endpoint';
import { readEnv } from './env';
import { MAX_NAME } from './gate';
import { HEAD_MS } from './http-server';
import { tokenText } from './tokens';
import { RATIO_FROM, SMALL } from './upload-body';

const root = join(import.meta.dirname, '../..');
const text = (path: string) => readFileSync(join(root, path), 'utf8');
const documented = text('docs/limits.md');

const UNITS: Readonly<Record<string, number>> = {
  KiB: 1_024,
  MiB: 1_024 ** 2,
  s: 1_000,
  h: 3_600_000,
  days: 86_400_000,
};
/** All numbers of a text, in bytes and milliseconds. */
const numbersIn = (cell: string): readonly number[] =>
  [...cell.replace(/`[^`]*`/g, '').matchAll(/(\d[\d,]*)(?: (KiB|MiB|days|[sh])\b)?/g)].map(
    ([, digits = '', unit = '']) => Number(digits.replaceAll(',', '')) * (UNITS[unit] ?? 1),
  );
const rows = documented
  .split('\n')
  .filter((line) => /^\| (?!what|---)/.test(line))
  .map((line) => line.slice(2, -2).split(' | '));

/** `least` and `most` as the parsing schema has them. */
function lengths(schema: z.ZodType): readonly number[] {
  const { minLength, maxLength, maxItems } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return [minLength ?? [], maxLength ?? maxItems ?? []].flat();
}
const inside = (schema: z.ZodType, ...path: readonly string[]): z.ZodType => {
  const { shape } = schema as z.ZodObject<Record<string, z.ZodType>>;
  const [first = '', ...rest] = path;
  const found = shape[first];
  if (found === undefined) throw new Error(`There is no ${first}`);
  const bare =
    found instanceof z.ZodOptional || found instanceof z.ZodExactOptional
      ? (found.unwrap() as z.ZodType)
      : found;
  return rest.length === 0 ? bare : inside(bare, ...rest);
};
const event = (kind: string) =>
  (eventBody as unknown as z.ZodDiscriminatedUnion<z.ZodObject[]>).options.find(
    ({ shape }) => (shape['kind'] as z.ZodLiteral<string> | undefined)?.value === kind,
  ) as z.ZodObject;
const given = (mode: string, member: string) => {
  const order = commandBody.options.find(({ shape }) => shape.mode.value === mode);
  return (inside(order as z.ZodObject, member) as z.ZodDefault<z.ZodString>).unwrap();
};
/** The largest `limit` that a list takes. */
function largest(schema: z.ZodType, parameter: string): number {
  const takes = (most: number) => schema.safeParse({ [parameter]: String(most) }).success;
  let [least, most] = [1, 1_000_000];
  while (least < most) {
    const middle = Math.ceil((least + most) / 2);
    if (takes(middle)) least = middle;
    else most = middle - 1;
  }
  return least;
}
const usual = readEnv({});
/** The longest list of a repeated parameter. */
const valuesOfFilter = [99, 100, 101].findLast(
  (count) => runsQuery.safeParse({ agent: Array.from({ length: count }, (_, n) => `a${n}`) }).success,
);

const limits: Readonly<Record<string, readonly (number | undefined)[]>> = {
  'head of a request, address included': [maxHeaderSize],
  'time for the head': [HEAD_MS],
  'body: JSON, or a value (`PUT /api/v1/payloads/{sha256}`)': [usual.maxBodyBytes],
  'the same unpacked (gzip)': [usual.maxUnzippedBytes],
  'depth of JSON': [usual.maxJsonDepth],
  'body before sign-in (`/api/v1/session`)': [STRANGERS.bodyBytes],
  'its depth': [STRANGERS.jsonDepth],
  'silence while a body is sent': [BODY_IDLE_MS],
  'pace of a body, in every 30 s': [BODY_STRETCH_MS, (usual.pace.stretchBytes / BODY_STRETCH_MS) * 1_000],
  'file as it is sent': [usual.upload.bodyBytes],
  unpacked: [usual.upload.unzippedBytes],
  'unpacked to packed, once it is more than 8 MiB': [RATIO_FROM, usual.upload.ratio],
  'depth of JSON in a file': [usual.upload.jsonDepth],
  'large ones read at the same time': [UPLOADS_AT_ONCE],
  'small ones (1 MiB, unpacked 8 MiB) read at the same time': [
    SMALL.body,
    SMALL.unzipped,
    SMALL_UPLOADS_AT_ONCE,
  ],
  'bytes of all of them in memory': [usual.upload.roomBytes],
  'names in a LangGraph history': [LANGGRAPH_NAME],
  'names of OTLP spans, models, tools, agents': [OTLP_NAME],
  'tags made of a service or a session': [MAX_TAG],
  'tags made of services, and as many of sessions': [MOST_TAGS],
  'tag made of a LangGraph thread': [LANGGRAPH_NAME],
  'error texts of a LangGraph history': [MAX_MESSAGE],
  'error texts of OTLP spans': [MAX_TEXT],
  'ids of runs, workers, commands': lengths(wireRunId),
  'names of agents, states, tools, models, tags': lengths(name),
  'step keys': lengths(wireStepKey),
  'question ids': lengths(wireQuestionId),
  '`from` of a plan or order': lengths(planFrom),
  'an entry of `stopBefore`': lengths((inside(planOptions, 'stopBefore') as z.ZodArray<z.ZodType>).element),
  'JSON Pointer of a variable that is written': lengths(
    inside((inside(event('variables.patched'), 'patch') as z.ZodArray<z.ZodObject>).element, 'path'),
  ),
  'JSON Pointer of an edit': lengths(inside(edit, 'path')),
  'idempotency key': lengths(inside(event('step.started'), 'intent', 'idempotencyKey')),
  'tags of a run': lengths(inside(createRunBody, 'tags')),
  "an order's reason": lengths(given('pause', 'reason')),
  'a receipt': lengths(inside(decision, 'receipt')),
  'other texts in events (errors, stacks)': lengths(inside(event('step.failed'), 'error', 'message')),
  'edits of an order': lengths(inside(planBody, 'edits')),
  'events in one batch': lengths(inside(batch, 'events')),
  'payloads in one batch': lengths(inside(batch, 'payloads')),
  'runs in one `POST /api/v1/events`': lengths(inside(appendManyBody, 'batches')),
  'agents in one claim': lengths(inside(claimBody, 'agents')),
  'name of a person': [1, MAX_NAME],
  token: lengths(tokenText),
  'runs, or entries of the audit, on one page': [largest(runsQuery, 'limit')],
  'events or messages on one page': [largest(eventsQuery, 'limit')],
  'steps on one page': [largest(stepsQuery, 'limit')],
  buckets: [largest(bucketsQuery, 'n')],
  'values of one filter': [valuesOfFilter],
  'search text': lengths(inside(runsQuery, 'q')),
  cursor: lengths(inside(runsQuery, 'cursor')),
  'wait of a claim': [z.toJSONSchema(inside(claimBody, 'waitMs')).maximum],
  'a value that a diff looks into; a larger one is told as changed': [LARGEST_COMPARED_BYTES],
  "a value in a run's HTML file; a larger one is named there as left out": [copyLimits.payloadBytes],
  "all values in a run's HTML file": [copyLimits.totalBytes],
  lease: [usual.leaseMs],
  'shared link that names no end': [USUAL_MS],
  'shared link': [LONGEST_MS],
  session: [usual.access.sessionMs],
  'payload that no event refers to': [UNREFERENCED_LIVE_MS],
  'wrong tokens from one address': [PER_ADDRESS.most, PER_ADDRESS.refillMs],
  'wrong tokens from all addresses': [OVERALL.most, OVERALL.refillMs],
};

describe('docs/limits.md', () => {
  it('has a row for each limit of this list, and no other', () => {
    expect(rows.map(([what]) => what)).toEqual(expect.arrayContaining(Object.keys(limits)));
    expect(Object.keys(limits)).toEqual(expect.arrayContaining(rows.map(([what]) => what)));
  });

  it.each(rows)('says what the code has: %s, %s', (what = '', limit = '') => {
    const said = [...numbersIn(what), ...numbersIn(limit)];
    expect(said).toEqual(limits[what]);
  });
});

/** Variables that are ours by their names. */
const OURS = /\b(?:RERAIL(?:_[A-Z]+)+|(?:COPY|EXPORT|SDK)_(?:SEED|JOURNALS|AGENTS))\b/g;
const FOLDERS = ['app', 'components', 'docs', 'e2e', 'lib', 'prisma'];
const files = [
  ...FOLDERS.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((path) => `${folder}/${path}`),
  ),
  ...readdirSync(root),
].filter((path) => !/(?:^|\/)(?:node_modules|dist|client\/internal)\//.test(path));
const namesIn = (name: RegExp) =>
  new Set(files.filter((path) => name.test(path)).flatMap((path) => text(path).match(OURS) ?? []));

describe('variables of the environment', () => {
  it('that any program or test of ours reads are in a page or a README, and those that are there are read', () => {
    const read = namesIn(/\.(?:ts|tsx|mjs|py)$/);
    expect(read.size).toBeGreaterThan(40);
    expect([...namesIn(/\.md$/)].sort()).toEqual([...read].sort());
  });

  it('of the console are all in its README', () => {
    const readme = text('lib/server/README.md');
    const read = [...text('lib/server/env.ts').matchAll(/^ {2}([A-Z_]+):/gm)].map(([, name]) => name ?? '');
    expect(read.length).toBeGreaterThan(20);
    expect(read.filter((name) => !readme.includes(`\`${name}\``))).toEqual([]);
  });
});
