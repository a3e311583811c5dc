'use client';

import { type KeyboardEvent, memo, type PointerEvent, useCallback, useEffect, useRef, useState } from 'react';
import { keepSize, keptSize } from './pane-sizes';

interface Range {
  readonly now: number;
  readonly least: number;
  readonly most: number;
}

interface Props {
  /** The pane is kept under this name in this browser. */
  readonly pane: string;
  readonly label: string;
  readonly orientation: 'vertical' | 'horizontal';
  /** 1 where the pane grows to the right or downwards, -1 where it grows the other way. */
  readonly grows: 1 | -1;
  /** Its size as it stands, and what it may be, in px. */
  readonly range: () => Range;
  /** Undefined is the size that the design gives it. */
  readonly onSize: (px: number | undefined) => void;
}

const STEP = 16;
const LEAP = 64;

const within = ({ least, most }: Range, px: number) => Math.round(Math.max(least, Math.min(most, px)));

/** Resizes a pane: dragged, or by the arrow keys, Home and End. A double click or ↵ gives the design's size back. */
export const Splitter = memo(function Splitter({ pane, label, orientation, grows, range, onSize }: Props) {
  const [shown, setShown] = useState<Range | undefined>(undefined);
  const drag = useRef<{ readonly from: number; readonly range: Range } | undefined>(undefined);
  const size = useCallback(
    (px: number | undefined) => {
      onSize(px);
      keepSize(pane, px);
      setShown(range());
    },
    [onSize, pane, range],
  );
  useEffect(() => {
    const kept = keptSize(pane);
    if (kept !== undefined) onSize(within(range(), kept));
    setShown(range());
  }, [pane, onSize, range]);

  const along = (event: PointerEvent) => (orientation === 'vertical' ? event.clientX : event.clientY);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.metaKey || event.ctrlKey || event.altKey) return;
    const now = range();
    const [less, more] = orientation === 'vertical' ? ['ArrowLeft', 'ArrowRight'] : ['ArrowUp', 'ArrowDown'];
    const by = (event.shiftKey ? LEAP : STEP) * grows;
    if (event.key === less) size(within(now, now.now - by));
    else if (event.key === more) size(within(now, now.now + by));
    else if (event.key === 'Home') size(now.least);
    else if (event.key === 'End') size(now.most);
    else if (event.key === 'Enter') size(undefined);
    else return;
    event.preventDefault();
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a separator that can be moved is no thematic break
    <div
      className="splitter"
      role="separator"
      tabIndex={0}
      aria-label={label}
      aria-orientation={orientation}
      aria-valuenow={shown?.now ?? 0}
      aria-valuemin={shown?.least ?? 0}
      aria-valuemax={shown?.most ?? 0}
      title={`${label} (drag, arrow keys; double click: as it was)`}
      onFocus={() => setShown(range())}
      onKeyDown={onKeyDown}
      onDoubleClick={() => size(undefined)}
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        drag.current = { from: along(event), range: range() };
      }}
      onPointerMove={(event) => {
        const { current } = drag;
        if (current) onSize(within(current.range, current.range.now + grows * (along(event) - current.from)));
      }}
      onPointerUp={(event) => {
        const { current } = drag;
        drag.current = undefined;
        if (current && along(event) !== current.from) size(range().now);
      }}
      onPointerCancel={() => {
        drag.current = undefined;
        setShown(range());
      }}
    />
  );
});
