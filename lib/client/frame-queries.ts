import { queryOptions } from '@tanstack/react-query';
import { apiUrl, getJson, orThrow } from './api';
import type { Page, RunSummary } from './api-types';
import { fillAllSteps, runKeys } from './run-queries';
import { whenIdle } from './when-idle';

/* What the frame of every page asks for. It lies under the lists, so that it is read anew when runs move. */

/** How often the frame looks by itself, while the page is looked at. */
const LOOK_MS = 30_000;

/** How many runs there are. */
export const runsTotalQuery = queryOptions({
  queryKey: [...runKeys.counts(), 'all'],
  queryFn: async ({ signal }) =>
    orThrow(await whenIdle(() => getJson<Page<RunSummary>>(apiUrl('/runs', { limit: 0 }), signal))).total,
  refetchInterval: LOOK_MS,
  retry: false,
});

/** Of the runs that need a person, so many are looked through: those that moved last. */
export const LOOKED_THROUGH = 100;

/** Runs that need a person, newest first; `total` counts them all, as the list by that filter does. */
export const needPersonQuery = queryOptions({
  queryKey: [...runKeys.lists(), 'need a person'],
  queryFn: async ({ signal }) =>
    orThrow(
      await whenIdle(() =>
        getJson<Page<RunSummary>>(
          apiUrl('/runs', { attention: 'true', sort: 'updated', order: 'desc', limit: LOOKED_THROUGH }),
          signal,
        ),
      ),
    ),
  refetchInterval: LOOK_MS,
  retry: false,
});

/** How many runs a search brings. */
export const FOUND = 8;

/** Runs for a search, newest first; the newest of all where nothing is looked for. */
export const foundRunsQuery = (q: string) =>
  queryOptions({
    queryKey: [...runKeys.lists(), 'found', q],
    queryFn: async ({ signal }) =>
      orThrow(await getJson<Page<RunSummary>>(apiUrl('/runs', { q, limit: FOUND }), signal)),
    staleTime: 5_000,
    gcTime: 30_000,
    retry: false,
  });

/** Has every step of a long run read, of which its page holds windows. */
export const everyStepQuery = (run: Parameters<typeof fillAllSteps>[1]) =>
  queryOptions({
    queryKey: [...runKeys.run(run.id), 'every step', run.edition, run.epoch, run.line],
    queryFn: async ({ client }) => {
      await fillAllSteps(client, run);
      return true;
    },
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    retry: false,
  });
