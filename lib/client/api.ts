import { fail, ok, type Result } from '@/lib/core/shared/result';
import { source } from './source';

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

export const unreachable = (detail: string): ApiProblem => ({
  kind: 'unreachable',
  title: 'The console does not answer',
  status: 0,
  detail,
  errors: [],
  members: {},
});

const text = (value: unknown, otherwise: string) =>
  typeof value === 'string' && value !== '' ? value : otherwise;

/**
 * Whether the refusal is the console's own, so that what was asked for was surely not done. No answer, one that a
 * proxy gave in its place, and an error half-way leave that open.
 */
export const isDefinite = ({ status }: Pick<ApiProblem, 'status'>): boolean =>
  status >= 400 && status < 500 && status !== 408;

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

/** `/api/v1` + path + query; absent members are left out, a list repeats its name. */
export function apiUrl(path: string, query: Query = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const one of typeof value === 'object' ? value : [value]) {
      if (one !== undefined && one !== '') search.append(name, String(one));
    }
  }
  const tail = search.toString();
  return `/api/v1${path}${tail === '' ? '' : `?${tail}`}`;
}

/** After so long without an answer none is expected. */
const NO_ANSWER_MS = 30_000;

/** The answer's body as `read` gives it. A body that breaks off or is not what it says counts as no answer. */
async function ask<Value>(
  url: string,
  init: RequestInit,
  signal: AbortSignal | undefined,
  read: (response: Response) => Promise<Value>,
): Promise<Result<Value, ApiProblem>> {
  const tooLong = AbortSignal.timeout(NO_ANSWER_MS);
  try {
    const response = await source().fetch(url, {
      ...init,
      signal: signal === undefined ? tooLong : AbortSignal.any([signal, tooLong]),
    });
    return response.ok ? ok(await read(response)) : fail(toProblem(response.status, await response.text()));
  } catch (error) {
    // Whoever took the question back wants no answer.
    if (signal?.aborted === true) throw error;
    return fail(
      unreachable(
        tooLong.aborted
          ? `There was no answer within ${NO_ANSWER_MS / 1_000} seconds.`
          : `No answer came (${(error instanceof Error ? error.message : String(error)).replace(/\.$/, '')}).`,
      ),
    );
  }
}

const json = { accept: 'application/json' };

export const getJson = <Value>(url: string, signal?: AbortSignal): Promise<Result<Value, ApiProblem>> =>
  ask(url, { headers: json }, signal, async (response) => (await response.json()) as Value);

export const postJson = <Value>(
  url: string,
  body: unknown,
  signal?: AbortSignal,
): Promise<Result<Value, ApiProblem>> =>
  ask(
    url,
    { method: 'POST', headers: { ...json, 'content-type': 'application/json' }, body: JSON.stringify(body) },
    signal,
    async (response) => (await response.json()) as Value,
  );

/** A payload as text, whole. Bytes that are not UTF-8 come out as replacement characters. */
export const getText = (url: string, signal?: AbortSignal): Promise<Result<string, ApiProblem>> =>
  ask(url, {}, signal, (response) => response.text());

/** The value, or a `ProblemError` for React Query. */
export function orThrow<Value>(answer: Result<Value, ApiProblem>): Value {
  if (!answer.ok) throw new ProblemError(answer.problem);
  return answer.value;
}

/** `/runs/{id}` with the id escaped. */
export const runPath = (runId: string, rest = ''): string => `/runs/${encodeURIComponent(runId)}${rest}`;
