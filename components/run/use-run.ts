'use client';

import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useEffectEvent, useState, useSyncExternalStore } from 'react';
import type { RunSummary } from '@/lib/client/api-types';
import { CHUNK, chunkOf, EventBuffer } from '@/lib/client/event-buffer';
import { inRounds, type Liveness, listenToRun, paced } from '@/lib/client/live';
import { planKeys } from '@/lib/client/plan-queries';
import { eventsQuery, runKeys, runQuery } from '@/lib/client/run-queries';
import type { RunEvent } from '@/lib/core/events/run-event';

/** Runs up to this many events are loaded whole: one bar for each fits the scrubber. */
export const WHOLE_RUN = 400;
/** How soon a run that stopped and is still held is looked at again. */
const LET_GO_MS = 1_000;

export interface RunLive {
  readonly events: readonly RunEvent[];
  readonly eventAt: (seq: number) => RunEvent | undefined;
  readonly headSeq: number;
  readonly liveness: Liveness;
}

/**
 * The run's live log: what arrives by the stream and what was read around `seq`, in one buffer. Whatever moves also
 * makes the run's projections stale, in rounds. Where the console has another journal than the one that was read,
 * everything of the run is forgotten: the page is without its run until that was read again, and begins anew with it.
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
      onMissed: anew.ask,
      onReset: () => void client.resetQueries({ queryKey: runKeys.run(runId) }),
      onLiveness: setLiveness,
    });
    return () => {
      anew.end();
      end();
    };
  }, [client, runId, since, buffer]);

  const load = useCallback(
    ([after, to]: readonly [number, number]) => {
      // The buffer is outside React: what was read joins what the stream brought. An event that could not be read is
      // left out of the read-out, and asked for again when the cursor comes back.
      client.fetchQuery(eventsQuery(runId, after, to)).then(
        (read) => buffer.add(read),
        () => undefined,
      );
    },
    [client, buffer, runId],
  );
  useEffect(() => {
    for (let at = since <= WHOLE_RUN ? 1 : since; at <= since; at += CHUNK) load(chunkOf(at, since));
  }, [load, since]);
  // What is behind the stream's beginning, or was let go since: a long run is never held whole.
  const loadNear = useEffectEvent((at: number) => {
    if (at >= 1 && at <= headSeq && buffer.at(at) === undefined) load(chunkOf(at, headSeq));
  });
  useEffect(() => {
    buffer.holdAround(seq ?? undefined);
    if (seq !== null) loadNear(seq);
  }, [buffer, seq]);
  const eventAt = useCallback((wanted: number) => buffer.at(wanted), [buffer]);
  return { events, eventAt, headSeq, liveness };
}

/** A value that moves no more often than every `ms`: what the server is asked for while the cursor moves. */
export function usePaced<Value>(value: Value, ms: number): Value {
  const [shown, setShown] = useState(value);
  const [pace] = useState(() => paced<Value>((newest) => setShown(() => newest), ms));
  useEffect(() => pace.give(value), [pace, value]);
  useEffect(() => pace.end, [pace]);
  return shown;
}

/** The value once it has not changed for `ms`: what the server is asked for while somebody types. */
export function useRested<Value>(value: Value, ms: number): Value {
  const [rested, setRested] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setRested(() => value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return rested;
}

/** A worker lets go of a run after it stopped, and no event tells of that. */
export function useRun(runId: string) {
  const client = useQueryClient();
  const query = useQuery({
    ...runQuery(runId),
    refetchInterval: ({ state }) => (isStillHeld(state.data) ? LET_GO_MS : false),
  });
  const held = isStillHeld(query.data);
  useEffect(() => {
    if (!held) return;
    // A plan that was made meanwhile says that the run is held.
    return () => void client.invalidateQueries({ queryKey: planKeys.plans(runId) });
  }, [client, runId, held]);
  return query;
}

const isStillHeld = (run: RunSummary | undefined): boolean =>
  run !== undefined && run.holder !== null && run.status !== 'running';
