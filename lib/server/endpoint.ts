import { z } from 'zod';
import { fail, ok, type Result } from '@/lib/core/shared/result';
import { noQuery } from '@/lib/wire/v1/queries';
import { askedBy } from './asked-by';
import { type BodyPace, NO_ROOM, Place, watchPace } from './body-pace';
import { deps, isStorageFull } from './container';
import type { Deps } from './deps';
import { credentialsOf, type GateProblem, refusedAtGate } from './gate';
import {
  type BodyLimits,
  type EdgeProblem,
  type Incoming,
  type Outgoing,
  parseJson,
  readBody,
  refuseUnlessJson,
} from './http';
import type { EndpointDoc } from './openapi/describe';
import { toldToExporter } from './otlp-answer';
import { PEER_HEADER } from './peer-header';
import { presentProblem } from './present/problem';
import { includes, neededFor, type Principal, type Role } from './principal';
import { problemAnswer } from './problems';

/** Stands for a body that is taken as it is, of any content type. */
export const rawBytes = z.custom<Uint8Array>((value) => value instanceof Uint8Array);

/** What a route is: how to read the request, which use-case to ask, and what each outcome means in HTTP. */
export interface EndpointSpec<Params, Query, Body, Value, Problem extends { readonly kind: string }> {
  /** What the document of the API says of it beside the schemas. */
  readonly doc: EndpointDoc;
  readonly params?: z.ZodType<Params>;
  /** Absent: the route takes no parameters, and refuses any. */
  readonly query?: z.ZodType<Query>;
  /** A schema for JSON, or `rawBytes` for the unpacked body as it is; absent: no body is read. */
  readonly body?: z.ZodType<Body>;
  readonly run: (
    deps: Deps,
    input: {
      readonly params: Params;
      readonly query: Query;
      readonly body: Body;
      readonly request: Incoming;
      readonly principal: Principal;
    },
  ) => Promise<Result<Value, Problem>>;
  /** The least role; absent: viewer for GET, operator for everything else. */
  readonly needs?: Role;
  /** The run that a shared link must be of (`runId` is that of the link); absent, or undefined for this request: no link opens it. GET only. */
  readonly shared?: (params: Params, query: Query, runId: string) => string | undefined;
  /** Total map: a new problem kind will not compile until it has an HTTP status. */
  readonly status: { readonly ok: number | ((value: Value) => number) } & {
    readonly [Kind in Problem['kind']]: number;
  };
  /** The value as `wire` has it; absent: as it is. */
  readonly present?: (value: Value) => unknown;
  /** A whole answer where it is not JSON. */
  readonly answer?: (value: Value, request: Incoming) => Outgoing;
}

/** What Next gives beside the request. A route without free segments gets no params at all, whatever its type says. */
interface RouteContext {
  readonly params: Promise<Readonly<Record<string, string | string[]>>>;
}

/** A Next route handler; `direct` answers the same without web `Request` and `Response` objects. */
export interface RouteHandler {
  (request: Request, context: RouteContext): Promise<Response>;
  readonly direct: (incoming: Incoming, given?: Deps) => Promise<Outgoing>;
  readonly described: Described;
}

/** What the document of the API takes from a route. */
export interface Described {
  readonly params: z.ZodType | undefined;
  readonly query: z.ZodType | undefined;
  readonly body: z.ZodType | undefined;
  /** HTTP status of each refusal, by kind. */
  readonly refusals: Readonly<Record<string, number>>;
  readonly needs: Role | undefined;
  readonly shared: boolean;
  /** Answers whoever is not signed in, too. */
  readonly open: boolean;
  readonly doc: EndpointDoc;
}

/** A route that answers whoever has passed the gate, and may do this. */
export const endpoint = <Params, Query, Body, Value, Problem extends { readonly kind: string }>(
  spec: EndpointSpec<Params, Query, Body, Value, Problem>,
): RouteHandler => handlerOf(spec, admit);

/** What a route without sign-in is: it learns from `request.principal` whether anybody is signed in. */
export type OpenSpec<Params, Query, Body, Value, Problem extends { readonly kind: string }> = Omit<
  EndpointSpec<Params, Query, Body, Value, Problem>,
  'run' | 'needs' | 'shared'
> & {
  readonly run: (
    deps: Deps,
    input: {
      readonly params: Params;
      readonly query: Query;
      readonly body: Body;
      readonly request: Incoming;
    },
  ) => Promise<Result<Value, Problem>>;
};

/** A route that answers anybody whom the guards let through: signing in, that is. */
export const openEndpoint = <Params, Query, Body, Value, Problem extends { readonly kind: string }>(
  spec: OpenSpec<Params, Query, Body, Value, Problem>,
): RouteHandler => handlerOf(spec, 'anybody');

type Admit = typeof admit | 'anybody';

