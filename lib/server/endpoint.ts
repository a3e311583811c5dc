import { z } from 'zod';
import { fail, ok, type Result } from '@/lib/core/shared/result';
import { noQuery } from '@/lib/wire/v1/queries';
import { deps, isStorageFull } from './container';
import type { Deps } from './deps';
import {
  type BodyLimits,
  type EdgeProblem,
  type Incoming,
  type Outgoing,
  parseJson,
  readBody,
  refuseUnlessJson,
} from './http';
import { presentProblem } from './present/problem';
import { problemAnswer } from './problems';

/** Stands for a body that is taken as it is, of any content type. */
export const rawBytes = z.custom<Uint8Array>((value) => value instanceof Uint8Array);

/** What a route is: how to read the request, which use-case to ask, and what each outcome means in HTTP. */
export interface EndpointSpec<Params, Query, Body, Value, Problem extends { readonly kind: string }> {
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
    },
  ) => Promise<Result<Value, Problem>>;
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
}

export function endpoint<Params, Query, Body, Value, Problem extends { readonly kind: string }>(
  spec: EndpointSpec<Params, Query, Body, Value, Problem>,
): RouteHandler {
  const direct = async (incoming: Incoming, given?: Deps): Promise<Outgoing> => {
    const ready = given ?? (await deps());
    try {
      return await ready.inFlight.add(answerTo(spec, ready, incoming));
    } catch (error) {
      ready.log.error({ err: error, method: incoming.method, params: incoming.params }, 'request failed');
      if (isStorageFull(error)) return problemAnswer({ kind: 'storage-full' }, 507);
      return problemAnswer({ kind: 'internal' }, 500);
    }
  };
  const handler = async (request: Request, context: RouteContext) =>
    toResponse(await direct(fromRequest(request, (await context.params) ?? {})));
  return Object.assign(handler, { direct });
}

async function answerTo<Params, Query, Body, Value, Problem extends { readonly kind: string }>(
  spec: EndpointSpec<Params, Query, Body, Value, Problem>,
  ready: Deps,
  incoming: Incoming,
): Promise<Outgoing> {
  const params =
    spec.params === undefined ? okOf(undefined as Params) : spec.params.safeParse(incoming.params);
  if (!params.success) return edgeAnswer(issuesOf(params.error, 'path'));
  const query = (spec.query ?? (noQuery as unknown as z.ZodType<Query>)).safeParse(queryOf(incoming.search));
  if (!query.success) return edgeAnswer(issuesOf(query.error, 'query'));
  const body = await bodyOf(spec, ready.limits, incoming);
  if (!body.success) return edgeAnswer(body.problem);
  const result = await spec.run(ready, {
    params: params.data,
    query: query.data,
    body: body.data,
    request: incoming,
  });
  if (!result.ok) {
    const kind = result.problem.kind as Problem['kind'];
    return problemAnswer(presentProblem(result.problem), spec.status[kind]);
  }
  if (spec.answer !== undefined) return spec.answer(result.value, incoming);
  const status = typeof spec.status.ok === 'function' ? spec.status.ok(result.value) : spec.status.ok;
  return jsonAnswer(spec.present === undefined ? result.value : spec.present(result.value), status);
}

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
  'client-gone': 400,
} as const satisfies Record<EdgeProblem['kind'], number>;

/** The answer to what was refused before a use-case was asked. */
export const edgeAnswer = (problem: EdgeProblem): Outgoing =>
  problemAnswer(problem, edgeStatus[problem.kind]);

/** A web request as endpoints see it. */
function fromRequest(request: Request, params: Readonly<Record<string, string | string[]>>): Incoming {
  const flat = Object.fromEntries(
    Object.entries(params).map(([name, value]) => [name, Array.isArray(value) ? value.join('/') : value]),
  );
  return {
    method: request.method,
    params: flat,
    search: new URL(request.url).search.slice(1),
    header: (name) => request.headers.get(name) ?? undefined,
    read: (limit, idleMs) => readStream(request, limit, idleMs),
    signal: request.signal,
  };
}

async function readStream(
  request: Request,
  limit: number,
  idleMs: number,
): Promise<Result<Uint8Array, EdgeProblem>> {
  const tooLarge = fail({ kind: 'body-too-large', limit: 'body', limitBytes: limit } as const);
  const declared = request.headers.get('content-length');
  if (Number(declared ?? 0) > limit) return tooLarge;
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = request.body?.getReader();
  let stalled = false;
  const idle = setTimeout(() => {
    stalled = true;
    void reader?.cancel();
  }, idleMs);
  try {
    for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) {
      idle.refresh();
      size += part.value.byteLength;
      if (size > limit) {
        await reader?.cancel();
        return tooLarge;
      }
      chunks.push(part.value);
    }
  } catch {
    return fail({ kind: 'client-gone' });
  } finally {
    clearTimeout(idle);
  }
  if (stalled) return fail({ kind: 'body-stalled', idleMs });
  // Who stands before us may give the beginning of a body for the whole, as Next does beyond its own limit.
  if (declared !== null && size < Number(declared)) return tooLarge;
  return ok(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks));
}

/** `Response` refuses a body with 204 and 304. */
export function toResponse(out: Outgoing): Response {
  const body = out.status === 204 || out.status === 304 ? null : (out.body ?? null);
  return new Response(body as BodyInit | null, { status: out.status, headers: out.headers });
}
