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
