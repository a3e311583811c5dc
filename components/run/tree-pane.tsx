'use client';

import { defaultRangeExtractor, type Range, useVirtualizer } from '@tanstack/react-virtual';
import { useQueryStates } from 'nuqs';
import {
  type KeyboardEvent,
  memo,
  useCallback,
  useDeferredValue,
  useEffect,
  useEffectEvent,
  useLayoutEffect,
  useMemo,
  useReducer,
  useRef,
  useState,
} from 'react';
import { Button } from '@/components/ui/button';
import { clock, duration, moment, plural, seen, whole, zoneAt } from '@/components/ui/format';
import { Glyph } from '@/components/ui/glyph';
import type { MarkView } from '@/components/ui/mark';
import { EmptyNote, ProblemNote, Skeleton } from '@/components/ui/problem-note';
import { useZone } from '@/components/ui/zone';
import type { CheckpointRow, GraphAt, RunSummary, StepRow } from '@/lib/client/api-types';
import type { Span } from '@/lib/client/step-windows';
import { runParams, type TreeFilter } from '@/lib/client/url-state';
import type { RunEvent } from '@/lib/core/events/run-event';
import { checkpointInShort, shortNumbers } from './checkpoint-words';
import { EffectTag } from './effect-tag';
import { FindField } from './find-field';
import { lastUpTo } from './moves';
import { goesOn } from './run-words';
import {
  type AheadState,
  type BreakRow,
  barWidths,
  breaksOf,
  type FailedAttempt,
  heightOf,
  type IdleRow,
  isPlace,
  rowTops,
  type StepTreeRow,
  type TreePlace,
  type TreeRow,
  treePlaces,
  treeRows,
} from './tree-rows';
import type { Move } from './use-cursor';
import { kindGlyph, runStatusView, stepView } from './views';

interface Props {
  readonly run: RunSummary;
  readonly steps: readonly StepRow[] | undefined;
  readonly total: number;
  readonly visits: readonly GraphAt['visits'][number][];
  readonly checkpoints: readonly CheckpointRow[];
  /** Where the run stopped, as the journal tells. */
  readonly stops: readonly RunEvent[];
  readonly failures: readonly FailedAttempt[];
  /** What is held of the steps. */
  readonly spans: readonly Span[];
  /** Whether the steps are those that came with the page: some around the cursor, for the moment. */
  readonly opening: boolean;
  readonly onFill: (seq: number) => void;
  /** Reads every step; undefined while that is under way. */
  readonly onFillAll: (() => void) | undefined;
  /** What the machine declares and the run has not entered. */
  readonly ahead: readonly AheadState[];
  /** The steps could not be read. */
  readonly problem: { readonly detail: string; readonly again: () => void } | undefined;
  readonly seq: number;
  readonly onMove: Move;
}

const DAY_MS = 86_400_000;
const WHOLE = 100;
const filters: readonly { readonly value: TreeFilter; readonly word: string }[] = [
  { value: 'all', word: 'All' },
  { value: 'effects', word: 'Effects' },
  { value: 'errors', word: 'Errors' },
];

const breakView = {
  Interrupted: runStatusView.interrupted,
  Failed: runStatusView.failed,
  Cancelled: runStatusView.cancelled,
} as const satisfies Record<BreakRow['word'], MarkView>;

/** The rows that the cursor can stand in, in the order in which they began; of two that began together, the lower one last. */
const placesIn = (rows: readonly TreeRow[]) =>
  rows
    .flatMap((row, index) => (isPlace(row) ? [{ seq: row.fromSeq, index }] : []))
    .sort((a, b) => a.seq - b.seq);

/** The gutter's diamond: a press takes the cursor to the newest of its checkpoints. */
function Pin({
  checkpoints,
  onMove,
}: {
  readonly checkpoints: readonly CheckpointRow[];
  readonly onMove: Move;
}) {
  const newest = checkpoints.at(-1);
  if (newest === undefined) return <span className="pin" />;
  return (
    <button
      type="button"
      tabIndex={-1}
      className="pin"
      title={checkpoints.map(checkpointInShort).join('\n')}
      aria-label={`Go to ${checkpointInShort(newest)}`}
      onClick={(event) => {
        event.stopPropagation();
        onMove(newest.seq, 'jump');
      }}
    >
      <Glyph name="checkpoint" />
      {shortNumbers(
        checkpoints.map(({ n }) => n),
        1,
      )}
    </button>
  );
}

