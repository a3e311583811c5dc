import type {
  Answer,
  MediaType,
  MethodName,
  OpenApiDocument,
  Operation,
  Parameter,
} from '@/lib/wire/openapi';
import { type ProblemKind, problemMembers } from '@/lib/wire/v1/problems';
import { type Described, rawBytes } from '../endpoint';
import type { RouteTable } from '../router';
import { type AnswerDoc, type HeaderDocs, tags } from './describe';
import { Components } from './schemas';

const PROBLEM = 'application/problem+json';
/** Of the API, as its paths have it: not the console's. */
const VERSION = '1';

/** The API as OpenAPI 3.1, of the very table that answers requests. */
export function documentOf(table: RouteTable): OpenApiDocument {
  const components = new Components();
  const paths: Record<string, { [M in MethodName]?: Operation }> = {};
  for (const [path, module] of table) {
    const item: { [M in MethodName]?: Operation } = {};
    for (const [method, handler] of Object.entries(module)) {
      if (!isMethod(method)) continue;
      item[method.toLowerCase() as MethodName] = operationOf(method, handler.described, components);
    }
    paths[path.replaceAll(/\[(?:\.{3})?([^\]]+)\]/g, '{$1}')] = item;
  }
  return {
    openapi: '3.1.1',
    info: { title: 'Rerail', version: VERSION, description: ABOUT },
    servers: [{ url: '/' }],
    security: [{}, { token: [] }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas: components.schemas,
      securitySchemes: {
        token: {
          type: 'http',
          scheme: 'bearer',
          description: 'A token of this console. People sign in with it instead, and get a cookie.',
        },
      },
    },
  };
}

const ABOUT = `Everything that the console’s pages do is done through this API.

- Answers are JSON. A list is \`{ items, total, nextCursor }\`. Times are ISO 8601 with zone.
- Refusals are problem details (RFC 9457): \`type\` says which, \`detail\` says it in a sentence.
- Query parameters and body members that an operation does not know are refused.
- Bodies may come gzipped (\`Content-Encoding: gzip\`).
- Where the console has tokens, a program sends one: \`Authorization: Bearer …\`. Without any it answers this machine only, and asks for nothing.
- HEAD is answered wherever GET is.`;

const isMethod = (name: string) => /^(?:GET|PUT|POST|DELETE|PATCH)$/.test(name);

function operationOf(method: string, described: Described, components: Components): Operation {
  const { doc, params, query, open, shared } = described;
  const parameters: readonly Parameter[] = [
    ...(params === undefined ? [] : components.parameters(params, 'path')),
    ...(query === undefined ? [] : components.parameters(query, 'query')),
    ...Object.entries(doc.headers ?? {}).map(
      ([name, description]) =>
        ({ name, in: 'header', required: false, description, schema: { type: 'string' } }) as const,
    ),
  ];
  const body = bodyOf(described, components);
  return {
    operationId: doc.id,
    tags: [doc.tag],
    summary: doc.summary,
    description: doc.description,
    ...(parameters.length > 0 && { parameters }),
    ...(body !== undefined && { requestBody: body }),
    responses: merged(
      Object.fromEntries(
        Object.entries(doc.answers).map(([status, answer]) => [status, answerOf(answer, components)]),
      ),
      refusalsOf(method, described, components),
    ),
    ...(open
      ? { security: [{}] }
      : { 'x-role': described.needs ?? (method === 'GET' ? 'viewer' : 'operator') }),
    ...(shared && { 'x-shared': true }),
  };
}

function bodyOf(
  { doc, body }: Described,
  components: Components,
): NonNullable<Operation['requestBody']> | undefined {
  const about = doc.body ?? {};
  const says = about.says === undefined ? {} : { description: about.says };
  const example = about.example === undefined ? {} : { example: about.example };
  if (about.types !== undefined) {
    const content = Object.fromEntries(about.types.map((type) => [type, example]));
    return { ...says, required: true, content };
  }
  if (body === undefined) return undefined;
  if (body === rawBytes) throw new Error(`Broken invariant: ${doc.id} does not say which bodies it takes`);
  const schema =
    about.anyOf === undefined
      ? components.of(body, 'input')
      : { anyOf: about.anyOf.map((one) => components.of(one, 'input')) };
  return { ...says, required: true, content: { 'application/json': { schema, ...example } } };
}

