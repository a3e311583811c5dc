'use client';

import { defaultRangeExtractor, type Range, useVirtualizer } from '@tanstack/react-virtual';
import { useQueryStates } from 'nuqs';
import {
  type KeyboardEvent,
  memo,
  useCallback,
  useEffect,
  useEffectEvent,
  useMemo,
  useRef,
  useState,
} from 'react';
import { Button } from '@/components/ui/button';
import { duration, plural } from '@/components/ui/format';
import { Glyph } from '@/components/ui/glyph';
import { EmptyNote, ProblemNote, Skeleton } from '@/components/ui/problem-note';
import type { CheckpointRow, GraphAt, RunSummary, StepRow } from '@/lib/client/api-types';
import { runParams, type TreeFilter } from '@/lib/client/url-state';
import type { RunEvent } from '@/lib/core/events/run-event';
import { shortNumbers } from './checkpoint-words';
import { EffectTag } from './effect-tag';
import { barWidth, breaksOf, type TreePlace, type TreeRow, treePlaces, treeRows } from './tree-rows';
import type { Move } from './use-cursor';
import { kindGlyph, runStatusView, stepStatusView } from './views';

interface Props {
  readonly run: RunSummary;
  readonly steps: readonly StepRow[] | undefined;
  readonly total: number;
  readonly visits: readonly GraphAt['visits'][number][];
  readonly checkpoints: readonly CheckpointRow[];
  /** Where the run stopped, as the journal tells. */
  readonly stops: readonly RunEvent[];
  /** The steps could not be read. */
  readonly problem: { readonly detail: string; readonly again: () => void } | undefined;
  readonly seq: number;
  readonly onMove: Move;
}

const ROW = 24;
const WHOLE = 100;
const filters: readonly { readonly value: TreeFilter; readonly word: string }[] = [
  { value: 'all', word: 'All' },
  { value: 'effects', word: 'Effects' },
  { value: 'errors', word: 'Errors' },
];

/** The row that the cursor stands in: the last one that had begun. */
function cursorRow(rows: readonly TreeRow[], seq: number): number {
  let found = -1;
  for (const [n, row] of rows.entries())
    if (row.fromSeq <= seq && (found === -1 || row.fromSeq >= (rows[found]?.fromSeq ?? 0))) found = n;
  return found;
}

function Pin({ checkpoints }: { readonly checkpoints: readonly CheckpointRow[] }) {
  const numbers = checkpoints.map(({ n }) => n);
  return (
    <span
      className="pin"
      title={checkpoints.map(({ n, name }) => `Checkpoint ${n}, ${name}`).join('\n') || undefined}
    >
      {numbers.length > 0 && (
        <>
          <Glyph name="checkpoint" />
          {shortNumbers(numbers, 1)}
        </>
      )}
    </span>
  );
}

function StepContent({ row }: { readonly row: Extract<TreeRow, { kind: 'step' }> }) {
  const { step } = row;
  const status = stepStatusView[step.status];
  const quiet = step.status === 'completed';
  return (
    <>
      <Pin checkpoints={row.checkpoints} />
      <span
        className="name"
        title={`${step.stepKey}: ${step.kind}${step.effect === null ? '' : `, ${step.effect}`}`}
        style={row.depth > 0 ? { paddingLeft: 16 + row.depth * 12 } : undefined}
      >
        <Glyph name={kindGlyph[step.kind]} />
        <code>
          {step.name}
          <i>{row.occurrence}</i>
        </code>
      </span>
      <span className="aside">
        {step.executions > step.attempt && (
          <span className="mark" data-tone="bad" title={`One attempt ran ${step.executions} times`}>
            <Glyph name="d-blocked" />
            ran {step.executions}×
          </span>
        )}
        {step.attempt > 1 && <span title={plural(step.attempt, 'attempt')}>×{step.attempt}</span>}
        {step.effect === 'external' && <EffectTag effect="external" />}
        {step.effect === 'idempotent' && (
          <span title="Idempotent">
            <Glyph name="e-idempotent" />
          </span>
        )}
      </span>
      {quiet ? (
        <>
          <span className="bars">
            {row.durationMs !== undefined && (
              <span className="bar" style={{ width: barWidth(row.durationMs) }} />
            )}
          </span>
          <span className="dur">{row.durationMs === undefined ? '' : duration(row.durationMs)}</span>
        </>
      ) : (
        <span className="dur" data-open="">
          <span className="mark" data-tone={status.tone} title={step.error?.message}>
            <Glyph name={status.glyph} />
            {status.word}
          </span>
        </span>
      )}
    </>
  );
}

