import type { Size } from './to-graph';

export interface Box extends Size {
  readonly x: number;
  readonly y: number;
}
/** React Flow's viewport: a point of the graph stands at `point * zoom + (x, y)`, in px of the pane. */
export interface View {
  readonly x: number;
  readonly y: number;
  readonly zoom: number;
}

/** Text smaller than this part of its size could not be read. */
export const LEAST_ZOOM = 0.96;
const MOST_ZOOM = 1.25;

/**
 * The whole graph in the middle of its pane where it can be read at that size; else at the least zoom, `focus` in the
 * middle as far as the graph's own ends allow, or its beginning where there is none.
 */
export function fitted(pane: Size, graph: Size, focus: Box | undefined): View {
  const whole = Math.min(pane.width / graph.width, pane.height / graph.height);
  const zoom = Math.min(MOST_ZOOM, Math.max(LEAST_ZOOM, whole));
  const along = (room: number, length: number, middle: number) => {
    const spare = room - length * zoom;
    return spare >= 0 ? spare / 2 : Math.min(0, Math.max(spare, room / 2 - middle * zoom));
  };
  return {
    x: along(pane.width, graph.width, focus ? focus.x + focus.width / 2 : 0),
    y: along(pane.height, graph.height, focus ? focus.y + focus.height / 2 : 0),
    zoom,
  };
}

/** Room that the ring and the word at the cursor need around a state, in px of the graph. */
const AROUND = 14;

/** The same view, or the nearest one that shows `box` wholly. */
export function revealing(view: View, pane: Size, box: Box): View {
  const along = (room: number, at: number, from: number, length: number) => {
    const start = (from - AROUND) * view.zoom + at;
    const end = (from + length + AROUND) * view.zoom + at;
    if (start < 0) return at - start;
    return end > room ? at - (end - room) : at;
  };
  const x = along(pane.width, view.x, box.x, box.width);
  const y = along(pane.height, view.y, box.y, box.height);
  return x === view.x && y === view.y ? view : { x, y, zoom: view.zoom };
}