function answerOf(answer: AnswerDoc, components: Components): Answer {
  const headers = answer.headers === undefined ? {} : { headers: headersOf(answer.headers) };
  const content =
    'json' in answer
      ? { 'application/json': { schema: components.of(answer.json, 'output') } }
      : 'types' in answer
        ? Object.fromEntries(answer.types.map((type): [string, MediaType] => [type, {}]))
        : undefined;
  return { description: answer.says, ...headers, ...(content !== undefined && { content }) };
}

const headersOf = (headers: HeaderDocs) =>
  Object.fromEntries(
    Object.entries(headers).map(([name, description]) => [
      name,
      { description, schema: { type: 'string' } } as const,
    ]),
  );

const OF_BYTES = { 'body-too-large': 413, 'unsupported-encoding': 415, 'body-stalled': 408 } as const;
/** Of uploads, which wait for their turn and for room; nothing else does. */
const OF_UPLOADS = { 'body-too-slow': 408, 'no-room': 503 } as const;
const OF_JSON = { 'too-deep': 400, 'unsupported-media-type': 415 } as const;

/** What any route may refuse before its use-case is asked, and how it may break. */
function atTheEdge(method: string, { body, open }: Described): Readonly<Record<string, number>> {
  return {
    'invalid-request': 400,
    ...(body !== undefined && OF_BYTES),
    ...(body !== undefined && body !== rawBytes && OF_JSON),
    'foreign-address': 403,
    'foreign-host': 403,
    'cross-site': 403,
    ...(!open && { 'not-signed-in': 401, 'needs-role': 403, 'link-reads-one-run': 403 }),
    'bad-token': 401,
    'too-many-attempts': 429,
    internal: 500,
    ...(method !== 'GET' && { 'storage-full': 507 }),
  };
}

type Answers = Readonly<Record<string, Answer>>;

/** An operation may refuse in a form of its own beside the one of all others. */
function merged(own: Answers, refusals: Answers): Answers {
  const both = Object.entries(refusals).map(([status, refusal]): [string, Answer] => {
    const answer = own[status];
    if (answer === undefined) return [status, refusal];
    return [
      status,
      {
        ...answer,
        description: `${answer.description} Else: ${refusal.description}`,
        content: { ...answer.content, ...refusal.content },
      },
    ];
  });
  return { ...own, ...Object.fromEntries(both) };
}

/** Kinds that are told under another name, or to nobody. */
const TOLD_AS: Readonly<Record<string, ProblemKind | undefined>> = {
  'not-held': 'stale-epoch',
  'client-gone': undefined,
};

function refusalsOf(method: string, described: Described, components: Components): Answers {
  const byStatus = new Map<number, Set<ProblemKind>>();
  const all = { ...atTheEdge(method, described), ...described.refusals, ...described.doc.problems };
  const bodiless = described.body === undefined && described.doc.body === undefined;
  for (const [told, status] of Object.entries(all)) {
    // Status maps name every refusal of the edge, whether or not a body is read.
    if (bodiless && (told in OF_BYTES || told in OF_JSON || told in OF_UPLOADS)) continue;
    const kind = Object.hasOwn(TOLD_AS, told) ? TOLD_AS[told] : known(told, described.doc.id);
    if (kind !== undefined && !described.doc.never?.includes(kind))
      byStatus.set(status, (byStatus.get(status) ?? new Set()).add(kind));
  }
  return Object.fromEntries(
    [...byStatus].map(([status, kinds]) => {
      const schemas = [...kinds].map((kind) => components.problem(kind));
      const [only] = schemas;
      const schema = schemas.length === 1 && only !== undefined ? only : { oneOf: schemas };
      return [status, { description: [...kinds].join(', '), content: { [PROBLEM]: { schema } } }];
    }),
  );
}

function known(kind: string, operation: string): ProblemKind {
  if (!Object.hasOwn(problemMembers, kind))
    throw new Error(
      `Broken invariant: ${operation} refuses with ${kind}, which lib/wire/v1/problems.ts lacks`,
    );
  return kind as ProblemKind;
}
