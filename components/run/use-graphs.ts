'use client';

import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { problemOf } from '@/lib/client/api';
import type { GraphAt, RunSummary } from '@/lib/client/api-types';
import { graphQuery } from '@/lib/client/run-queries';
import { WHOLE_STEPS } from '@/lib/client/step-windows';
import { withLists } from './graph/to-graph';
import { usePaced } from './use-run';

/** How often the visits and checkpoints of a long run are read anew while it moves. */
const LISTS_MS = 2_000;
const NONE: readonly never[] = [];

interface Graphs {
  readonly atHead: GraphAt | undefined;
  readonly atCursor: GraphAt | undefined;
  readonly visits: readonly GraphAt['visits'][number][];
  /** Whether the visits are being read for the first time. */
  readonly visitsLoad: boolean;
  /** The read that brings the visits, where nothing else of the page needs it. */
  readonly lists: Pick<UseQueryResult<GraphAt>, 'isError' | 'error' | 'refetch'> | undefined;
  readonly errors: { readonly atHead: string | undefined; readonly atCursor: string | undefined };
}

const errorOf = ({ isError, error }: { readonly isError: boolean; readonly error: Error | null }) =>
  isError && error !== null ? problemOf(error).detail : undefined;

/**
 * The machine as it stands at the head and at `settled`. Visits and checkpoints grow with a run: of a long one they are
 * read once the page `stands`, after what does not, and each moment takes its own of them. After a rewind a moment may
 * stand on a path that was left behind, whose lists no other moment has: there each brings its own.
 */
export function useGraphs(run: RunSummary, settled: number, stands: boolean): Graphs {
  const isBare = run.headSeq > WHOLE_STEPS && run.line === 0;
  const bare = useQuery({ ...graphQuery(run.id, run.headSeq, 'none'), enabled: isBare });
  const cursor = useQuery(graphQuery(run.id, settled, isBare ? 'none' : 'all'));
  const paced = usePaced(run.headSeq, LISTS_MS);
  const whole = useQuery({
    ...graphQuery(run.id, isBare ? paced : run.headSeq),
    enabled: !isBare || (stands && bare.data !== undefined),
  });
  // A live run that gets long has no other answer for a while than the one that it had.
  const head = isBare && (bare.data !== undefined || whole.data === undefined) ? bare : whole;
  const lists = whole.data;
  const atHead = useMemo(() => head.data && withLists(head.data, lists), [head.data, lists]);
  const atCursor = useMemo(
    () => cursor.data && (isBare ? withLists(cursor.data, lists) : cursor.data),
    [cursor.data, lists, isBare],
  );
  const errors = { atHead: errorOf(head), atCursor: errorOf(cursor) };
  return {
    atHead,
    atCursor,
    visits: lists?.visits ?? NONE,
    visitsLoad: whole.isPending && !head.isError,
    lists: isBare ? whole : undefined,
    errors,
  };
}