function RowContent({ row, onFold }: { readonly row: TreeRow; readonly onFold: (id: string) => void }) {
  switch (row.kind) {
    case 'visit':
      return (
        <div className="tree-row tree-visit">
          <Pin checkpoints={row.checkpoints} />
          <span className="name">
            <button
              type="button"
              tabIndex={-1}
              aria-label={`${row.open ? 'Fold' : 'Unfold'} ${row.state}, visit ${row.visit}`}
              onClick={(event) => {
                event.stopPropagation();
                onFold(row.id);
              }}
            >
              <Glyph name={row.open ? 'chevron-down' : 'chevron-right'} />
            </button>
            <code>{row.state}</code> <span className="visit">visit {row.visit}</span>
          </span>
          <span className="aside third">{row.inForce ? plural(row.steps, 'step') : 'left behind'}</span>
          <span className="bars" />
          <span className="dur">{row.durationMs === undefined ? '' : duration(row.durationMs)}</span>
        </div>
      );
    case 'branch':
      return (
        <div className="tree-row tree-step">
          <span className="pin" />
          <span className="name third" style={{ paddingLeft: 16 + (row.depth - 1) * 12 }}>
            <Glyph name="k-agent" />
            <span className="clip">{row.label}</span>
          </span>
        </div>
      );
    case 'break':
      return (
        <div className="tree-break" data-tone="bad">
          <Glyph
            name={row.word === 'Interrupted' ? runStatusView.interrupted.glyph : runStatusView.failed.glyph}
          />
          <span className="clip" title={row.sentence}>
            <strong>{row.word}</strong> {row.sentence}
          </span>
        </div>
      );
    case 'step':
      return (
        <div className="tree-row tree-step">
          <StepContent row={row} />
        </div>
      );
  }
}

const isLeftBehind = (row: TreeRow) =>
  (row.kind === 'step' && !row.step.inForce) || (row.kind === 'visit' && !row.inForce);

const nameOf = (row: TreeRow): string => {
  switch (row.kind) {
    case 'visit':
      return `${row.state}, visit ${row.visit}`;
    case 'branch':
      return `Branch ${row.label}`;
    case 'break':
      return `${row.word}: ${row.sentence}`;
    case 'step':
      return [
        row.step.name + row.occurrence,
        row.step.kind,
        row.step.effect ?? undefined,
        stepStatusView[row.step.status].word.toLowerCase(),
        row.step.inForce ? undefined : 'left behind',
      ]
        .filter(Boolean)
        .join(', ');
  }
};

interface ItemProps {
  readonly row: TreeRow;
  readonly index: number;
  readonly place: TreePlace | undefined;
  readonly isCursor: boolean;
  readonly isFocusable: boolean;
  readonly isLater: boolean;
  /** Place from the top in px, where the list is virtualised. */
  readonly top: number | undefined;
  readonly onMove: Move;
  readonly onFold: (id: string) => void;
}

const TreeItem = memo(function TreeItem(props: ItemProps) {
  const { row, index, place, isCursor, isFocusable, isLater, top, onMove, onFold } = props;
  return (
    <div
      role="treeitem"
      data-row={index}
      aria-level={place?.level}
      aria-posinset={place?.position}
      aria-setsize={place?.of}
      aria-expanded={row.kind === 'visit' ? row.open : undefined}
      aria-selected={isCursor}
      aria-label={nameOf(row)}
      tabIndex={isFocusable ? 0 : -1}
      data-cursor={isCursor ? '' : undefined}
      data-later={isLater ? '' : undefined}
      data-left={isLeftBehind(row) ? '' : undefined}
      style={top === undefined ? undefined : { position: 'absolute', top, left: 0, right: 0 }}
      onClick={() => onMove(row.fromSeq, 'jump')}
      onKeyDown={(event) => {
        if (event.key === 'Enter' && event.target === event.currentTarget) onMove(row.fromSeq, 'jump');
      }}
    >
      <RowContent row={row} onFold={onFold} />
    </div>
  );
});

