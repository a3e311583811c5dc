import type { RunRecord } from '@/lib/core/projections/records';
import type { RunPageAsk } from '@/lib/usecases/ports';

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

/** Where the next page of a list begins: after the row with this sort value and insertion number. */
export interface RunCursor {
  readonly value: number | string;
  readonly key: number;
}

export const encodeCursor = (cursor: RunCursor): string =>
  Buffer.from(JSON.stringify([cursor.value, cursor.key])).toString('base64url');

/** `undefined` where the text is not a cursor of a list sorted so: the list then starts at its beginning. */
export function decodeCursor(text: string | undefined, sort: RunPageAsk['sort']): RunCursor | undefined {
  if (text === undefined) return undefined;
  try {
    const parsed: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    if (!Array.isArray(parsed)) return undefined;
    const [value, key]: readonly unknown[] = parsed;
    const byTime = sort === 'updated' || sort === 'created';
    if (byTime ? !isInteger(value) : typeof value !== 'string') return undefined;
    return isInteger(key) && (isInteger(value) || typeof value === 'string') ? { value, key } : undefined;
  } catch {
    return undefined;
  }
}

const isInteger = (value: unknown): value is number => Number.isSafeInteger(value);
