'use client';

import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { needPersonQuery } from '@/lib/client/frame-queries';
import { byNeed, type Need } from './needs';

export interface Needs {
  /** The most pressing one first; of many, those that moved last. */
  readonly needs: readonly Need[];
  /** How many need a person: as many as the list by that filter. */
  readonly total: number;
  /** False until it was read. */
  readonly known: boolean;
}

/** Which runs need a person. */
export function useNeeds(): Needs {
  const { data } = useQuery(needPersonQuery);
  return useMemo(
    () => ({ needs: byNeed(data?.items ?? []), total: data?.total ?? 0, known: data !== undefined }),
    [data],
  );
}
