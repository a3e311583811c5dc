'use client';

import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useRouter } from 'next/navigation';
import { useQueryStates } from 'nuqs';
import { type RefObject, useEffect, useRef, useState } from 'react';
import { NotLive } from '@/components/run/not-live';
import { Button } from '@/components/ui/button';
import { plural, whole } from '@/components/ui/format';
import { Glyph } from '@/components/ui/glyph';
import { useHotkeys } from '@/components/ui/hotkeys';
import { LiveDot } from '@/components/ui/live-dot';
import { ProblemNote, Skeleton } from '@/components/ui/problem-note';
import { problemOf } from '@/lib/client/api';
import { inRounds, type Liveness, listenToRuns } from '@/lib/client/live';
import { runKeys, runsQuery } from '@/lib/client/run-queries';
import { planHref, type RunsView, runHref, runsParams } from '@/lib/client/url-state';
import { type HeldRows, hold, release, standing } from './held-rows';
import { NoMatch, NoRuns } from './no-runs';
import { RunRow } from './run-row';
import { RunsFilters } from './runs-filters';

const ROW = 28;
/** Lists longer than this are virtualised. */
const WHOLE = 100;

/** Reads the list anew, at most once in 700 ms, whenever any run moved. */
function useLiveRuns(): Liveness {
  const client = useQueryClient();
  const [liveness, setLiveness] = useState<Liveness>({ kind: 'connecting' });
  useEffect(() => {
    const anew = inRounds(() => client.invalidateQueries({ queryKey: runKeys.lists() }), 700);
    const end = listenToRuns({ onItem: anew.ask, onMissed: anew.ask, onLiveness: setLiveness });
    return () => {
      anew.end();
      end();
    };
  }, [client]);
  return liveness;
}

/** Whether somebody points at something in there, has it in focus or has scrolled it: then it stays where it is. */
function useLookedAt(area: RefObject<HTMLElement | null>): boolean {
  const [lookedAt, setLookedAt] = useState(false);
  useEffect(() => {
    const element = area.current;
    if (element === null) return;
    const look = () =>
      setLookedAt(
        element.matches(':hover') ||
          element.contains(document.activeElement) ||
          [...element.children].some((child) => child.scrollTop > 0),
      );
    const kinds = ['pointerenter', 'pointerleave', 'focusin', 'focusout', 'scroll'];
    // A scroll does not bubble.
    for (const kind of kinds) element.addEventListener(kind, look, { capture: true });
    return () => {
      for (const kind of kinds) element.removeEventListener(kind, look, { capture: true });
    };
  }, [area]);
  return lookedAt;
}

const columns: readonly {
  readonly name: string;
  readonly width?: string;
  readonly sort?: RunsView['sort'];
  readonly num?: boolean;
  readonly hide?: boolean;
}[] = [
  { name: 'Status', width: '124px', sort: 'status' },
  { name: 'Agent', width: '132px', sort: 'agent' },
  { name: 'Run', width: '300px' },
  { name: 'Current state' },
  { name: 'Steps', width: '56px', num: true },
  { name: 'In doubt', width: '70px' },
  { name: 'Updated', width: '88px', num: true, sort: 'updated' },
  { name: 'Duration', width: '80px', num: true, hide: true },
  { name: 'Tokens', width: '58px', num: true, hide: true },
  { name: 'Cost', width: '72px', num: true },
  { name: 'Engine', width: '98px', hide: true },
];

/** Each is a choice of statuses, and its title says which. */
const tabs: readonly { readonly name: string; readonly status: RunsView['status'] }[] = [
  { name: 'All runs', status: [] },
  { name: 'Needs me', status: ['waiting', 'interrupted', 'paused'] },
  { name: 'Failed', status: ['failed', 'interrupted'] },
  { name: 'Running', status: ['running', 'queued'] },
];

