'use client';

import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useQueryStates } from 'nuqs';
import { useRef } from 'react';
import { Button } from '@/components/ui/button';
import { absolute, whole } from '@/components/ui/format';
import { Glyph } from '@/components/ui/glyph';
import { useHotkeys } from '@/components/ui/hotkeys';
import { Link } from '@/components/ui/link';
import { Mark } from '@/components/ui/mark';
import { EmptyNote, ProblemNote, Skeleton } from '@/components/ui/problem-note';
import { SearchField } from '@/components/ui/search-field';
import { useZone } from '@/components/ui/zone';
import { problemOf } from '@/lib/client/api';
import { type AuditRow, auditQuery } from '@/lib/client/audit-queries';
import { sessionQuery } from '@/lib/client/session-queries';
import { auditParams, runHref } from '@/lib/client/url-state';
import { AuditFilters } from './audit-filters';
import { actionView, actorWords, auditFilterWords, endWords, outcomeView, reasonWords } from './audit-words';

const ROW = 28;
/** Lists longer than this are virtualised. */
const WHOLE = 100;

/** Who did what, newest first. */
export function AuditList() {
  const [view, setView] = useQueryStates(auditParams, { history: 'replace' });
  const query = useInfiniteQuery(auditQuery(view));
  const search = useRef<HTMLInputElement>(null);
  const body = useRef<HTMLDivElement>(null);
  const items = query.data?.pages.flatMap((page) => page.items) ?? [];
  const total = query.data?.pages[0]?.total ?? 0;
  const reading = query.isPlaceholderData;
  const words = auditFilterWords(view, useZone());

  const links = () => [...(body.current?.querySelectorAll<HTMLElement>('[data-deed]') ?? [])];
  const step = (by: number) => {
    const all = links();
    const at = all.findIndex((link) => link.matches(':focus'));
    all[Math.min(all.length - 1, Math.max(0, at + by))]?.focus();
  };
  useHotkeys([
    { key: '/', what: 'search', run: () => search.current?.focus() },
    { key: 'j', what: 'row down', run: () => step(1) },
    { key: 'k', what: 'row up', run: () => step(-1) },
  ]);

  return (
    <main className="page">
      <header className="page-head">
        <h1>Audit</h1>
        <span className="small second">{query.data && !reading ? whole(total) : ''}</span>
        <span className="grow" />
        <SearchField
          label="Search the audit"
          placeholder="Actor, run id, reason, plan digest…"
          q={view.q}
          field={search}
          onSearch={(q) => void setView({ q })}
        />
      </header>
      <AuditFilters view={view} rows={items} onChange={(change) => void setView(change)} />
      {query.isError && query.data && (
        <div className="notice" data-tone="bad" role="alert">
          <Glyph name="s-failed" toned />
          These rows may be old: {problemOf(query.error).detail}
          <Button size="small" onPress={() => void query.refetch()}>
            Try again
          </Button>
        </div>
      )}
      <div ref={body} className="scroll grow" aria-busy={reading || query.isPending}>
        {query.isPending && <Skeleton rows={12} />}
        {query.isError && !query.data && (
          <ProblemNote title={problemOf(query.error).title} detail={problemOf(query.error).detail}>
            <Button size="small" onPress={() => void query.refetch()}>
              Try again
            </Button>
          </ProblemNote>
        )}
        {query.data &&
          !reading &&
          items.length === 0 &&
          (words.length > 0 ? <NoDeed words={words} onClear={() => void setView(null)} /> : <Nothing />)}
        {items.length > 0 && <AuditTable items={items} total={total} scroll={() => body.current} />}
        {query.hasNextPage && (
          <p className="p-3">
            <Button
              onPress={() => void query.fetchNextPage()}
              reason={query.isFetchingNextPage ? 'Loading' : undefined}
            >
              Show more ({whole(items.length)} of {whole(total)})
            </Button>
          </p>
        )}
      </div>
    </main>
  );
}