/** One part for each attempt, log scale; a failed one is hatched. */
function Bars({ row }: { readonly row: StepTreeRow }) {
  const segments =
    row.segments.length > 0
      ? row.segments
      : row.durationMs === undefined
        ? []
        : [{ ms: row.durationMs, failed: row.step.status === 'failed' }];
  const widths = barWidths(segments.map(({ ms }) => ms));
  return (
    <span
      className="bars"
      title={
        segments.length > 1
          ? segments
              .map(
                ({ ms, failed }, n) =>
                  `Attempt ${n + 1}${failed ? ' failed after' : ' took'} ${duration(ms)}`,
              )
              .join('\n')
          : undefined
      }
    >
      {segments.map(({ failed }, n) => (
        <span
          // biome-ignore lint/suspicious/noArrayIndexKey: attempts only grow
          key={n}
          className="bar"
          data-tone={failed ? 'bad' : undefined}
          style={{ width: widths[n] }}
        />
      ))}
    </span>
  );
}

function StepContent({
  row,
  runStatus,
  onMove,
}: {
  readonly row: StepTreeRow;
  readonly runStatus: RunSummary['status'];
  readonly onMove: Move;
}) {
  const { step } = row;
  const status = stepView(step.status, runStatus);
  const quiet = step.status === 'completed';
  return (
    <>
      <Pin checkpoints={row.checkpoints} onMove={onMove} />
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
          <Bars row={row} />
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

/** A stretch in which nothing ran: how long, or from when to when. */
function Idle({ row, onFold }: { readonly row: IdleRow; readonly onFold: (id: string) => void }) {
  const zone = useZone();
  const { fromAt, toAt } = row;
  const span = `${moment(fromAt, zone)} → ${moment(toAt, zone)}`;
  const short = `${clock(fromAt, zone)} → ${clock(toAt, zone)} ${zoneAt(toAt, zone)}`;
  return (
    <button
      type="button"
      aria-expanded={row.open}
      title={row.open ? 'Fold' : span}
      onClick={(event) => {
        event.stopPropagation();
        onFold(row.id);
      }}
    >
      <Glyph name="fold" />
      {row.open
        ? toAt - fromAt > DAY_MS
          ? span
          : short
        : `${duration(row.ms)} idle${row.why ? `, ${row.why}` : ''}`}
    </button>
  );
}

function RowContent({
  row,
  runStatus,
  onFold,
  onFill,
  onMove,
}: {
  readonly onFill: (seq: number) => void;
  readonly row: TreeRow;
  readonly runStatus: RunSummary['status'];
  readonly onFold: (id: string) => void;
  readonly onMove: Move;
}) {
  switch (row.kind) {
    case 'idle':
      return (
        <div className="tree-idle">
          <Idle row={row} onFold={onFold} />
        </div>
      );
    case 'hole':
      return (
        <div className="tree-idle">
          <button
            type="button"
            onClick={(event) => {
              event.stopPropagation();
              onFill(row.fromSeq + FORWARD);
            }}
          >
            <Glyph name="chevron-down" />
            seq {whole(row.fromSeq)} to {whole(row.toSeq)} not loaded: load on
          </button>
        </div>
      );
    case 'ahead-head':
      return (
        <div className="tree-head">
          <button
            type="button"
            aria-expanded={row.open}
            onClick={(event) => {
              event.stopPropagation();
              onFold(row.id);
            }}
          >
            <Glyph name={row.open ? 'chevron-down' : 'chevron-right'} />
            Not reached, from the machine{row.open ? '' : `: ${plural(row.states, 'state')}`}
          </button>
        </div>
      );
    case 'ahead':
      return (
        <div className={`tree-row ${row.tool ? 'tree-step' : 'tree-visit'}`}>
          <span className="pin" />
          <span className="name">
            <Glyph name={row.tool ? 'k-tool' : 's-unreached'} />
            <code>{row.name}</code>
          </span>
          <span className="aside third">
            {row.tool ? (
              row.tool.effect === 'external' ? (
                <EffectTag effect="external" />
              ) : row.tool.effect === 'idempotent' ? (
                <Glyph name="e-idempotent" />
              ) : null
            ) : (
              row.tools > 0 && `may call ${plural(row.tools, 'tool')}`
            )}
          </span>
          <span className="bars" />
          <span className="dur">–</span>
        </div>
      );
    case 'visit':
      return (
        <div className="tree-row tree-visit">
          <Pin checkpoints={row.checkpoints} onMove={onMove} />
          <span className="name">
            <button
              type="button"
              tabIndex={-1}
              aria-label={`${row.open ? 'Fold' : 'Unfold'} ${row.state}, visit ${row.visit}`}
              onClick={(event) => {
                event.stopPropagation();
                if (row.held === 'none') onFill(row.fromSeq + FORWARD);
                else onFold(row.id);
              }}
            >
              <Glyph name={row.open ? 'chevron-down' : 'chevron-right'} />
            </button>
            <code>{row.state}</code> <span className="visit">visit {row.visit}</span>
          </span>
          <span className="aside third">
            {!row.inForce
              ? 'left behind'
              : row.held === 'all'
                ? plural(row.steps, 'step')
                : row.held === 'some'
                  ? `${whole(row.steps)} loaded`
                  : 'not loaded'}
          </span>
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
        <div className="tree-break" data-tone={breakView[row.word].tone}>
          <Glyph name={breakView[row.word].glyph} />
          <span className="clip" title={row.sentence}>
            <strong>{row.word}</strong> {row.sentence}
          </span>
        </div>
      );
    case 'step':
      return (
        <div className="tree-row tree-step">
          <StepContent row={row} runStatus={runStatus} onMove={onMove} />
        </div>
      );
  }
}

/** A window is read around a seq: this far behind a gap's beginning, it begins with the gap. */
const FORWARD = 1;
/** Room above the first row, and how high the visit is that stays at the top, in px. */
const PADDING = 4;
const STUCK = 24;
/** Room below the last row. */
const FOOT = 20;

/**
 * As margin of rows in the flow: so that the row which ends at `end` is the last in sight. Where nothing comes above them,
 * they do not begin below the pane's top.
 */
const pulledUp = (end: number, hasMoreAbove: boolean): string =>
  hasMoreAbove ? `calc(100cqh - ${end}px)` : `min(0px, 100cqh - ${end}px)`;

/** A row, and how far below the pane's top it stands. */
interface Anchor {
  readonly id: string;
  readonly below: number;
}

/** How far the pane is scrolled, at most `most`, where the first of these that is still there stands as it stood. */
function placeKept(
  anchors: readonly Anchor[],
  rows: readonly TreeRow[],
  tops: Float64Array,
  most: number,
): number | undefined {
  for (const { id, below } of anchors) {
    const top = tops[rows.findIndex((row) => row.id === id)];
    if (top !== undefined) return Math.max(0, Math.min(top - below, most));
  }
  return undefined;
}

/** Index of the newest visit's row at or before `index`; -1 where there is none. */
function lastVisit(rows: readonly TreeRow[], index: number): number {
  for (let n = index; n >= 0; n -= 1) {
    const kind = rows[n]?.kind;
    if (kind === 'visit') return n;
    // What is not reached is of no visit.
    if (kind === 'ahead-head') return -1;
  }
  return -1;
}

function nearest(
  rows: readonly TreeRow[],
  from: number,
  by: 1 | -1,
  is: (row: TreeRow) => boolean,
): TreeRow | undefined {
  for (let n = from + by; n >= 0 && n < rows.length; n += by) {
    const row = rows[n];
    if (row && is(row)) return row;
  }
  return undefined;
}

const isLeftBehind = (row: TreeRow) =>
  (row.kind === 'step' && !row.step.inForce) || (row.kind === 'visit' && !row.inForce);

const nameOf = (row: TreeRow, runStatus: RunSummary['status']): string => {
  switch (row.kind) {
    case 'visit':
      return `${row.state}, visit ${row.visit}`;
    case 'branch':
      return `Branch ${row.label}`;
    case 'hole':
      return `Steps of seq ${row.fromSeq} to ${row.toSeq}, not loaded`;
    case 'idle':
      return `${duration(row.ms)} idle${row.why ? `, ${row.why}` : ''}`;
    case 'ahead-head':
      return `Not reached, from the machine: ${plural(row.states, 'state')}`;
    case 'ahead':
      return row.tool ? `Tool ${row.name}, not reached` : `State ${row.name}, not reached`;
    case 'break':
      return row.sentence === '' ? row.word : `${row.word}: ${row.sentence}`;
    case 'step':
      return [
        row.step.name + row.occurrence,
        row.step.kind,
        row.step.effect ?? undefined,
        stepView(row.step.status, runStatus).word.toLowerCase(),
        row.step.inForce ? undefined : 'left behind',
      ]
        .filter(Boolean)
        .join(', ');
  }
};

interface ItemProps {
  readonly row: TreeRow;
  readonly runStatus: RunSummary['status'];
  readonly index: number;
  readonly place: TreePlace | undefined;
  readonly isCursor: boolean;
  readonly isFocusable: boolean;
  readonly isLater: boolean;
  /** Place from the top in px, where the list is virtualised; `sticky` for the visit that the rows in sight are of. */
  readonly top: number | 'sticky' | undefined;
  readonly onMove: Move;
  readonly onFold: (id: string) => void;
  readonly onFill: (seq: number) => void;
}

const TreeItem = memo(function TreeItem(props: ItemProps) {
  const { row, runStatus, index, place, isCursor, isFocusable, isLater, top, onMove, onFold, onFill } = props;
  return (
    <div
      role="treeitem"
      data-row={index}
      aria-level={place?.level}
      aria-posinset={place?.position}
      aria-setsize={place?.of}
      aria-expanded={
        row.kind === 'visit' || row.kind === 'ahead-head' || row.kind === 'idle' ? row.open : undefined
      }
      aria-selected={isCursor}
      aria-label={nameOf(row, runStatus)}
      tabIndex={isFocusable ? 0 : -1}
      data-cursor={isCursor ? '' : undefined}
      data-later={isLater ? '' : undefined}
      data-left={isLeftBehind(row) ? '' : undefined}
      data-kind={row.kind}
      style={typeof top === 'number' ? { position: 'absolute', top, left: 0, right: 0 } : undefined}
      onClick={() => isPlace(row) && onMove(row.fromSeq, 'jump')}
      onKeyDown={(event) => {
        if (event.key === 'Enter' && event.target === event.currentTarget && isPlace(row))
          onMove(row.fromSeq, 'jump');
      }}
    >
      <RowContent row={row} runStatus={runStatus} onFold={onFold} onFill={onFill} onMove={onMove} />
    </div>
  );
});

const treeParams = { show: runParams.show, find: runParams.find };

export function TreePane(props: Props) {
  const {
    run,
    steps,
    total,
    visits,
    checkpoints,
    stops,
    failures,
    ahead,
    spans,
    opening,
    problem,
    seq,
    onMove,
    onFill,
    onFillAll,
  } = props;
  const [{ show, find }, setParams] = useQueryStates(treeParams, { history: 'replace' });
  const wanted = (useDeferredValue(find) ?? '').trim().toLowerCase();
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
        goesOn: goesOn(run.status),
        find: wanted,
        folded,
        failures,
        ahead,
        spans,
      }),
    [steps, visits, checkpoints, run, stops, show, wanted, folded, failures, ahead, spans],
  );
  const matches = wanted === '' ? undefined : rows.filter((row) => row.kind === 'step').length;
  const places = useMemo(() => treePlaces(rows, opening), [rows, opening]);
  const tops = useMemo(() => rowTops(rows, PADDING), [rows]);
  const standable = useMemo(() => placesIn(rows), [rows]);
  /** The row that the cursor stands in: the last one that had begun. */
  const cursor = standable[lastUpTo(standable, seq)]?.index ?? -1;
  // No HTML can say how far a pane is scrolled. Rows that come with it stand in the flow, pulled up as far as it would
  // be, until the page has taken over and scrolls it there.
  const [isPulled, setPulled] = useState(opening);
  /** Of the pane, when it was first there: its height, how far its rows were pulled up, or how much room they left above. */
  const first = useRef<{ readonly height: number; readonly top?: number; readonly room: number }>({
    height: 0,
    room: 0,
  });
  const hasMoreAbove = opening && (spans[1]?.[0] ?? 0) > 0;
  const room = hasMoreAbove ? first.current.room : 0;
  const virtualised = !isPulled && (rows.length > WHOLE || (opening && spans.length > 1));
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: (n) => heightOf(rows[n]),
    paddingStart: PADDING,
    // Below the visit that stays at the top.
    scrollPaddingStart: STUCK,
    overscan: 12,
    // Measured once, when the page has taken over: the browser would lay it out for that.
    enabled: !isPulled,
    // Begins where the cursor's row is in sight, instead of being drawn from the top and then scrolled there.
    initialRect: { width: 0, height: first.current.height },
    initialOffset: () => first.current.top ?? Math.max(0, (tops[cursor + 1] ?? 0) - first.current.height),
    // The row that takes the focus is always there, wherever the tree was scrolled to.
    rangeExtractor: (range: Range) => {
      const held = Math.max(0, cursor);
      const above = lastVisit(rows, range.startIndex);
      const kept = above < 0 ? [held] : [held, above];
      return [...new Set([...kept, ...defaultRangeExtractor(range)])].sort((a, b) => a - b);
    },
  });
  // Rows that come in above what is in sight push nothing away under the pointer: what was pressed last stays where it
  // is until the tree is scrolled, else its topmost row; where that went, the cursor's.
  const pressed = useRef<string | undefined>(undefined);
  const anchors = useRef<readonly Anchor[]>([]);
  const [, drawAgain] = useReducer((times: number) => times + 1, 0);
  const visible = virtualised ? virtual.getVirtualItems() : rows.map((_, index) => ({ index, start: 0 }));
  /** The visit that the topmost row in sight is of. */
  const stuck = virtualised && virtual.range !== null ? lastVisit(rows, virtual.range.startIndex) : -1;

  useLayoutEffect(() => {
    const [pane, list] = [scroller.current, tree.current];
    if (pane === null || list === null) return;
    if (isPulled) {
      const top = pane.getBoundingClientRect().top - list.getBoundingClientRect().top;
      first.current = { height: pane.clientHeight, top: Math.max(0, top), room: Math.max(0, -top) };
      setPulled(false);
      return;
    }
    if (first.current.top !== undefined) pane.scrollTop = first.current.top;
    first.current = { height: pane.clientHeight, room: first.current.room };
  }, [isPulled]);

  const keepPlace = useEffectEvent(() => {
    const most = (tops[rows.length] ?? 0) + FOOT - (virtual.scrollRect?.height ?? 0);
    const kept = placeKept(anchors.current, rows, tops, most);
    if (kept === undefined) return;
    scroller.current?.scrollTo({ top: kept });
    if (!virtualised || virtual.scrollOffset === kept) return;
    // The pane tells that it was scrolled only after it is painted: the rows of the new place are drawn before.
    virtual.scrollOffset = kept;
    drawAgain();
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: other rows may push those in sight away
  useLayoutEffect(() => keepPlace(), [rows]);
  const hold = () => {
    const { range, scrollOffset: offset } = virtual;
    const held = virtualised && range !== null && offset !== null ? { range, offset } : undefined;
    if (held === undefined) {
      anchors.current = [];
      return;
    }
    const { height = 0 } = virtual.scrollRect ?? {};
    const inSight = (tops[cursor] ?? -1) >= held.offset && (tops[cursor + 1] ?? 0) <= held.offset + height;
    // Where little of the run is held, what stands between the topmost row and the cursor's may become more.
    const chosen = opening && inSight ? [cursor] : [];
    const places = [
      pressed.current === undefined ? -1 : rows.findIndex(({ id }) => id === pressed.current),
      ...chosen,
      held.range.startIndex,
      cursor,
    ];
    anchors.current = places.flatMap((n) => {
      const [row, top] = [rows[n], tops[n]];
      return row && top !== undefined ? [{ id: row.id, below: room + top - held.offset }] : [];
    });
  };
  useLayoutEffect(hold);

  // The tree's scroll position follows the cursor, wherever it was moved from.
  const reveal = useEffectEvent((index: number) => {
    const hasFocus = tree.current?.contains(document.activeElement) === true;
    // In sight by what the virtualiser knows: asking the browser would make it lay out the page for each move.
    const top = virtual.scrollOffset ?? 0;
    const inSight =
      (tops[index] ?? 0) >= top + (index === 0 ? 0 : STUCK) &&
      (tops[index + 1] ?? 0) <= top + (virtual.scrollRect?.height ?? 0);
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
    const from = row?.fromSeq ?? 0;
    const up = nearest(rows, cursor, -1, (each) => isPlace(each) && each.fromSeq < from);
    const down = nearest(rows, cursor, 1, (each) => isPlace(each) && each.fromSeq > from);
    if (event.shiftKey || event.metaKey || event.ctrlKey) return;
    if (event.key === 'ArrowDown' && down) onMove(down.fromSeq, 'slide');
    else if (event.key === 'ArrowUp' && up) onMove(up.fromSeq, 'slide');
    else if (event.key === 'ArrowLeft' && row?.kind === 'visit' && row.open) fold(row.id);
    else if (event.key === 'ArrowRight' && row?.kind === 'visit' && row.held === 'none')
      onFill(row.fromSeq + FORWARD);
    else if (event.key === 'ArrowRight' && row?.kind === 'visit' && !row.open) fold(row.id);
    else return;
    event.preventDefault();
  };

  return (
    <section className="pane" aria-label="Timeline">
      <div className="pane-head">
        <h2>Timeline</h2>
        <span className="third small clip" role="status">
          {matches !== undefined
            ? `${whole(matches)} of ${plural(total, 'step')}`
            : steps !== undefined && steps.length < total
              ? `${whole(steps.length)} of ${plural(total, 'step')}`
              : plural(total, 'step')}
        </span>
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
          glyph="search"
          label="Find in this run"
          title="Find in this run (/)"
          onPress={() => void setParams({ find: find === null ? '' : null })}
        />
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
      {find !== null && (
        <FindField
          text={find}
          onText={(text) => void setParams({ find: text })}
          onNext={(by) => {
            const to = nearest(rows, cursor, by, (row) => row.kind === 'step');
            if (to) onMove(to.fromSeq, 'jump');
          }}
          onClose={() => void setParams({ find: null })}
        />
      )}
      <div
        ref={scroller}
        className="scroll grow tree-pane"
        onWheel={() => {
          pressed.current = undefined;
        }}
      >
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
        {spans.length > 1 && (show !== 'all' || wanted !== '') && (
          <p className="section small second" role="status">
            Among the {whole(steps?.length ?? 0)} loaded steps of {whole(total)}.{' '}
            <Button
              size="small"
              reason={onFillAll === undefined ? 'They are being loaded' : undefined}
              onPress={() => onFillAll?.()}
            >
              {onFillAll === undefined ? 'Loading all …' : `Load all ${whole(total)}`}
            </Button>
          </p>
        )}
        {steps === undefined && !problem && <Skeleton rows={10} />}
        {steps && rows.length === 0 && (
          <EmptyNote
            title={
              wanted !== ''
                ? `No step matches “${seen(wanted)}”`
                : show === 'all'
                  ? 'No steps yet'
                  : show === 'effects'
                    ? 'No step of this run is an effect'
                    : 'No step failed'
            }
          >
            {(show !== 'all' || wanted !== '') && (
              <Button size="small" onPress={() => void setParams({ show: 'all', find: null })}>
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
          onPointerDown={({ target }) => {
            const at =
              target instanceof Element
                ? target.closest<HTMLElement>('[data-row]')?.dataset['row']
                : undefined;
            pressed.current = at === undefined ? undefined : rows[Number(at)]?.id;
            hold();
          }}
          onKeyDown={onKeyDown}
          style={
            virtualised
              ? { height: virtual.getTotalSize() + FOOT, marginTop: room }
              : isPulled
                ? { marginTop: pulledUp(tops[cursor + 1] ?? 0, hasMoreAbove) }
                : undefined
          }
        >
          {visible.map(({ index, start }) => {
            const row = rows[index];
            if (!row) return null;
            return (
              <TreeItem
                key={row.id}
                row={row}
                runStatus={run.status}
                index={index}
                place={places[index]}
                isCursor={index === cursor}
                isFocusable={index === Math.max(0, cursor)}
                isLater={row.fromSeq > seq}
                top={!virtualised ? undefined : index === stuck ? 'sticky' : start}
                onMove={onMove}
                onFold={fold}
                onFill={onFill}
              />
            );
          })}
        </div>
      </div>
    </section>
  );
}