function handlerOf<Params, Query, Body, Value, Problem extends { readonly kind: string }>(
  spec: EndpointSpec<Params, Query, Body, Value, Problem>,
  admitted: Admit,
): RouteHandler {
  const direct = async (incoming: Incoming, given?: Deps): Promise<Outgoing> => {
    const ready = given ?? (await deps());
    try {
      return await ready.inFlight.add(answerTo(spec, ready, incoming, admitted));
    } catch (error) {
      ready.log.error(
        { err: error, method: incoming.method, params: tellable(incoming.params) },
        'request failed',
      );
      if (isStorageFull(error)) return problemAnswer({ kind: 'storage-full' }, 507);
      return problemAnswer({ kind: 'internal' }, 500);
    }
  };
  const handler = async (request: Request, context: RouteContext) => {
    const { gate } = await deps();
    const entered = gate.enter(credentialsOf((name) => request.headers.get(name) ?? undefined));
    const answer = entered.ok
      ? await direct(fromRequest(request, (await context.params) ?? {}, entered.value))
      : refusedAtGate(entered.problem);
    const { pathname: path } = new URL(request.url);
    return toResponse(
      toldToExporter(answer, { path, contentType: request.headers.get('content-type') ?? undefined }),
    );
  };
  return Object.assign(handler, { direct, described: describedBy(spec, admitted === 'anybody') });
}

/** Parameters for the log: a link's secret opens a run. */
const tellable = ({ secret, ...params }: Incoming['params']) =>
  secret === undefined ? params : { ...params, secret: '…' };

function describedBy<Params, Query, Body, Value, Problem extends { readonly kind: string }>(
  spec: EndpointSpec<Params, Query, Body, Value, Problem>,
  open: boolean,
): Described {
  const { ok: _ok, ...refusals } = spec.status as Record<string, number>;
  const { params, query, body, needs, shared, doc } = spec;
  return { params, query, body, refusals, needs, shared: shared !== undefined, open, doc };
}

/** Whether the caller may ask for this, and as whom. */
function admit<Params, Query, Body, Value, Problem extends { readonly kind: string }>(
  { needs, shared }: Pick<EndpointSpec<Params, Query, Body, Value, Problem>, 'needs' | 'shared'>,
  { principal, method }: Incoming,
  params: Params,
  query: Query,
): Result<Principal, GateProblem> {
  if (principal === undefined) return fail({ kind: 'not-signed-in' });
  if (principal.kind === 'share') {
    const open =
      neededFor(method) === 'viewer' && shared?.(params, query, principal.runId) === principal.runId;
    return open ? ok(principal) : fail({ kind: 'link-reads-one-run' });
  }
  const needed = needs ?? neededFor(method);
  return includes(principal.role, needed)
    ? ok(principal)
    : fail({ kind: 'needs-role', needed, role: principal.role });
}

async function answerTo<Params, Query, Body, Value, Problem extends { readonly kind: string }>(
  spec: EndpointSpec<Params, Query, Body, Value, Problem>,
  ready: Deps,
  incoming: Incoming,
  admitted: Admit,
): Promise<Outgoing> {
  if (incoming.principal === undefined && admitted !== 'anybody')
    return refusedAtGate({ kind: 'not-signed-in' });
  const params =
    spec.params === undefined ? okOf(undefined as Params) : spec.params.safeParse(incoming.params);
  if (!params.success) return edgeAnswer(issuesOf(params.error, 'path'));
  const query = (spec.query ?? (noQuery as unknown as z.ZodType<Query>)).safeParse(queryOf(incoming.search));
  if (!query.success) return edgeAnswer(issuesOf(query.error, 'query'));
  const may = admitted === 'anybody' ? undefined : admitted(spec, incoming, params.data, query.data);
  if (may?.ok === false) return refusedAtGate(may.problem);
  const limits = admitted === 'anybody' ? strangers(ready.limits) : ready.limits;
  const body = await bodyOf(spec, limits, incoming);
  if (!body.success) return edgeAnswer(body.problem);
  const result = await spec.run(askedBy(ready, incoming.principal), {
    params: params.data,
    query: query.data,
    body: body.data,
    request: incoming,
    // An open endpoint's `run` takes none, see `OpenSpec`.
    principal: may?.value as Principal,
  });
  if (!result.ok) {
    const kind = result.problem.kind as Problem['kind'];
    return problemAnswer(presentProblem(result.problem), spec.status[kind]);
  }
  if (spec.answer !== undefined) return spec.answer(result.value, incoming);
  const status = typeof spec.status.ok === 'function' ? spec.status.ok(result.value) : spec.status.ok;
  return jsonAnswer(spec.present === undefined ? result.value : spec.present(result.value), status);
}

/** What whoever has shown nothing yet may send. */
export const STRANGERS = { bodyBytes: 16_384, unzippedBytes: 16_384, jsonDepth: 8 } as const;
const strangers = (limits: BodyLimits): BodyLimits => ({
  ...limits,
  bodyBytes: Math.min(limits.bodyBytes, STRANGERS.bodyBytes),
  unzippedBytes: Math.min(limits.unzippedBytes, STRANGERS.unzippedBytes),
  jsonDepth: Math.min(limits.jsonDepth, STRANGERS.jsonDepth),
});

