'use client';

import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { stoppedRunsQuery } from '@/lib/client/frame-queries';
import { type Need, needsIn } from './needs';

export interface Needs {
  readonly needs: readonly Need[];
  /** There are more runs that stopped than were looked through. */
  readonly more: boolean;
  /** False until it was read. */
  readonly known: boolean;
}

/** What needs a person, most pressing first. */
export function useNeeds(): Needs {
  const { data } = useQuery(stoppedRunsQuery);
  return useMemo(
    () => ({
      needs: needsIn(data?.items ?? []),
      more: data?.more ?? false,
      known: data !== undefined,
    }),
    [data],
  );
}
