'use client';

import { useMemo, useRef } from 'react';
import { type Pane, paneRange } from './panes';

/** Sizes of the side panes, as custom properties of the instrument: a drag lays out the page and draws nothing anew. */
export function usePanes() {
  const box = useRef<HTMLDivElement>(null);
  return useMemo(() => {
    const width = (pane: Pane) => {
      const { children = [] } = box.current ?? {};
      const found = pane === 'tree' ? children[0] : children[children.length - 1];
      return Math.round(found?.getBoundingClientRect().width ?? 0);
    };
    const range = (pane: Pane) => () => ({
      now: width(pane),
      ...paneRange(
        pane,
        box.current?.getBoundingClientRect().width ?? 0,
        width(pane === 'tree' ? 'inspector' : 'tree'),
      ),
    });
    const size = (pane: Pane) => (px: number | undefined) => {
      if (px === undefined) box.current?.style.removeProperty(`--pane-${pane}`);
      else box.current?.style.setProperty(`--pane-${pane}`, `${px}px`);
    };
    return {
      box,
      treeRange: range('tree'),
      sizeTree: size('tree'),
      inspectorRange: range('inspector'),
      sizeInspector: size('inspector'),
    };
  }, []);
}
