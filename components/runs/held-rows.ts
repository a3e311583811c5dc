import type { RunSummary } from '@/lib/client/api-types';

/**
 * Rows as they stand on screen while newer answers come in: contents are renewed in place, order is held, so that
 * nothing moves under the pointer. What is new or would stand elsewhere is counted and shown on request.
 */
export interface HeldRows {
  /** Filters and sort that the order belongs to. */
  readonly view: string;
  readonly order: readonly string[];
  readonly rows: ReadonlyMap<string, RunSummary>;
  /** Newest answer, as ids. */
  readonly newest: readonly string[];
  /** Runs that were created after every one that is held. */
  readonly started: number;
  /** Other runs that are new here, gone or in another place. */
  readonly changed: number;
  /** Held ones that the newest answer does not have: what their rows say is not known to hold any more. */
  readonly gone: ReadonlySet<string>;
}

const fresh = (view: string, items: readonly RunSummary[]): HeldRows => ({
  view,
  order: items.map((run) => run.id),
  rows: new Map(items.map((run) => [run.id, run])),
  newest: items.map((run) => run.id),
  started: 0,
  changed: 0,
  gone: new Set(),
});

const newestOf = (rows: Iterable<RunSummary>): number => {
  let newest = Number.NEGATIVE_INFINITY;
  for (const { createdAt } of rows) newest = Math.max(newest, Date.parse(createdAt));
  return newest;
};

/**
 * `undefined` before the first answer. A new view takes its own order, as does one at whose rows nobody looks; rows
 * below the last held one are appended.
 */
export function hold(
  held: HeldRows | undefined,
  view: string,
  items: readonly RunSummary[],
  lookedAt = true,
): HeldRows {
  if (held === undefined || held.view !== view || held.order.length === 0 || !lookedAt)
    return fresh(view, items);
  const known = new Set<string>(held.order);
  const newest: readonly string[] = items.map((run) => run.id);
  const lastKnown = newest.findLastIndex((id) => known.has(id));
  const tail = newest.slice(lastKnown + 1);
  const order = lastKnown === -1 ? held.order : [...held.order, ...tail];
  const appended = new Set<string>(lastKnown === -1 ? [] : tail);
  const since = newestOf(order.flatMap((id) => held.rows.get(id) ?? []));
  const inserted = items.filter(({ id }) => !known.has(id) && !appended.has(id));
  const started = inserted.filter(({ createdAt }) => Date.parse(createdAt) > since).length;
  const others = inserted.length - started + gone(held.order, newest).size;
  const present = new Set(newest);
  const kept = order.filter((id) => present.has(id));
  const still = new Set(kept);
  const target = newest.filter((id) => still.has(id));
  const moved = target.filter((id, n) => kept[n] !== id).length;
  return {
    view,
    order,
    rows: new Map([...held.rows, ...items.map((run) => [run.id, run] as const)]),
    newest,
    started,
    changed: others + (started + others === 0 && moved > 0 ? 1 : 0),
    gone: gone(held.order, newest),
  };
}

function gone(order: readonly string[], newest: readonly string[]): ReadonlySet<string> {
  const present = new Set(newest);
  return new Set(order.filter((id) => !present.has(id)));
}

/** What is shown under a view: rows of another one while it is being read, and not where that failed. */
export const standing = (held: HeldRows | undefined, view: string, failed: boolean): HeldRows | undefined =>
  held !== undefined && (held.view === view || !failed) ? held : undefined;

/** The newest answer's order, at the person's request. */
export const release = (held: HeldRows): HeldRows => ({
  ...held,
  order: held.newest,
  started: 0,
  changed: 0,
  gone: new Set(),
});