/** Filters that nothing matches: which they are, and the way out. */
export function NoDeed({
  words,
  onClear,
}: {
  readonly words: readonly string[];
  readonly onClear: () => void;
}) {
  return (
    <EmptyNote title="Nothing in the audit matches these filters">
      <p className="break-words" dir="auto">
        {words.join(' · ')}
      </p>
      <Button size="small" onPress={onClear}>
        Clear the filters
      </Button>
    </EmptyNote>
  );
}

function Nothing() {
  const session = useQuery(sessionQuery).data;
  return (
    <EmptyNote title="Nobody has done anything yet">
      Orders, links and sign-ins are listed here: who, when, why, and how it ended.
      {session?.role !== 'admin' && ' Sign-ins are shown to admins.'}
    </EmptyNote>
  );
}

function AuditTable({
  items,
  total,
  scroll,
}: {
  readonly items: readonly AuditRow[];
  readonly total: number;
  readonly scroll: () => HTMLDivElement | null;
}) {
  const rows = useVirtualizer({
    count: items.length,
    getScrollElement: scroll,
    estimateSize: () => ROW,
    overscan: 12,
    enabled: items.length > WHOLE,
  });
  const virtual = items.length > WHOLE ? rows.getVirtualItems() : undefined;
  const from = virtual?.[0]?.index ?? 0;
  const to = virtual ? (virtual.at(-1)?.index ?? -1) + 1 : items.length;
  return (
    <table className="table audit" aria-label="Audit" aria-rowcount={total + 1}>
      <thead>
        <tr>
          <th scope="col" className="audit-time">
            Time
          </th>
          <th scope="col" className="audit-actor">
            Actor
          </th>
          <th scope="col" className="audit-action">
            Action
          </th>
          <th scope="col" className="audit-run">
            Run
          </th>
          <th scope="col">Reason</th>
          <th scope="col" className="audit-plan hide-narrow">
            Plan
          </th>
          <th scope="col" className="audit-outcome">
            Outcome
          </th>
        </tr>
      </thead>
      <tbody>
        {from > 0 && <tr style={{ height: from * ROW }} />}
        {items.slice(from, to).map((row, n) => (
          <tr key={row.id} aria-rowindex={from + n + 2}>
            <Cells row={row} />
          </tr>
        ))}
        {to < items.length && <tr style={{ height: (items.length - to) * ROW }} />}
      </tbody>
    </table>
  );
}

function Cells({ row }: { readonly row: AuditRow }) {
  const { glyph, word } = actionView[row.action];
  const zone = useZone();
  const reason = reasonWords(row, zone);
  return (
    <>
      <td className="mono second">
        <time dateTime={row.at}>{absolute(Date.parse(row.at), zone)}</time>
      </td>
      <td>
        <span className="clip block" dir="auto" title={actorWords(row)}>
          {row.actor === '' ? <i className="third">unknown</i> : row.actor}
        </span>
      </td>
      <td>
        <span className="audit-deed">
          <Glyph name={glyph} />
          {word}
        </span>
      </td>
      <td>
        {row.runId === null ? (
          // Rows without a run are reached by the keys too.
          <span className="third" data-deed tabIndex={-1}>
            –
          </span>
        ) : (
          <Link
            href={runHref(row.runId, row.seq ?? undefined)}
            data-deed
            className="mono clip block"
            title={row.seq === null ? row.runId : `${row.runId}, at seq ${row.seq}`}
          >
            {row.runId}
          </Link>
        )}
      </td>
      <td>
        <span className="clip block" dir="auto" title={reason}>
          {reason}
        </span>
      </td>
      <td className="mono third hide-narrow" title={row.planDigest ?? undefined}>
        {row.planDigest?.slice(0, 12) ?? ''}
      </td>
      <td>{row.outcome !== null && <Mark view={outcomeView[row.outcome]} title={endWords(row, zone)} />}</td>
    </>
  );
}
