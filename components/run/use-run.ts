'use client';

import { isCancelledError, useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useEffectEvent, useState, useSyncExternalStore } from 'react';
import type { RunSummary } from '@/lib/client/api-types';
import { CHUNK, chunkOf, EventBuffer } from '@/lib/client/event-buffer';
import { inRounds, type Liveness, listenToRun, paced, type ReadUpTo } from '@/lib/client/live';
import { planKeys } from '@/lib/client/plan-queries';
import { eventsQuery, runKeys, runQuery, WHOLE_RUN } from '@/lib/client/run-queries';
import type { RunEvent } from '@/lib/core/events/run-event';
import type { Failed } from './unread';

/** How soon a run that stopped and is still held is looked at again. */
const LET_GO_MS = 1_000;

export interface RunLive {
  readonly events: readonly RunEvent[];
  readonly eventAt: (seq: number) => RunEvent | undefined;
  readonly headSeq: number;
  readonly liveness: Liveness;
  /** Events that could not be read. */
  readonly unread: Failed | undefined;
}

type Chunk = ReturnType<typeof chunkOf>;
interface UnreadChunk {
  readonly chunk: Chunk;
  readonly error: Error;
}

/**
 * The run's live log: what arrives by the stream and what was read around `seq`, in one buffer. Whatever moves also
 * makes the run's projections stale, in rounds. Where the console has another journal than the one that was read, the
 * log is forgotten and everything of the run is read anew, while the page goes on showing what it had.
 */
export function useRunLive(
  { id: runId, headSeq: summaryHead, edition }: Pick<RunSummary, 'id' | 'headSeq' | 'edition'>,
  seq: number | null,
): RunLive {
  const client = useQueryClient();
  const [buffer] = useState(() => new EventBuffer());
  const [liveness, setLiveness] = useState<Liveness>({ kind: 'connecting' });
  const { events, headSeq: bufferHead } = useSyncExternalStore(
    buffer.subscribe,
    buffer.snapshot,
    buffer.snapshot,
  );
  const headSeq = Math.max(summaryHead, bufferHead);
  /** The stream begins here. */
  const [from] = useState<ReadUpTo>({ after: summaryHead, edition });
  const [unread, setUnread] = useState<readonly UnreadChunk[]>([]);
  /** Everything up to here is read in chunks. */
  const [upTo, setUpTo] = useState(from);

  useEffect(() => {
    const anew = inRounds(() => client.invalidateQueries({ queryKey: runKeys.live(runId) }), 250);
    let arrived: RunEvent[] = [];
    const take = () => {
      buffer.add(arrived);
      arrived = [];
    };
    const end = listenToRun(runId, from, {
      onItem: (event) => {
        // Each message is a task of its own: a burst is shown in one go.
        if (arrived.length === 0) setTimeout(take, 16);
        arrived.push(event);
        anew.ask();
      },
      onMissed: anew.ask,
      onReset: (to) => {
        arrived = [];
        buffer.reset();
        setUnread([]);
        client.removeQueries({ queryKey: runKeys.events(runId) });
        void client.invalidateQueries({ queryKey: runKeys.run(runId) });
        void client.invalidateQueries({ queryKey: planKeys.plans(runId) });
        setUpTo(to);
      },
      onLiveness: setLiveness,
    });
    return () => {
      anew.end();
      end();
    };
  }, [client, runId, from, buffer]);

  const load = useCallback(
    (chunk: Chunk) => {
      const [after, to] = chunk;
      const { edition: asked } = buffer;
      const others = (all: readonly UnreadChunk[]) => all.filter((each) => each.chunk[0] !== after);
      // The buffer is outside React: what was read joins what the stream brought.
      client.fetchQuery(eventsQuery(runId, after, to)).then(
        (read) => {
          if (buffer.edition !== asked) return;
          buffer.add(read);
          setUnread((all) => (all.length === 0 ? all : others(all)));
        },
        (error: Error) => {
          if (buffer.edition === asked && !isCancelledError(error))
            setUnread((all) => [...others(all), { chunk, error }]);
        },
      );
    },
    [client, buffer, runId],
  );
  useEffect(() => {
    const { after: last } = upTo;
    for (let at = last <= WHOLE_RUN ? 1 : last; at <= last; at += CHUNK) load(chunkOf(at, last));
  }, [load, upTo]);
  // What is behind the stream's beginning, or was let go since: a long run is never held whole.
  const loadNear = useEffectEvent((at: number) => {
    if (at >= 1 && at <= headSeq && buffer.at(at) === undefined) load(chunkOf(at, headSeq));
  });
  useEffect(() => {
    buffer.holdAround(seq ?? undefined);
    if (seq !== null) loadNear(seq);
  }, [buffer, seq]);
  const eventAt = useCallback((wanted: number) => buffer.at(wanted), [buffer]);
  const readAgain = () => {
    for (const { chunk } of unread) load(chunk);
  };
  const onLive = useEffectEvent(readAgain);
  useEffect(() => {
    if (liveness.kind === 'live') onLive();
  }, [liveness.kind]);
  const [failed] = unread;
  return {
    events,
    eventAt,
    headSeq,
    liveness,
    unread: failed && { error: failed.error, again: readAgain },
  };
}

/** A value that moves no more often than every `ms`: what the server is asked for while the cursor moves. */
export function usePaced<Value>(value: Value, ms: number): Value {
  const [shown, setShown] = useState(value);
  const [pace] = useState(() => paced<Value>((newest) => setShown(() => newest), ms));
  useEffect(() => pace.give(value), [pace, value]);
  useEffect(() => pace.end, [pace]);
  return shown;
}

/** The value once it has not changed for `ms`, `first` before: what the server is asked for while somebody types. */
export function useRested<Value>(value: Value, ms: number, first = value): Value {
  const [rested, setRested] = useState(first);
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
