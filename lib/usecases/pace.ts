/** So long work may go on before others get their turn. */
const TURN_MS = 15;

/**
 * For work that is longer than a turn of the event loop may be: awaited between its parts, the returned function lets
 * others go first where a turn's time is over. A loop that stands still lets leases lapse.
 */
export function pace(): () => Promise<void> {
  let since = performance.now();
  return async () => {
    if (performance.now() - since < TURN_MS) return;
    await new Promise<void>((resolve) => setImmediate(resolve));
    since = performance.now();
  };
}

/** Consecutive parts of at most `size` items. */
export function* slices<Item>(items: readonly Item[], size: number): Generator<readonly Item[]> {
  for (let at = 0; at < items.length; at += size) yield items.slice(at, at + size);
}
