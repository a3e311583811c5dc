import type { Stored } from './values';

/** What code sees of the run's state: variables, conversation, visits. Shared by the scopes of one run. */
export interface View {
  readonly variables: Map<string, Stored>;
  readonly messages: Stored[];
  /** Visits so far by state. */
  readonly visits: Map<string, number>;
}

/** Before anything has happened. */
export const emptyView = (): View => ({ variables: new Map(), messages: [], visits: new Map() });

/** `name` as a JSON Pointer of one segment. */
export const pointerTo = (name: string): string => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
/** The name that `pointerTo` was given. */
export const nameAt = (pointer: string): string =>
  pointer.slice(1).replaceAll('~1', '/').replaceAll('~0', '~');
