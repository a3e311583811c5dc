import type { EpochMs } from '@/lib/core/events/ids';

/** ISO 8601 in UTC. */
export const iso = (at: EpochMs): string => new Date(at).toISOString();
export const isoOrNull = (at: EpochMs | undefined): string | null => (at === undefined ? null : iso(at));
/** `wire` has null where core has nothing. */
export const orNull = <Value>(value: Value | undefined): Value | null => value ?? null;

/** A list that is given whole. */
export const whole = <Item>(items: readonly Item[]) => ({
  items: [...items],
  total: items.length,
  nextCursor: null,
});
