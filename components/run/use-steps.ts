'use client';

import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useRef, useState } from 'react';
import type { RunSummary } from '@/lib/client/api-types';
import { fillAllSteps, fillSteps, stepsQuery } from '@/lib/client/run-queries';
import { inSpans } from '@/lib/client/step-windows';

/** Events on either side of the cursor whose steps are there before it comes to them. */
const NEAR = 80;

/** The run's steps. Of a long run those at its ends, around `at`, and whatever `fill` was asked for. */
export function useSteps(run: RunSummary, at: number, headSeq: number) {
  const client = useQueryClient();
  const query = useQuery(stepsQuery(run));
  const spans = query.data?.spans;
  const filling = useRef(false);
  const [loadsAll, setLoadsAll] = useState(false);
  const { id, edition, epoch, line } = run;
  const fill = useCallback(
    (seq: number) => {
      if (filling.current) return;
      filling.current = true;
      // What could not be read stays a gap, which says so and can be asked for again.
      void fillSteps(client, { id, edition, epoch, line }, seq)
        .catch(() => undefined)
        .finally(() => {
          filling.current = false;
        });
    },
    [client, id, edition, epoch, line],
  );
  const fillAll = useCallback(() => {
    setLoadsAll(true);
    void fillAllSteps(client, { id, edition, epoch, line })
      .catch(() => undefined)
      .finally(() => setLoadsAll(false));
  }, [client, id, edition, epoch, line]);
  useEffect(() => {
    if (spans === undefined || spans.length < 2) return;
    const near = [at, Math.min(headSeq, at + NEAR), Math.max(1, at - NEAR)];
    const missing = near.find((seq) => !inSpans(spans, seq));
    if (missing !== undefined) fill(missing);
  }, [spans, at, headSeq, fill]);
  return { query, fill, fillAll, loadsAll };
}