export function TreePane(props: Props) {
  const { run, steps, total, visits, checkpoints, stops, problem, seq, onMove } = props;
  const [{ show }, setParams] = useQueryStates({ show: runParams.show }, { history: 'replace' });
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set());
  const scroller = useRef<HTMLDivElement>(null);
  const tree = useRef<HTMLDivElement>(null);
  const rows = useMemo(
    () =>
      treeRows({
        steps: steps ?? [],
        visits,
        checkpoints,
        breaks: breaksOf(run, stops),
        filter: show,
        folded,
      }),
    [steps, visits, checkpoints, run, stops, show, folded],
  );
  const places = useMemo(() => treePlaces(rows), [rows]);
  const cursor = useMemo(() => cursorRow(rows, seq), [rows, seq]);
  const virtualised = rows.length > WHOLE;
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: (n) => (rows[n]?.kind === 'break' ? 34 : ROW),
    overscan: 12,
    enabled: virtualised,
    // The row that takes the focus is always there, wherever the tree was scrolled to.
    rangeExtractor: (range: Range) => {
      const held = Math.max(0, cursor);
      return [...new Set([held, ...defaultRangeExtractor(range)])].sort((a, b) => a - b);
    },
  });
  const visible = virtualised ? virtual.getVirtualItems() : rows.map((_, index) => ({ index, start: 0 }));

  // The tree's scroll position follows the cursor, wherever it was moved from.
  const reveal = useEffectEvent((index: number) => {
    const hasFocus = tree.current?.contains(document.activeElement) === true;
    // In sight by what the virtualiser knows: asking the browser would make it lay out the page for each move.
    const top = virtual.scrollOffset ?? 0;
    const place = virtual.measurementsCache[index];
    const inSight =
      place !== undefined && place.start >= top && place.end <= top + (virtual.scrollRect?.height ?? 0);
    if (virtualised && !inSight) virtual.scrollToIndex(index, { align: 'auto' });
    if (virtualised && !hasFocus) return;
    const row = tree.current?.querySelector<HTMLElement>(`[data-row="${index}"]`);
    if (!virtualised) row?.scrollIntoView({ block: 'nearest' });
    if (hasFocus) row?.focus({ preventScroll: true });
  });
  useEffect(() => {
    if (cursor >= 0) reveal(cursor);
  }, [cursor]);
  // What opens above the panes (a strip, a question) must not push the cursor's row out of sight.
  const revealAgain = useEffectEvent(() => {
    if (cursor >= 0) reveal(cursor);
  });
  useEffect(() => {
    const box = scroller.current;
    if (!box) return;
    const observer = new ResizeObserver(() => revealAgain());
    observer.observe(box);
    return () => observer.disconnect();
  }, []);

  const fold = useCallback(
    (id: string) =>
      setFolded((now) => new Set(now.has(id) ? [...now].filter((each) => each !== id) : [...now, id])),
    [],
  );
  const onKeyDown = (event: KeyboardEvent) => {
    const row = rows[cursor];
    const up = rows
      .slice(0, Math.max(0, cursor))
      .findLast((each) => each.kind !== 'branch' && each.fromSeq < (row?.fromSeq ?? 0));
    const down = rows
      .slice(cursor + 1)
      .find((each) => each.kind !== 'branch' && each.fromSeq > (row?.fromSeq ?? 0));
    if (event.shiftKey || event.metaKey || event.ctrlKey) return;
    if (event.key === 'ArrowDown' && down) onMove(down.fromSeq, 'slide');
    else if (event.key === 'ArrowUp' && up) onMove(up.fromSeq, 'slide');
    else if (event.key === 'ArrowLeft' && row?.kind === 'visit' && row.open) fold(row.id);
    else if (event.key === 'ArrowRight' && row?.kind === 'visit' && !row.open) fold(row.id);
    else return;
    event.preventDefault();
  };

  return (
    <section className="pane" aria-label="Timeline">
      <div className="pane-head">
        <h2>Timeline</h2>
        <span className="third small">{plural(total, 'step')}</span>
        <span className="grow" />
        <fieldset className="segment" data-size="small" aria-label="Show">
          {filters.map(({ value, word }) => (
            <button
              key={value}
              type="button"
              aria-pressed={show === value}
              onClick={() => void setParams({ show: value })}
            >
              {word}
            </button>
          ))}
        </fieldset>
        <Button
          kind="quiet"
          size="small"
          glyph="fold"
          label={folded.size > 0 ? 'Unfold all visits' : 'Fold all visits'}
          onPress={() =>
            setFolded(
              folded.size > 0
                ? new Set()
                : new Set(rows.flatMap((row) => (row.kind === 'visit' ? [row.id] : []))),
            )
          }
        />
      </div>
      <div ref={scroller} className="scroll grow tree-pane">
        {problem && (
          <ProblemNote
            title={steps === undefined ? 'The steps could not be read' : 'These steps are not up to date'}
            detail={problem.detail}
          >
            <Button size="small" onPress={problem.again}>
              Try again
            </Button>
          </ProblemNote>
        )}
        {steps === undefined && !problem && <Skeleton rows={10} />}
        {steps && rows.length === 0 && (
          <EmptyNote
            title={
              show === 'all'
                ? 'No steps yet'
                : show === 'effects'
                  ? 'No step of this run is an effect'
                  : 'No step failed'
            }
          >
            {show !== 'all' && (
              <Button size="small" onPress={() => void setParams({ show: 'all' })}>
                Show all steps
              </Button>
            )}
          </EmptyNote>
        )}
        <div
          ref={tree}
          role="tree"
          aria-label="Visits and steps"
          className="tree"
          onKeyDown={onKeyDown}
          style={virtualised ? { height: virtual.getTotalSize() + 20 } : undefined}
        >
          {visible.map(({ index, start }) => {
            const row = rows[index];
            if (!row) return null;
            return (
              <TreeItem
                key={row.id}
                row={row}
                index={index}
                place={places[index]}
                isCursor={index === cursor}
                isFocusable={index === Math.max(0, cursor)}
                isLater={row.fromSeq > seq}
                top={virtualised ? start + 4 : undefined}
                onMove={onMove}
                onFold={fold}
              />
            );
          })}
        </div>
      </div>
    </section>
  );
}
