'use client';

import { useVirtualizer } from '@tanstack/react-virtual';
import { useRouter } from 'next/navigation';
import { type RefObject, useLayoutEffect, useRef } from 'react';
import { impossibleNow } from '@/components/run/run-words';
import { Glyph } from '@/components/ui/glyph';
import { useHotkeys } from '@/components/ui/hotkeys';
import type { RunSummary } from '@/lib/client/api-types';
import { planHref, type RunsView, runHref } from '@/lib/client/url-state';
import type { Column } from './columns';
import { RunRow } from './run-row';
import { nobody, type Selection, toggled, withRange } from './selection';

const ROW = 28;
/** Lists longer than this are virtualised. */
const WHOLE = 100;
const CHECKBOX = 36;

interface Props {
  readonly runs: readonly RunSummary[];
  readonly gone: ReadonlySet<string>;
  readonly total: number;
  readonly columns: readonly Column[];
  readonly view: Pick<RunsView, 'sort' | 'order'>;
  readonly onSort: (sort: RunsView['sort']) => void;
  readonly selection: Selection;
  readonly onSelect: (selection: Selection) => void;
  /** What scrolls. */
  readonly body: RefObject<HTMLDivElement | null>;
}

export function RunsTable(props: Props) {
  const { runs, gone, total, columns, selection, onSelect, body } = props;
  const router = useRouter();
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
  const { focus, focused, onFocus, onBlur } = useRowFocus(body, runs, (index) =>
    runs.length > WHOLE ? rows.scrollToIndex(index) : undefined,
  );
  const anchor = useRef<string | undefined>(undefined);

  const step = (by: number) => {
    const at = runs.findIndex(({ id }) => id === focused());
    const next = runs[at === -1 ? from : Math.max(0, Math.min(runs.length - 1, at + by))];
    if (next !== undefined) focus(next.id);
  };
  const focusedRun = () => runs.find(({ id }) => id === focused());
  const pick = (run: RunSummary, range: boolean) => {
    onSelect(
      range && anchor.current !== undefined
        ? withRange(selection, runs, anchor.current, run.id)
        : toggled(selection, run),
    );
    anchor.current = run.id;
  };
  const withFocused = (what: (run: RunSummary) => void) => () => {
    const run = focusedRun();
    if (run !== undefined) what(run);
  };
  useHotkeys([
    { key: 'j', what: 'Next row', run: () => step(1) },
    { key: 'k', what: 'Previous row', run: () => step(-1) },
    { key: 'ArrowDown', what: 'Next row', run: () => step(1) },
    { key: 'ArrowUp', what: 'Previous row', run: () => step(-1) },
    { key: 'x', what: 'Select the row', run: withFocused((run) => pick(run, false)) },
    {
      key: 'Shift+x',
      what: 'Select from the last one to the row',
      run: withFocused((run) => pick(run, true)),
    },
    {
      key: 'r',
      what: 'Plan a resume of the row’s run',
      run: withFocused((run) => {
        if (impossibleNow(run, 'resume') === undefined) router.push(planHref(run.id, 'resume'));
      }),
    },
  ]);

  const every = runs.length > 0 && runs.every(({ id }) => selection.has(id));
  return (
    <table className="table runs" aria-label="Runs" aria-rowcount={total + 1}>
      <colgroup>
        <col style={{ width: CHECKBOX }} />
        {columns.map(({ name, width }) => (
          <col key={name} style={width === undefined ? undefined : { width }} />
        ))}
      </colgroup>
      <thead>
        <tr aria-rowindex={1}>
          <th scope="col">
            <input
              type="checkbox"
              aria-label={`Select the ${runs.length} runs below`}
              checked={every}
              ref={(box) => {
                if (box) box.indeterminate = !every && selection.size > 0;
              }}
              onChange={() =>
                onSelect(
                  every ? nobody : new Map([...selection, ...runs.map((run) => [run.id, run] as const)]),
                )
              }
            />
          </th>
          {columns.map((column) => (
            <Head key={column.name} column={column} view={props.view} onSort={props.onSort} />
          ))}
        </tr>
      </thead>
      <tbody onFocus={onFocus} onBlur={onBlur} onPointerOver={(event) => markClipped(rowOf(event.target))}>
        {/* biome-ignore lint/a11y/noAriaHiddenOnFocusable: room for the rows above; nothing in it takes focus */}
        {from > 0 && <tr aria-hidden="true" style={{ height: from * ROW }} />}
        {runs.slice(from, to).map((run, n) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the row's link does the same by keyboard
          <tr
            key={run.id}
            data-gone={gone.has(run.id) ? '' : undefined}
            data-selected={selection.has(run.id) ? '' : undefined}
            aria-rowindex={from + n + 2}
            onMouseDown={(event) => {
              // A range of rows, not of text.
              if (event.shiftKey) event.preventDefault();
            }}
            onClick={(event) => {
              if (!(event.target instanceof Element) || event.target.closest('a, input, label')) return;
              if (event.shiftKey) pick(run, true);
              else if (window.getSelection()?.isCollapsed !== false) router.push(runHref(run.id));
            }}
          >
            <td>
              <input
                type="checkbox"
                aria-label={`Select ${run.id}`}
                checked={selection.has(run.id)}
                onChange={(event) =>
                  pick(run, event.nativeEvent instanceof MouseEvent && event.nativeEvent.shiftKey)
                }
              />
            </td>
            <RunRow run={run} gone={gone.has(run.id)} columns={columns} />
          </tr>
        ))}
        {/* biome-ignore lint/a11y/noAriaHiddenOnFocusable: room for the rows below */}
        {to < runs.length && <tr aria-hidden="true" style={{ height: (runs.length - to) * ROW }} />}
      </tbody>
    </table>
  );
}

