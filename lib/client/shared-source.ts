import { queryOptions } from '@tanstack/react-query';
import type { SharedAnswer } from '@/lib/wire/v1/shares';
import { apiUrl, getJson, orThrow } from './api';
import type { Source } from './source';

/** How often an open page asks whether its link still stands. */
const LOOK_MS = 5_000;

const API = apiUrl('');

/** Everything through a link: `/api/v1/x` is read at `/api/v1/shared/{secret}/x`. */
export function sharedSource(secret: string): Source {
  const through = (url: string) =>
    url.startsWith(API) ? `${API}/shared/${encodeURIComponent(secret)}${url.slice(API.length)}` : url;
  return {
    fetch: (url, init) => fetch(through(url), init),
    listen: (url) => new EventSource(through(url)),
    single: true,
  };
}

/** What the link opens, asked again and again: it may be revoked. */
export const sharedQuery = queryOptions({
  queryKey: ['shared'],
  queryFn: async ({ signal }) => orThrow(await getJson<SharedAnswer>(API, signal)),
  refetchInterval: LOOK_MS,
});
