'use client';

import { useQuery, useQueryClient } from '@tanstack/react-query';
import { problemOf } from '@/lib/client/api';
import type { Liveness } from '@/lib/client/live';
import { againQuery } from '@/lib/client/run-queries';
import { AGAIN_MS, type Stale } from './not-live';

/** While no changes of a run are heard of, reads it anew every few seconds. Undefined while they are. */
export function useStale(runId: string, liveness: Liveness): Stale | undefined {
  const since = liveness.kind === 'lost' ? liveness.since : 0;
  const again = useQuery({
    ...againQuery(useQueryClient(), runId, since),
    enabled: liveness.kind === 'lost',
    refetchInterval: AGAIN_MS,
  });
  if (liveness.kind !== 'lost') return undefined;
  const { dataUpdatedAt, errorUpdatedAt } = again;
  return {
    since,
    problem: again.isError ? problemOf(again.error) : undefined,
    shownAt: Math.max(since, dataUpdatedAt),
    nextAt: Math.max(since, dataUpdatedAt, errorUpdatedAt) + AGAIN_MS,
    onTry: () => void again.refetch(),
    trying: again.isFetching,
  };
}
