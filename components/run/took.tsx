'use client';

import { duration, elapsed } from '@/components/ui/format';
import { useNow } from '@/components/ui/time';
import { type RunTimes, takenAt } from './run-words';

const MINUTE_MS = 60_000;

function Elapsed({ times, ms }: { readonly times: RunTimes; readonly ms: number }) {
  const taken = takenAt(times, ms, useNow());
  return (
    <span className="elapsed" data-short={taken < MINUTE_MS ? '' : undefined}>
      {elapsed(taken)}
    </span>
  );
}

/** How long a run has taken; of one that goes on, renewed each second in the room that it has. */
export const Took = ({ times, ms }: { readonly times: RunTimes; readonly ms: number }) =>
  times.goesOn ? <Elapsed times={times} ms={ms} /> : duration(ms);
