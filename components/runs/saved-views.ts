'use client';

import { kept } from '@/components/ui/kept';

/** A view of the person's own: a name, and the filters as the address holds them. */
export interface SavedView {
  readonly name: string;
  readonly search: string;
}

export const MOST_VIEWS = 30;
export const MOST_NAME = 40;

const isView = (found: unknown): found is SavedView =>
  typeof found === 'object' &&
  found !== null &&
  'name' in found &&
  'search' in found &&
  typeof found.name === 'string' &&
  typeof found.search === 'string';

export const savedViews = kept<readonly SavedView[]>('rerail.views', [], (found) =>
  Array.isArray(found)
    ? found.filter(isView).map(({ name, search }) => ({ name: name.slice(0, MOST_NAME), search }))
    : undefined,
);

type Views = readonly SavedView[];

/** Why a view cannot have this name; undefined where it can. `renamed` is the one that gets it. */
export function refusedName(
  views: Views,
  name: string,
  taken: readonly string[],
  renamed?: string,
): string | undefined {
  const wanted = name.trim().toLowerCase();
  if (wanted === '') return 'A view needs a name';
  if (taken.some((other) => other.toLowerCase() === wanted))
    return `There is a view named ${name.trim()} already`;
  if (views.some((view) => view.name !== renamed && view.name.toLowerCase() === wanted))
    return `There is a view named ${name.trim()} already`;
  return renamed === undefined && views.length >= MOST_VIEWS
    ? `There are ${MOST_VIEWS} views already; delete one first`
    : undefined;
}

export const withView = (views: Views, view: SavedView): Views => [...views, view];
export const renamed = (views: Views, from: string, to: string): Views =>
  views.map((view) => (view.name === from ? { ...view, name: to.trim() } : view));
export const withoutView = (views: Views, name: string): Views => views.filter((view) => view.name !== name);

/** The view one place further to the front (-1) or to the back (1); at the end it stays. */
export function movedView(views: Views, name: string, by: -1 | 1): Views {
  const from = views.findIndex((view) => view.name === name);
  const to = from + by;
  const moved = views[from];
  if (moved === undefined || to < 0 || to >= views.length) return views;
  const rest = withoutView(views, name);
  return [...rest.slice(0, to), moved, ...rest.slice(to)];
}
