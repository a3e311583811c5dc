'use client';

import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { parseAsArrayOf, parseAsStringLiteral, useQueryState, useQueryStates } from 'nuqs';
import { useRef, useState } from 'react';
import { AGAIN_MS, NotLive } from '@/components/run/not-live';
import { answerWords } from '@/components/run/run-words';
import { Button } from '@/components/ui/button';
import { plural, whole } from '@/components/ui/format';
import { Glyph } from '@/components/ui/glyph';
import { useHotkeys } from '@/components/ui/hotkeys';
import { useKept } from '@/components/ui/kept';
import { Later, part, useFetchedAhead } from '@/components/ui/later';
import { LiveDot } from '@/components/ui/live-dot';
import { OpensLater } from '@/components/ui/opens';
import { ProblemNote } from '@/components/ui/problem-note';
import { SearchField } from '@/components/ui/search-field';
import { dayStart, useZone } from '@/components/ui/zone';
import { problemOf } from '@/lib/client/api';
import type { RunSummary } from '@/lib/client/api-types';
import { readEveryRun, runsCountQuery, runsQuery } from '@/lib/client/run-queries';
import { openParam, type RunsFilter, type RunsView, runsParams } from '@/lib/client/url-state';
import { BulkBar } from './bulk-bar';
import { type ColumnName, columnNames, keptColumns, shownColumns } from './columns';
import { filterWords, type Known, noFilter, searchOf } from './filters';
import { type HeldRows, hold, release, standing } from './held-rows';
import { NoMatch, NoRuns, SkeletonRows } from './no-runs';
import { RunsFilters } from './runs-filters';
import { RunsTable } from './runs-table';
import { nobody, renewed, type Selection } from './selection';
import { useLiveRuns, useLookedAt } from './use-live-runs';
import { ViewsBar } from './views-bar';

const columnsMenu = part(() => import('./columns-menu').then((module) => module.ColumnsMenu));
const cancelDialog = part(() => import('./cancel-dialog').then((module) => module.CancelDialog));
const pressedLater = [cancelDialog];

/** Runs that are read by scrolling; more of them are asked for by a press. */
const AT_MOST = 1_000;
/** So near to the last row the next page is read. */
const NEAR_PX = 1_200;

const inLastDay: RunsFilter = { ...noFilter, within: '24h' };

