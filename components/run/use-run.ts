'use client';

import { type UseQueryResult, useQueries, useQuery, useQueryClient } from '@tanstack/react-query';
import { useQueryStates } from 'nuqs';
import { useCallback, useEffect, useMemo, useState, useSyncExternalStore } from 'react';
import { EventBuffer } from '@/lib/client/event-buffer';
import { type Liveness, listenToRun } from '@/lib/client/live';
import { eventsQuery, runKeys, runQuery } from '@/lib/client/run-queries';
import { runParams } from '@/lib/client/url-state';
import type { RunEvent } from '@/lib/core/events/run-event';

/** Events in one read. */
const CHUNK = 200;
/** Runs up to this many events are loaded whole: one bar for each fits the scrubber. */
export const WHOLE_RUN = 400;

const eventsOf = (results: readonly UseQueryResult<readonly RunEvent[]>[]): readonly RunEvent[] =>
  results.flatMap((result) => result.data ?? []);

export interface RunLive {
  readonly events: readonly RunEvent[];
  readonly eventAt: (seq: number) => RunEvent | undefined;
  readonly headSeq: number;
  readonly liveness: Liveness;
}

/**
 * The run's live log: what arrives by the stream and what was read around `seq`, in one buffer. Whatever moves also
 * makes the run's projections stale, at most once in 250 ms.
 */
export function useRunLive(runId: string, summaryHead: number, seq: number | null): RunLive {
  const client = useQueryClient();
  const [buffer] = useState(() => new EventBuffer());
  const [liveness, setLiveness] = useState<Liveness>('connecting');
  const { events, headSeq: bufferHead } = useSyncExternalStore(
    buffer.subscribe,
    buffer.snapshot,
    buffer.snapshot,
  );
  const headSeq = Math.max(summaryHead, bufferHead);
  /** The stream begins here; everything up to it is read in chunks. */
  const [since] = useState(summaryHead);

  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const readAnew = () => {
      timer ??= setTimeout(() => {
        timer = undefined;
        void client.invalidateQueries({ queryKey: runKeys.live(runId) });
      }, 250);
    };
    const end = listenToRun(runId, since, {
      onItem: (event) => {
        buffer.add([event]);
        readAnew();
      },
      onReset: readAnew,
      onLiveness: setLiveness,
    });
    return () => {
      clearTimeout(timer);
      end();
    };
  }, [client, runId, since, buffer]);

  const at = Math.min(seq ?? headSeq, since);
  const chunks = useMemo(() => {
    const whole = since <= WHOLE_RUN ? Array.from({ length: Math.ceil(since / CHUNK) }, (_, n) => n) : [];
    return [...new Set([...whole, Math.max(0, Math.floor((at - 1) / CHUNK))])];
  }, [since, at]);
  const loaded = useQueries({
    queries: chunks.map((chunk) => eventsQuery(runId, chunk * CHUNK, Math.min(since, (chunk + 1) * CHUNK))),
    combine: eventsOf,
  });
  // The buffer is outside React: what was read joins what the stream brought.
  useEffect(() => buffer.add(loaded), [buffer, loaded]);
  const eventAt = useCallback((wanted: number) => buffer.at(wanted), [buffer]);
  return { events, eventAt, headSeq, liveness };
}

/** A value once it has rested for `ms`: what the server is asked for while the cursor is dragged. */
export function useSettled<Value>(value: Value, ms: number): Value {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}

/** The one cursor, in the address; absent there, it follows the head. */
export function useCursor(headSeq: number) {
  const [{ seq }, setParams] = useQueryStates({ seq: runParams.seq }, { history: 'replace' });
  const at = seq === null ? headSeq : Math.max(1, Math.min(seq, Math.max(1, headSeq)));
  const move = useCallback(
    (to: number | null) => void setParams({ seq: to === null || to >= headSeq ? null : Math.max(1, to) }),
    [setParams, headSeq],
  );
  return { asked: seq, at, following: seq === null, move };
}

export const useRun = (runId: string) => useQuery(runQuery(runId));
