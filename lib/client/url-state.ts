import {
  type inferParserType,
  parseAsArrayOf,
  parseAsInteger,
  parseAsString,
  parseAsStringLiteral,
} from 'nuqs';

/* What the address holds: selection, filters, open view. One table for each page. */

export const runStatuses = [
  'queued',
  'running',
  'waiting',
  'paused',
  'interrupted',
  'failed',
  'completed',
  'cancelled',
  'unknown',
] as const;

export const runsParams = {
  status: parseAsArrayOf(parseAsStringLiteral(runStatuses)).withDefault([]),
  agent: parseAsArrayOf(parseAsString).withDefault([]),
  tag: parseAsArrayOf(parseAsString).withDefault([]),
  q: parseAsString.withDefault(''),
  /** ISO 8601 instants. */
  from: parseAsString.withDefault(''),
  to: parseAsString.withDefault(''),
  sort: parseAsStringLiteral(['updated', 'created', 'agent', 'status'] as const).withDefault('updated'),
  order: parseAsStringLiteral(['desc', 'asc'] as const).withDefault('desc'),
};
export type RunsView = inferParserType<typeof runsParams>;

export const runParams = {
  /** The one cursor; absent means that it follows the head. */
  seq: parseAsInteger,
  show: parseAsStringLiteral(['all', 'effects', 'errors'] as const).withDefault('all'),
};
export type TreeFilter = 'all' | 'effects' | 'errors';

export const planModes = ['resume', 'fork', 'replay', 'rewind'] as const;
export const planParams = {
  mode: parseAsStringLiteral(planModes).withDefault('resume'),
  from: parseAsString.withDefault('latest'),
};

/** Address of a run's page, at a cursor where one is given. */
export const runHref = (runId: string, seq?: number): string =>
  `/runs/${encodeURIComponent(runId)}${seq === undefined ? '' : `?seq=${seq}`}`;
export const planHref = (runId: string, mode: (typeof planModes)[number], from?: string): string =>
  `/runs/${encodeURIComponent(runId)}/plan?mode=${mode}${from === undefined ? '' : `&from=${encodeURIComponent(from)}`}`;