export function RunsPage() {
  useFetchedAhead(pressedLater);
  const zone = useZone();
  const midnight = () => dayStart(Date.now(), zone);
  const [view, setView] = useQueryStates(runsParams, { history: 'replace' });
  const [asked, setAsked] = useQueryState('columns', parseAsArrayOf(parseAsStringLiteral(columnNames)));
  const [open, setOpen] = useQueryState('open', openParam);
  const columns = shownColumns(asked, useKept(keptColumns));
  const list = useRuns(view, midnight);
  const inDay = useQuery(runsCountQuery(inLastDay, midnight)).data;
  const search = useRef<HTMLInputElement>(null);
  const { selection, select } = useSelection(view, list.rows);
  useHotkeys([
    { key: '/', what: 'Search the runs', run: () => search.current?.focus() },
    ...(selection.size === 0
      ? []
      : [{ key: 'Escape', what: 'Clear the selection', run: () => select(nobody) }]),
  ]);

  const { runs, total, stand } = list;
  const clear = () => void setView(noFilter);
  const narrowed = searchOf(view) !== '';
  const sortBy = (sort: RunsView['sort']) =>
    void setView({ sort, order: view.sort === sort && view.order === 'desc' ? 'asc' : 'desc' });
  const nothing = total === 0 && !list.reading && !narrowed;
  return (
    <main className="page runs-page">
      <header className="page-head">
        <h1>Runs</h1>
        {inDay !== undefined && !nothing && (
          <span className="small third nowrap">{whole(inDay)} in the last 24 h</span>
        )}
        <span className="grow" />
        <LiveDot liveness={list.stale === undefined ? list.liveness : 'lost'} />
        <SearchField
          label="Search runs"
          placeholder="Run id, agent, tag, failure…"
          q={view.q}
          field={search}
          onSearch={(q) => void setView({ q })}
        />
        <Button glyph="upload" onPress={() => void setOpen('upload')}>
          Upload a trace
        </Button>
      </header>
      {!nothing && (
        <>
          <ViewsBar
            filter={view}
            midnight={midnight}
            saving={open === 'save-view'}
            onSaving={(to) => void setOpen(to ? 'save-view' : null)}
          />
          <RunsFilters
            filter={view}
            known={knownIn(runs)}
            onChange={(change) => void setView(change)}
            onClear={clear}
          >
            <span className="grow" />
            <span className="small third nowrap" role="status" aria-label="Runs shown">
              {list.reading
                ? 'Reading…'
                : total === undefined
                  ? ''
                  : `${whole(runs.length)} of ${whole(total)} shown`}
            </span>
            <OpensLater
              of={columnsMenu}
              role="menu"
              className="btn"
              data-kind="quiet"
              data-size="small"
              props={{
                shown: columns,
                onChoose: (names: readonly ColumnName[] | null) => {
                  keptColumns.set(names ?? []);
                  void setAsked(names === null ? null : [...names]);
                },
              }}
            >
              <Glyph name="columns" />
              Columns
            </OpensLater>
          </RunsFilters>
        </>
      )}
      <div ref={list.around} className="contents">
        {list.stale && <NotLive stale={list.stale} />}
        <div role="status" aria-live="polite">
          {stand !== undefined && stand.started + stand.changed > 0 && (
            <NewRows held={stand} onShow={list.show} />
          )}
        </div>
        <div ref={list.body} className="scroll grow" aria-busy={list.reading} onScroll={list.onScroll}>
          {list.empty && !list.problem && <SkeletonRows />}
          {list.empty && list.problem && (
            <ProblemNote title="The runs could not be read" detail={answerWords(list.problem)}>
              <Button size="small" onPress={list.again}>
                Try again
              </Button>
            </ProblemNote>
          )}
          {total === 0 &&
            !list.reading &&
            runs.length === 0 &&
            (narrowed ? (
              <NoMatch words={filterWords(view, zone)} onClear={clear} />
            ) : (
              <NoRuns onUpload={() => void setOpen('upload')} />
            ))}
          {runs.length > 0 && (
            <RunsTable
              runs={runs}
              gone={stand?.gone ?? none}
              total={total ?? runs.length}
              columns={columns}
              view={view}
              onSort={sortBy}
              selection={selection}
              onSelect={select}
              body={list.body}
            />
          )}
          {list.rest !== undefined && total !== undefined && (
            <p className="rest">
              <span>
                {whole(runs.length)} of {whole(total)}
              </span>
              <Button size="small" onPress={list.rest} reason={list.more ? 'They are being read' : undefined}>
                Show {whole(Math.min(AT_MOST, total - runs.length))} more
              </Button>
              <Button
                size="small"
                kind="quiet"
                onPress={() => void setView({ order: view.order === 'desc' ? 'asc' : 'desc' })}
              >
                Begin at the other end
              </Button>
              <span className="second">or narrow them down with a filter</span>
            </p>
          )}
        </div>
      </div>
      {selection.size > 0 && (
        <BulkBar
          selection={selection}
          total={total ?? 0}
          onClear={() => select(nobody)}
          onCancel={() => void setOpen('cancel')}
          onAll={async (told, signal) => {
            const every = await readEveryRun(view, midnight, told, signal);
            if (!signal.aborted) select(new Map(every.map((run) => [run.id, run])));
          }}
        />
      )}
      {open === 'cancel' && selection.size > 0 && (
        <Later
          of={cancelDialog}
          shown
          props={{ runs: [...selection.values()], onClose: () => void setOpen(null) }}
        />
      )}
    </main>
  );
}

const none: ReadonlySet<string> = new Set();

/** What the rows on screen have, for what is typed into a filter. */
function knownIn(runs: readonly RunSummary[]): Known {
  const distinct = (values: readonly string[]) => [...new Set(values)].sort().slice(0, 50);
  return {
    agent: distinct(runs.map(({ agent }) => agent)),
    tag: distinct(runs.flatMap(({ tags }) => tags)),
    source: distinct(runs.map(({ source }) => source)),
  };
}