function Head({
  column: { name, title, sort, num },
  view,
  onSort,
}: { readonly column: Column } & Pick<Props, 'view' | 'onSort'>) {
  const sorted = sort !== undefined && sort === view.sort;
  return (
    <th
      scope="col"
      data-column={name}
      className={num ? 'num' : undefined}
      aria-sort={sorted ? (view.order === 'desc' ? 'descending' : 'ascending') : undefined}
    >
      {sort === undefined ? (
        title
      ) : (
        <button type="button" onClick={() => onSort(sort)} title={`Sort by ${title.toLowerCase()}`}>
          {title}
          {sorted && (
            <span className={view.order === 'asc' ? 'inline-block rotate-180' : ''}>
              <Glyph name="sort" />
            </span>
          )}
        </button>
      )}
    </th>
  );
}

const rowOf = (target: EventTarget): Element | null =>
  target instanceof Element ? target.closest('tr') : null;

/** Marks what a row shows only in part, so that it is shown whole while it is pointed at or has the focus. */
function markClipped(row: Element | null): void {
  for (const part of row?.querySelectorAll('.clip') ?? [])
    part.toggleAttribute('data-clipped', part.scrollWidth > part.clientWidth + 1);
}

/**
 * The focus of a row's link: it is brought into view where it is in no row yet, and kept where its row is moved, which
 * the browser would take for leaving it.
 */
function useRowFocus(
  body: RefObject<HTMLDivElement | null>,
  runs: readonly RunSummary[],
  reveal: (index: number) => void,
) {
  const at = useRef<string | undefined>(undefined);
  const wanted = useRef<string | undefined>(undefined);
  const linkOf = (id: string) =>
    body.current?.querySelector<HTMLElement>(`a[data-run="${CSS.escape(id)}"]`) ?? undefined;
  useLayoutEffect(() => {
    const lost = document.activeElement === document.body ? at.current : undefined;
    const id = wanted.current ?? lost;
    const link = id === undefined ? undefined : linkOf(id);
    if (link === undefined) return;
    if (wanted.current !== undefined) link.focus();
    else link.focus({ preventScroll: true });
    wanted.current = undefined;
  });
  return {
    focused: () => at.current,
    focus: (id: string) => {
      const link = linkOf(id);
      if (link !== undefined) {
        link.focus();
        return;
      }
      wanted.current = id;
      reveal(runs.findIndex((run) => run.id === id));
    },
    onFocus: (event: React.FocusEvent) => {
      const row = rowOf(event.target);
      markClipped(row);
      at.current = row?.querySelector<HTMLElement>('a[data-run]')?.dataset['run'];
    },
    onBlur: (event: React.FocusEvent) => {
      if (event.relatedTarget !== null) at.current = undefined;
    },
  };
}
