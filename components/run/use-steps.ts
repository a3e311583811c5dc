'use client';

import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useRef, useState } from 'react';
import type { RunSummary } from '@/lib/client/api-types';
import { fillAllSteps, fillSteps, openingKey, stepsQuery } from '@/lib/client/run-queries';
import { inSpans, type OpeningSteps } from '@/lib/client/step-windows';

/** Events on either side of the cursor whose steps are there before it comes to them. */
const NEAR = 80;

/** The steps that came with the page, where the cursor stands in them. */
function openingAt(client: QueryClient, run: RunSummary, at: number): OpeningSteps | undefined {
  const came = client.getQueryData<OpeningSteps>(openingKey(run));
  return came && inSpans(came.spans, at) ? came : undefined;
}

/**
 * The run's steps. Of a long run those at its ends, around `at`, and whatever `fill` was asked for. `opening` are those
 * that came with the page, shown until the others are there and `more`, what is drawn with them, has been read too.
 */
export function useSteps(run: RunSummary, at: number, headSeq: number, more: 'loads' | 'read') {
  const client = useQueryClient();
  const [opening, setOpening] = useState(() => openingAt(client, run, at));
  const query = useQuery(stepsQuery(run, opening));
  const spans = query.isPlaceholderData ? undefined : query.data?.spans;
  /** Whether what is missing around the cursor was asked for; it may not have come. */
  const [wasFilled, setFilled] = useState(false);
  const isThere = spans !== undefined && (wasFilled || inSpans(spans, at)) && more === 'read';
  if (opening !== undefined && isThere) setOpening(undefined);
  const shown = opening ?? query.data;
  const isRead = spans !== undefined;
  const filling = useRef(false);
  const [loadsAll, setLoadsAll] = useState(false);
  const { id, edition, epoch, line } = run;
  const fill = useCallback(
    (seq: number) => {
      // The stand-in of what is still being read has no window to be filled.
      if (filling.current || !isRead) return;
      filling.current = true;
      // What could not be read stays a gap, which says so and can be asked for again.
      void fillSteps(client, { id, edition, epoch, line }, seq)
        .catch(() => undefined)
        .finally(() => {
          filling.current = false;
          setFilled(true);
        });
    },
    [client, id, edition, epoch, line, isRead],
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
  return { query, shown, opening, fill, fillAll, loadsAll };
}
