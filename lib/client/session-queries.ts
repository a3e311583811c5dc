import { queryOptions } from '@tanstack/react-query';
import { fail, ok, type Result } from '@/lib/core/shared/result';
import type { SessionAnswer } from '@/lib/wire/v1/session';
import { type ApiProblem, apiUrl, getJson, orThrow, postJson, toProblem } from './api';
import { source } from './source';
import { whenIdle } from './when-idle';

export type Session = SessionAnswer;

/** Who is signed in; it changes by signing in and out alone, and by the hour at which a session ends. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: async ({ signal }) => orThrow(await whenIdle(() => getJson<Session>(apiUrl('/session'), signal))),
  staleTime: 60_000,
});

export const signIn = (body: { readonly name: string; readonly token: string }) =>
  postJson<Session>(apiUrl('/session'), body);

export async function signOut(): Promise<Result<undefined, ApiProblem>> {
  const response = await source().fetch(apiUrl('/session'), { method: 'DELETE' });
  return response.ok ? ok(undefined) : fail(toProblem(response.status, await response.text()));
}

/** The sign-in page, which leads back to where the browser is now. */
export const signInHref = ({ pathname, search }: Pick<Location, 'pathname' | 'search'>): string =>
  `/sign-in?next=${encodeURIComponent(pathname + search)}`;
