import type { RunRecord } from '@/lib/core/projections/records';

/*
 * What of a run can be searched. Pure, and shared by every store (the memory store of the tests too), so that one
 * filter finds the same runs everywhere.
 */

/** `cause: type: message` of the run's failure; empty where it has not failed. */
export function failureText(run: RunRecord): string {
  const failure = run.state.failure;
  return failure === undefined ? '' : `${failure.cause}: ${failure.error.type}: ${failure.error.message}`;
}

/** Lower-cased id, agent, tags and failure, one a line. */
export const searchText = (run: RunRecord): string =>
  [run.runId, run.state.agent, ...run.state.tags, failureText(run)].join('\n').toLowerCase();