function NewRows({ held, onShow }: { readonly held: HeldRows; readonly onShow: () => void }) {
  const parts = [
    held.started === 0 ? [] : `${plural(held.started, 'run')} started`,
    held.changed === 0 ? [] : `${plural(held.changed, 'run')} changed`,
  ].flat();
  return (
    <div className="newrows">
      <Glyph name="chevron-down" />
      {parts.join(', ')}
      <button type="button" className="link" onClick={onShow}>
        Show
      </button>
    </div>
  );
}

/** The rows on screen: held in their order while somebody looks, and kept where they cannot be read anew. */
function useRuns(view: RunsView, midnight: () => number) {
  const liveness = useLiveRuns();
  const query = useInfiniteQuery({
    ...runsQuery(view, midnight),
    refetchInterval: ({ state }) => (liveness.kind === 'lost' || state.status === 'error' ? AGAIN_MS : false),
  });
  const body = useRef<HTMLDivElement>(null);
  const around = useRef<HTMLDivElement>(null);
  const lookedAt = useLookedAt(around);
  const [allowed, setAllowed] = useState(AT_MOST);

  const key = JSON.stringify(view);
  const pages = query.data?.pages;
  const [shown, setShown] = useState<{ readonly pages: typeof pages; readonly held: HeldRows | undefined }>({
    pages: undefined,
    held: undefined,
  });
  let held = shown.held;
  if (pages && pages !== shown.pages && !query.isPlaceholderData) {
    const items = pages.flatMap((page) => page.items);
    if (held?.view !== key) setAllowed(AT_MOST);
    held = hold(shown.held, key, items, lookedAt);
    setShown({ pages, held });
  }
  const reading = query.isPlaceholderData;
  const failed = query.isError || liveness.kind === 'lost';
  const stand = standing(held, key, failed);
  const runs = (stand?.order ?? []).flatMap((id) => stand?.rows.get(id) ?? []);
  const since = useSince(
    liveness.kind === 'lost' ? liveness.since : query.isError ? query.errorUpdatedAt : undefined,
  );

  const next = () => {
    if (query.hasNextPage && !query.isFetching) void query.fetchNextPage();
  };
  return {
    liveness: liveness.kind,
    body,
    around,
    stand,
    rows: stand?.rows ?? noRows,
    runs,
    total: reading || stand === undefined ? undefined : (pages?.[0]?.total ?? 0),
    reading,
    empty: runs.length === 0 && (query.isPending || reading || query.data === undefined),
    problem: query.isError ? problemOf(query.error) : undefined,
    stale:
      since === undefined || runs.length === 0
        ? undefined
        : {
            since,
            problem: query.isError ? problemOf(query.error) : undefined,
            nextAt: Math.max(query.errorUpdatedAt, query.dataUpdatedAt) + AGAIN_MS,
            shownAt: query.dataUpdatedAt,
            onTry: () => void query.refetch(),
            trying: query.isFetching,
          },
    again: () => void query.refetch(),
    more: query.isFetchingNextPage,
    onScroll: () => {
      const element = body.current;
      if (element === null || runs.length >= allowed) return;
      if (element.scrollHeight - element.scrollTop - element.clientHeight < NEAR_PX) next();
    },
    /** Reads more than is read by scrolling; undefined where there are none. */
    rest:
      query.hasNextPage && runs.length >= allowed
        ? () => {
            setAllowed(allowed + AT_MOST);
            next();
          }
        : undefined,
    show: () => setShown(({ pages: seen, held: now }) => ({ pages: seen, held: now && release(now) })),
  };
}

const noRows: ReadonlyMap<string, RunSummary> = new Map();

/** Since when something has been so without a break: the first instant that is given. */
function useSince(at: number | undefined): number | undefined {
  const [since, setSince] = useState<number | undefined>();
  if ((at === undefined) !== (since === undefined)) setSince(at);
  return at === undefined ? undefined : (since ?? at);
}

/** What is picked out of the runs of one filter; another filter has a selection of its own. */
function useSelection(filter: RunsFilter, rows: ReadonlyMap<string, RunSummary>) {
  const search = searchOf(filter);
  const [of, setOf] = useState<{ readonly search: string; readonly selection: Selection }>({
    search,
    selection: nobody,
  });
  const selection = of.search === search ? renewed(of.selection, rows) : nobody;
  return { selection, select: (next: Selection) => setOf({ search, selection: next }) };
}
