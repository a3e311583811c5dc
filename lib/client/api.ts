import { fail, ok, type Result } from '@/lib/core/shared/result';

/** A refusal as the API words it (problem+json). `kind` is the last part of `type`; `members` holds the rest. */
export interface ApiProblem {
  readonly kind: string;
  readonly title: string;
  /** HTTP status; 0 where no answer came. */
  readonly status: number;
  readonly detail: string;
  readonly errors: readonly { readonly path: string; readonly message: string }[];
  readonly members: Readonly<Record<string, unknown>>;
}

/** Carries a problem through React Query, whose failures are thrown. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError';
  constructor(readonly problem: ApiProblem) {
    super(problem.detail);
  }
}

export const problemOf = (error: unknown): ApiProblem =>
  error instanceof ProblemError
    ? error.problem
    : unreachable(error instanceof Error ? error.message : String(error));

const unreachable = (detail: string): ApiProblem => ({
  kind: 'unreachable',
  title: 'The console does not answer',
  status: 0,
  detail,
  errors: [],
  members: {},
});

const text = (value: unknown, otherwise: string) =>
  typeof value === 'string' && value !== '' ? value : otherwise;

/** Reads a refusal; an answer that is not problem+json keeps its text as the detail. */
export function toProblem(status: number, body: string): ApiProblem {
  let members: Record<string, unknown> = {};
  try {
    const parsed: unknown = JSON.parse(body);
    if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) members = { ...parsed };
  } catch {
    // Not JSON: a proxy or a crashed handler. Its text is all there is to show.
  }
  const title = text(members['title'], `HTTP ${status}`);
  return {
    kind: text(members['type'], 'about:blank').split(':').at(-1) ?? 'unknown',
    title,
    status,
    detail: text(members['detail'], body.slice(0, 500) || title),
    errors: Array.isArray(members['errors']) ? (members['errors'] as ApiProblem['errors']) : [],
    members,
  };
}

type Query = Readonly<Record<string, string | number | readonly string[] | undefined>>;

/** `/api/v1` + path + query; absent members are left out, lists are joined with commas. */
export function apiUrl(path: string, query: Query = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === '') continue;
    const one = typeof value === 'object' ? value.join(',') : String(value);
    if (one !== '') search.set(name, one);
  }
  const tail = search.toString();
  return `/api/v1${path}${tail === '' ? '' : `?${tail}`}`;
}

async function send(url: string, init: RequestInit): Promise<Result<Response, ApiProblem>> {
  let response: Response;
  try {
    response = await fetch(url, init);
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    return fail(unreachable(error instanceof Error ? error.message : String(error)));
  }
  return response.ok ? ok(response) : fail(toProblem(response.status, await response.text()));
}

export async function getJson<Value>(url: string, signal?: AbortSignal): Promise<Result<Value, ApiProblem>> {
  const answer = await send(url, { headers: { accept: 'application/json' }, ...(signal ? { signal } : {}) });
  return answer.ok ? ok((await answer.value.json()) as Value) : answer;
}

export async function postJson<Value>(
  url: string,
  body: unknown,
  signal?: AbortSignal,
): Promise<Result<Value, ApiProblem>> {
  const answer = await send(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify(body),
    ...(signal ? { signal } : {}),
  });
  return answer.ok ? ok((await answer.value.json()) as Value) : answer;
}

/** A payload as text, whole. Bytes that are not UTF-8 come out as replacement characters. */
export async function getText(url: string, signal?: AbortSignal): Promise<Result<string, ApiProblem>> {
  const answer = await send(url, signal ? { signal } : {});
  return answer.ok ? ok(await answer.value.text()) : answer;
}

/** The value, or a `ProblemError` for React Query. */
export function orThrow<Value>(answer: Result<Value, ApiProblem>): Value {
  if (!answer.ok) throw new ProblemError(answer.problem);
  return answer.value;
}

/** `/runs/{id}` with the id escaped. */
export const runPath = (runId: string, rest = ''): string => `/runs/${encodeURIComponent(runId)}${rest}`;
