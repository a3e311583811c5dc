'use client';

import { useEffect, useState } from 'react';
import { runStatusView } from '@/components/run/views';
import { Glyph } from '@/components/ui/glyph';
import { Link } from '@/components/ui/link';
import { Mark } from '@/components/ui/mark';
import type { RunSummary } from '@/lib/client/api-types';
import { ArrivalWatch } from '@/lib/client/arrivals';
import { type Liveness, listenToRuns } from '@/lib/client/live';
import { runHref } from '@/lib/client/url-state';
import type { WayId } from './ways';

const MOST = 5;

interface Seen {
  /** Runs that there were when the page was opened; undefined while that is not known. */
  readonly before: number | undefined;
  readonly arrived: readonly RunSummary[];
}

/** Runs that arrived after this page was opened. */
function useArrivals(): Seen & { readonly liveness: Liveness } {
  const [seen, setSeen] = useState<Seen>({ before: undefined, arrived: [] });
  const [liveness, setLiveness] = useState<Liveness>({ kind: 'connecting' });
  useEffect(() => {
    const over = new AbortController();
    const watch = new ArrivalWatch();
    const show = (runs: readonly RunSummary[]) => {
      if (over.signal.aborted) return;
      const ids = new Set(runs.map(({ id }) => id));
      setSeen(({ arrived }) => ({
        before: watch.before,
        arrived: [...[...runs].reverse(), ...arrived.filter(({ id }) => !ids.has(id))].slice(0, MOST),
      }));
    };
    const end = listenToRuns({
      onItem: ({ runId }) =>
        void watch.moved(runId, over.signal).then((run) => run !== undefined && show([run])),
      onMissed: () => void watch.look(over.signal).then(show),
      onLiveness: setLiveness,
    });
    return () => {
      over.abort();
      end();
    };
  }, []);
  return { ...seen, liveness };
}

/** What a newcomer wants to see: that it has arrived. */
export function Arrivals({ way }: { readonly way: WayId }) {
  const { before, arrived, liveness } = useArrivals();
  const [newest] = arrived;
  return (
    <aside className="arrivals" aria-label="Arrivals">
      <h2>Arrivals</h2>
      <div role="status" className="arrivals-now">
        {newest === undefined ? (
          <p>
            <Glyph name="s-queued" /> {waitingWords(before, liveness)}
          </p>
        ) : (
          <p>
            <Glyph name="s-completed" /> Run{' '}
            <Link className="link" href={runHref(newest.id)}>
              {newest.id}
            </Link>{' '}
            arrived
          </p>
        )}
      </div>
      {arrived.length > 0 && (
        <ul>
          {arrived.map((run) => (
            <li key={run.id}>
              <Mark view={runStatusView[run.status]} />
              <Link className="link clip" href={runHref(run.id)} title={run.id}>
                {run.id}
              </Link>
              <span className="second">{run.agent}</span>
            </li>
          ))}
        </ul>
      )}
      {newest === undefined && (
        <p className="second small">
          {way === 'upload' ? 'Send the file' : 'Run the lines'}, and the run shows here by itself.
        </p>
      )}
      <noscript>
        <p>
          Without scripts this page cannot tell; look at <a href="/runs">Runs</a>.
        </p>
      </noscript>
    </aside>
  );
}

function waitingWords(before: number | undefined, liveness: Liveness): string {
  if (liveness.kind === 'lost') return 'The console does not answer; waiting for it';
  if (before === undefined) return 'Connecting to the console';
  return before === 0 ? 'Waiting for the first run' : 'Waiting for a new run';
}