export const jsonAnswer = (value: unknown, status: number): Outgoing => ({
  status,
  headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' },
  body: JSON.stringify(value),
});

const okOf = <Value>(data: Value) => ({ success: true, data }) as const;

async function bodyOf<Params, Query, Body, Value, Problem extends { readonly kind: string }>(
  spec: EndpointSpec<Params, Query, Body, Value, Problem>,
  limits: BodyLimits,
  incoming: Incoming,
): Promise<
  { readonly success: true; readonly data: Body } | { readonly success: false; readonly problem: EdgeProblem }
> {
  if (spec.body === undefined) return okOf(undefined as Body);
  const raw = (spec.body as unknown) === rawBytes;
  if (!raw) {
    const refused = refuseUnlessJson(incoming.header('content-type'));
    if (refused !== undefined) return { success: false, problem: refused };
  }
  const bytes = await readBody(incoming, limits);
  if (!bytes.ok) return { success: false, problem: bytes.problem };
  if (raw) return okOf(bytes.value as Body);
  const json = parseJson(bytes.value, limits.jsonDepth);
  if (!json.ok) return { success: false, problem: json.problem };
  const parsed = spec.body.safeParse(json.value);
  return parsed.success ? parsed : { success: false, problem: issuesOf(parsed.error, '') };
}

/** A repeated name becomes a list, which schemas of single values refuse. */
function queryOf(search: string): Record<string, string | string[]> {
  const query: Record<string, string | string[]> = Object.create(null);
  if (search === '') return query;
  for (const [name, value] of new URLSearchParams(search)) {
    const before = query[name];
    query[name] = before === undefined ? value : [before, value].flat();
  }
  return query;
}

const MOST_ISSUES = 50;

function issuesOf(error: z.ZodError, where: string): EdgeProblem {
  const errors = error.issues.slice(0, MOST_ISSUES).map((issue) => {
    const path = issue.path.map(String).join('.');
    return { path: [where, path].filter((part) => part !== '').join('.'), message: issue.message };
  });
  return { kind: 'invalid-request', errors };
}

export const edgeStatus = {
  'invalid-request': 400,
  'body-too-large': 413,
  'too-deep': 400,
  'unsupported-media-type': 415,
  'unsupported-encoding': 415,
  'body-stalled': 408,
  'body-too-slow': 408,
  'no-room': 503,
  'client-gone': 400,
} as const satisfies Record<EdgeProblem['kind'], number>;

/** The answer to what was refused before a use-case was asked. */
export const edgeAnswer = (problem: EdgeProblem): Outgoing =>
  problemAnswer(problem, edgeStatus[problem.kind]);

/** A web request as endpoints see it. */
export function fromRequest(
  request: Request,
  params: Readonly<Record<string, string | string[]>>,
  principal: Principal | undefined,
): Incoming {
  const flat = Object.fromEntries(
    Object.entries(params).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.map(encodeURIComponent).join('/') : value,
    ]),
  );
  return {
    method: request.method,
    params: flat,
    search: new URL(request.url).search.slice(1),
    header: (name) => request.headers.get(name) ?? undefined,
    read: (limit, pace, place) => readStream(request, limit, pace, place),
    signal: request.signal,
    peer: request.headers.get(PEER_HEADER) ?? undefined,
    principal,
  };
}

async function readStream(
  request: Request,
  limit: number,
  pace: BodyPace,
  place = new Place(undefined),
): Promise<Result<Uint8Array, EdgeProblem>> {
  const tooLarge = fail({ kind: 'body-too-large', limit: 'body', limitBytes: limit } as const);
  const declared = request.headers.get('content-length');
  if (Number(declared ?? 0) > limit) return tooLarge;
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = request.body?.getReader();
  let late: EdgeProblem | undefined;
  const watch = watchPace(pace, (problem) => {
    late ??= problem;
    void reader?.cancel();
  });
  try {
    for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) {
      watch.took(part.value.byteLength);
      size += part.value.byteLength;
      if (size > limit || !place.take(part.value.byteLength)) {
        await reader?.cancel();
        return size > limit ? tooLarge : fail(NO_ROOM);
      }
      chunks.push(part.value);
    }
  } catch {
    return fail({ kind: 'client-gone' });
  } finally {
    watch.end();
  }
  if (late !== undefined) return fail(late);
  // Who stands before us may give the beginning of a body for the whole, as Next does beyond its own limit.
  if (declared !== null && size < Number(declared)) return tooLarge;
  return ok(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks));
}

/** `Response` refuses a body with 204 and 304. */
export function toResponse(out: Outgoing): Response {
  const body = out.status === 204 || out.status === 304 ? null : (out.body ?? null);
  return new Response(body as BodyInit | null, { status: out.status, headers: out.headers });
}
