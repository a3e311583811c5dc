'use client';

import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { runKeys } from '@/lib/client/run-queries';
import { workersMark, workersQuery } from '@/lib/client/workers';

/** What can be done with a run, and what would be done, hangs on who is connected: read anew when that changes. */
export function WorkersWatch() {
  const client = useQueryClient();
  const mark = useQuery({ ...workersQuery, select: workersMark }).data;
  const seen = useRef(mark);
  useEffect(() => {
    if (mark === seen.current) return;
    const first = seen.current === undefined;
    seen.current = mark;
    // What stands at a seq does not change with the workers.
    if (!first)
      void client.invalidateQueries({
        queryKey: runKeys.all,
        predicate: ({ queryKey }) => queryKey.includes('live') || queryKey.includes('list'),
      });
  }, [client, mark]);
  return null;
}
