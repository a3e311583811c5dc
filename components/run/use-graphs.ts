'use client';

import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { GraphAt, RunSummary } from '@/lib/client/api-types';
import { graphQuery } from '@/lib/client/run-queries';
import { WHOLE_STEPS } from '@/lib/client/step-windows';
import { withLists } from './graph/to-graph';
import { type Failed, failedOf } from './unread';
import { usePaced } from './use-run';

/** How often the visits and checkpoints of a long run are read anew while it moves. */
const LISTS_MS = 2_000;
const NONE: readonly never[] = [];

interface Graphs {
  readonly atHead: GraphAt | undefined;
  /** Visits and checkpoints of the whole run, of which each moment takes its own. */
  readonly lists: GraphAt | undefined;
  readonly visits: readonly GraphAt['visits'][number][];
  /** Whether the visits are being read for the first time. */
  readonly visitsLoad: boolean;
  /** Why the visits could not be read, where nothing else of the page needs them. */
  readonly listsFailed: Failed | undefined;
  /** Why the graph of the head could not be read. */
  readonly headFailed: Failed | undefined;
}

/** Whose visits and checkpoints are read by themselves: the page of such a run has its bare graph. */
export const isReadBare = (run: Pick<RunSummary, 'headSeq' | 'line'>): boolean =>
  run.headSeq > WHOLE_STEPS && run.line === 0;

/**
 * The machine as it stands at the head. Visits and checkpoints grow with a run: of a long one they are read once the page
 * `stands`, after what does not.
 */
export function useGraphs(run: RunSummary, stands: boolean): Graphs {
  const isBare = isReadBare(run);
  const bare = useQuery({ ...graphQuery(run.id, run.headSeq, 'none'), enabled: isBare });
  const paced = usePaced(run.headSeq, LISTS_MS);
  const whole = useQuery({
    ...graphQuery(run.id, isBare ? paced : run.headSeq),
    enabled: !isBare || (stands && bare.data !== undefined),
  });
  // A live run that gets long has no other answer for a while than the one that it had.
  const head = isBare && (bare.data !== undefined || whole.data === undefined) ? bare : whole;
  const lists = whole.data;
  const atHead = useMemo(() => head.data && withLists(head.data, lists), [head.data, lists]);
  return {
    atHead,
    lists,
    visits: lists?.visits ?? NONE,
    visitsLoad: whole.isPending && !head.isError,
    listsFailed: isBare ? failedOf(whole) : undefined,
    headFailed: failedOf(head),
  };
}

/**
 * The machine as it stands at `settled`. After a rewind a moment may stand on a path that was left behind, whose lists no
 * other moment has: there each brings its own.
 */
export function useGraphAt(run: RunSummary, settled: number, lists: GraphAt | undefined) {
  const isBare = isReadBare(run);
  const cursor = useQuery(graphQuery(run.id, settled, isBare ? 'none' : 'all'));
  const atCursor = useMemo(
    () => cursor.data && (isBare ? withLists(cursor.data, lists) : cursor.data),
    [cursor.data, lists, isBare],
  );
  return { atCursor, failed: failedOf(cursor) };
}
