import { describe, expect, it } from 'vitest';
import { fitted, LEAST_ZOOM, revealing } from './view';

const pane = { width: 500, height: 400 };
const node = (y: number) => ({ x: 100, y, width: 160, height: 44 });

describe('the view of a graph', () => {
  it('shows all of it in the middle where it can be read', () => {
    expect(fitted(pane, { width: 250, height: 400 }, node(0))).toEqual({ x: 125, y: 0, zoom: 1 });
    expect(fitted(pane, { width: 100, height: 100 }, undefined)).toEqual({ x: 187.5, y: 137.5, zoom: 1.25 });
  });

  it('is never smaller than can be read: the cursor in the middle, and no empty room beyond its ends', () => {
    const tall = { width: 250, height: 1_000 };
    const at = (y: number) => fitted(pane, tall, node(y));
    expect(at(478)).toEqual({ x: (500 - 250 * LEAST_ZOOM) / 2, y: 200 - 500 * LEAST_ZOOM, zoom: LEAST_ZOOM });
    expect([at(0).y, at(956).y]).toEqual([0, 400 - 1_000 * LEAST_ZOOM]);
    expect(fitted(pane, tall, undefined).y).toBe(0);
  });

  it('moves no further than shows a state wholly, and not at all where it is shown', () => {
    const view = { x: 0, y: 0, zoom: 1 };
    expect(revealing(view, pane, node(100))).toBe(view);
    expect(revealing(view, pane, node(400))).toEqual({ x: 0, y: -58, zoom: 1 });
    expect(revealing({ x: 0, y: -300, zoom: 1 }, pane, node(100))).toEqual({ x: 0, y: -86, zoom: 1 });
  });
});