export function RunsList() {
  const router = useRouter();
  const [view, setView] = useQueryStates(runsParams, { history: 'replace' });
  const query = useInfiniteQuery(runsQuery(view));
  const liveness = useLiveRuns();
  const search = useRef<HTMLInputElement>(null);
  const body = useRef<HTMLDivElement>(null);
  const around = useRef<HTMLDivElement>(null);
  const lookedAt = useLookedAt(around);

  const key = JSON.stringify(view);
  const pages = query.data?.pages;
  const [shown, setShown] = useState<{ readonly pages: typeof pages; readonly held: HeldRows | undefined }>({
    pages: undefined,
    held: undefined,
  });
  let held = shown.held;
  if (pages && pages !== shown.pages && !query.isPlaceholderData) {
    held = hold(
      shown.held,
      key,
      pages.flatMap((page) => page.items),
      lookedAt,
    );
    setShown({ pages, held });
  }
  const reading = query.isPlaceholderData;
  // The first failure counts: it is tried again for seconds.
  const failed = query.isError || query.failureCount > 0 || liveness.kind === 'lost';
  const stand = standing(held, key, failed);
  const runs = (stand?.order ?? []).flatMap((id) => stand?.rows.get(id) ?? []);
  const total = pages?.[0]?.total ?? 0;

  const rows = useVirtualizer({
    count: runs.length,
    getScrollElement: () => body.current,
    estimateSize: () => ROW,
    overscan: 12,
    enabled: runs.length > WHOLE,
  });
  const virtual = runs.length > WHOLE ? rows.getVirtualItems() : undefined;
  const from = virtual?.[0]?.index ?? 0;
  const to = virtual ? (virtual.at(-1)?.index ?? -1) + 1 : runs.length;

  const links = () => [...(body.current?.querySelectorAll<HTMLElement>('a[data-run]') ?? [])];
  const focused = () => links().findIndex((link) => link.matches(':focus'));
  const step = (by: number) => links()[Math.max(0, focused() + by)]?.focus();
  const focusedRun = () => links()[focused()]?.dataset['run'];
  useHotkeys([
    { key: '/', what: 'search', run: () => search.current?.focus() },
    { key: 'j', what: 'row down', run: () => step(1) },
    { key: 'k', what: 'row up', run: () => step(-1) },
    {
      key: 'r',
      what: 'plan a resume',
      run: () => {
        const id = focusedRun();
        if (id !== undefined) router.push(planHref(id, 'resume'));
      },
    },
  ]);

  const clear = () => void setView(null);
  const narrowed =
    view.status.length + view.agent.length + view.tag.length > 0 ||
    view.q !== '' ||
    view.from !== '' ||
    view.to !== '';
  const order = (sort: RunsView['sort']) =>
    void setView({ sort, order: view.sort === sort && view.order === 'desc' ? 'asc' : 'desc' });

  return (
    <main className="page">
      <header className="page-head">
        <h1>Runs</h1>
        <span className="small second">{pages && !reading ? whole(total) : ''}</span>
        <span className="grow" />
        <LiveDot liveness={liveness.kind} />
        <label className="field w-[254px]">
          <Glyph name="search" />
          <input
            ref={search}
            type="search"
            aria-label="Search runs"
            placeholder="Run id, agent, tag, failure…"
            value={view.q}
            onChange={(event) => void setView({ q: event.target.value })}
          />
          <span aria-hidden="true">
            <kbd>/</kbd>
          </span>
        </label>
      </header>
      <nav className="tabs" aria-label="Views">
        {tabs.map((tab) => (
          <button
            key={tab.name}
            type="button"
            title={tab.status.length === 0 ? 'Runs of any status' : `Runs that are ${tab.status.join(', ')}`}
            aria-current={String(tab.status) === String(view.status)}
            onClick={() => void setView({ status: [...tab.status] })}
          >
            {tab.name}
          </button>
        ))}
        <span className="grow" />
        <span className="small second nowrap self-center px-2" role="status" aria-label="Runs shown">
          {reading ? 'Reading…' : pages ? `${whole(runs.length)} of ${whole(total)} shown` : ''}
        </span>
      </nav>
      <NotLive liveness={liveness} />
      <RunsFilters view={view} onChange={(change) => void setView(change)} onClear={clear} />
      <div ref={around} className="contents">
        <div role="status" aria-live="polite">
          {stand !== undefined && stand.changed > 0 && (
            <div className="notice" data-tone="active">
              <Glyph name="info" toned />
              {plural(stand.changed, 'run')} changed
              <Button
                size="small"
                onPress={() =>
                  setShown(({ pages: seen, held: now }) => ({ pages: seen, held: now && release(now) }))
                }
              >
                Show
              </Button>
            </div>
          )}
        </div>
        {query.isError && pages && liveness.kind !== 'lost' && (
          <div className="notice" data-tone="bad" role="alert">
            <Glyph name="s-failed" toned />
            These rows are not live: {problemOf(query.error).detail}
            <Button size="small" onPress={() => void query.refetch()}>
              Try again
            </Button>
          </div>
        )}
        <div ref={body} className="scroll grow" aria-busy={reading}>
          {(query.isPending || (reading && runs.length === 0)) && <Skeleton rows={12} />}
          {query.isError && !pages && (
            <ProblemNote title={problemOf(query.error).title} detail={problemOf(query.error).detail}>
              <Button size="small" onPress={() => void query.refetch()}>
                Try again
              </Button>
            </ProblemNote>
          )}
          {pages && !reading && runs.length === 0 && (narrowed ? <NoMatch onClear={clear} /> : <NoRuns />)}
          {runs.length > 0 && (
            <table className="table runs" aria-label="Runs" aria-rowcount={total}>
              <colgroup>
                {columns.map((column) => (
                  <col
                    key={column.name}
                    className={column.hide ? 'hide-narrow' : undefined}
                    style={column.width === undefined ? undefined : { width: column.width }}
                  />
                ))}
              </colgroup>
              <thead>
                <tr>
                  {columns.map(({ name, sort, num, hide }) => (
                    <th
                      key={name}
                      scope="col"
                      className={`${num ? 'num' : ''} ${hide ? 'hide-narrow' : ''}`}
                      aria-sort={
                        sort === view.sort ? (view.order === 'desc' ? 'descending' : 'ascending') : undefined
                      }
                    >
                      {sort === undefined ? (
                        name
                      ) : (
                        <button
                          type="button"
                          onClick={() => order(sort)}
                          title={`Sort by ${name.toLowerCase()}`}
                        >
                          {name}
                          {sort === view.sort && (
                            <span className={view.order === 'asc' ? 'inline-block rotate-180' : ''}>
                              <Glyph name="sort" />
                            </span>
                          )}
                        </button>
                      )}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {from > 0 && <tr style={{ height: from * ROW }} />}
                {runs.slice(from, to).map((run, n) => (
                  <tr
                    key={run.id}
                    data-gone={stand?.gone.has(run.id) ? '' : undefined}
                    aria-rowindex={from + n + 2}
                    onClick={(event) => {
                      if (!(event.target instanceof HTMLElement && event.target.closest('a')))
                        router.push(runHref(run.id));
                    }}
                  >
                    <RunRow run={run} gone={stand?.gone.has(run.id) === true} />
                  </tr>
                ))}
                {to < runs.length && <tr style={{ height: (runs.length - to) * ROW }} />}
              </tbody>
            </table>
          )}
          {query.hasNextPage && (
            <p className="p-3">
              <Button
                onPress={() => void query.fetchNextPage()}
                {...(query.isFetchingNextPage ? { reason: 'Loading' } : {})}
              >
                Show more ({whole(runs.length)} of {whole(total)})
              </Button>
            </p>
          )}
        </div>
      </div>
    </main>
  );
}
