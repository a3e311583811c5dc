/* The run page's panes: how small they may become, so that none is lost at 1280 × 720. */

export type Pane = 'tree' | 'inspector';

const LEAST = { tree: 260, inspector: 320, graph: 260 } as const;

/** Of one side pane in an instrument so wide, beside the other one: the least and the most that it may take, in px. */
export const paneRange = (
  pane: Pane,
  room: number,
  other: number,
): { readonly least: number; readonly most: number } => ({
  least: LEAST[pane],
  // Two splitters of a pixel stand between the panes.
  most: Math.max(LEAST[pane], Math.floor(room - 2 - other - LEAST.graph)),
});

/** The scrubber, its bar included. */
export const SCRUBBER = { least: 126, usual: 154, most: 340 } as const;
