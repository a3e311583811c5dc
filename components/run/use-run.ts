'use client';

import { useQuery, useQueryClient } from '@tanstack/react-query';
import { debounce, useQueryStates } from 'nuqs';
import { useCallback, useEffect, useState, useSyncExternalStore } from 'react';
import { EventBuffer } from '@/lib/client/event-buffer';
import { inRounds, type Liveness, listenToRun } from '@/lib/client/live';
import { eventsQuery, runKeys, runQuery } from '@/lib/client/run-queries';
import { runParams } from '@/lib/client/url-state';
import type { RunEvent } from '@/lib/core/events/run-event';

/** Events in one read. */
const CHUNK = 200;
/** Runs up to this many events are loaded whole: one bar for each fits the scrubber. */
export const WHOLE_RUN = 400;

export interface RunLive {
  readonly events: readonly RunEvent[];
  readonly eventAt: (seq: number) => RunEvent | undefined;
  readonly headSeq: number;
  readonly liveness: Liveness;
}

/**
 * The run's live log: what arrives by the stream and what was read around `seq`, in one buffer. Whatever moves also
 * makes the run's projections stale, in rounds.
 */
export function useRunLive(runId: string, summaryHead: number, seq: number | null): RunLive {
  const client = useQueryClient();
  const [buffer] = useState(() => new EventBuffer());
  const [liveness, setLiveness] = useState<Liveness>({ kind: 'connecting' });
  const { events, headSeq: bufferHead } = useSyncExternalStore(
    buffer.subscribe,
    buffer.snapshot,
    buffer.snapshot,
  );
  const headSeq = Math.max(summaryHead, bufferHead);
  /** The stream begins here; everything up to it is read in chunks. */
  const [since] = useState(summaryHead);

  useEffect(() => {
    const anew = inRounds(() => client.invalidateQueries({ queryKey: runKeys.live(runId) }), 250);
    let arrived: RunEvent[] = [];
    const take = () => {
      buffer.add(arrived);
      arrived = [];
    };
    const end = listenToRun(runId, since, {
      onItem: (event) => {
        // Each message is a task of its own: a burst is shown in one go.
        if (arrived.length === 0) setTimeout(take, 16);
        arrived.push(event);
        anew.ask();
      },
      onReset: anew.ask,
      onLiveness: setLiveness,
    });
    return () => {
      anew.end();
      end();
    };
  }, [client, runId, since, buffer]);

  const near = Math.max(0, Math.floor((Math.min(seq ?? headSeq, since) - 1) / CHUNK));
  useEffect(() => {
    const all = since <= WHOLE_RUN ? Array.from({ length: Math.ceil(since / CHUNK) }, (_, n) => n) : [near];
    for (const chunk of all) {
      const [after, to] = [chunk * CHUNK, Math.min(since, (chunk + 1) * CHUNK)];
      if (after >= to) continue;
      // The buffer is outside React: what was read joins what the stream brought. An event that could not be read is
      // left out of the read-out, and asked for again when the cursor comes back.
      client.fetchQuery(eventsQuery(runId, after, to)).then(
        (read) => buffer.add(read),
        () => undefined,
      );
    }
  }, [client, buffer, runId, since, near]);
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

/** The address follows once the cursor rests: each change of it makes the whole page look at it. */
const CURSOR_IN_URL = { history: 'replace', limitUrlUpdates: debounce(200) } as const;

/** The one cursor, in the address; absent there, it follows the head. */
export function useCursor(headSeq: number) {
  const [{ seq }, setParams] = useQueryStates({ seq: runParams.seq }, CURSOR_IN_URL);
  const at = seq === null ? headSeq : Math.max(1, Math.min(seq, Math.max(1, headSeq)));
  const move = useCallback(
    (to: number | null) => void setParams({ seq: to === null || to >= headSeq ? null : Math.max(1, to) }),
    [setParams, headSeq],
  );
  return { asked: seq, at, following: seq === null, move };
}

export const useRun = (runId: string) => useQuery(runQuery(runId));
