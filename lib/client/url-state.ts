import {
  type inferParserType,
  parseAsArrayOf,
  parseAsBoolean,
  parseAsInteger,
  parseAsString,
  parseAsStringLiteral,
} from 'nuqs';
import { auditActions } from '@/lib/core/journal/audit';
import { dispositions } from '@/lib/core/planner/plan';

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

const texts = parseAsArrayOf(parseAsString).withDefault([]);

/** Named as the API names them. */
export const runsFilterParams = {
  status: parseAsArrayOf(parseAsStringLiteral(runStatuses)).withDefault([]),
  agent: texts,
  notAgent: texts,
  tag: texts,
  notTag: texts,
  source: texts,
  notSource: texts,
  inDoubt: parseAsBoolean,
  attention: parseAsBoolean,
  q: parseAsString.withDefault(''),
  failure: parseAsString.withDefault(''),
  /** `90m`, `24h`, `7d` until now; `today`, since midnight in the zone that times are shown in. */
  within: parseAsString.withDefault(''),
  /** ISO 8601 instants. */
  from: parseAsString.withDefault(''),
  to: parseAsString.withDefault(''),
};
export type RunsFilter = inferParserType<typeof runsFilterParams>;

export const runsParams = {
  ...runsFilterParams,
  sort: parseAsStringLiteral(['created', 'updated', 'agent', 'status'] as const).withDefault('created'),
  order: parseAsStringLiteral(['desc', 'asc'] as const).withDefault('desc'),
};
export type RunsView = inferParserType<typeof runsParams>;

/** Address of the list with these filters; `''` is all runs. */
export const runsHref = (search: string): string => (search === '' ? '/runs' : `/runs?${search}`);

export const runParams = {
  /** The one cursor; absent means that it follows the head. */
  seq: parseAsInteger,
  show: parseAsStringLiteral(['all', 'effects', 'errors'] as const).withDefault('all'),
  /** What the tree's steps are searched for; null while the search is closed. */
  find: parseAsString,
  /** What the scrubber is drawn along. */
  axis: parseAsStringLiteral(['seq', 'time'] as const).withDefault('seq'),
  /** What the graph counts. */
  graph: parseAsStringLiteral(['cursor', 'whole'] as const).withDefault('cursor'),
};
export type TreeFilter = 'all' | 'effects' | 'errors';

export const planModes = ['resume', 'fork', 'replay', 'rewind'] as const;
/**
 * What a link to a plan may say: what is looked at. Decisions, edits and the reason are not in it: whoever opens a link
 * decides anew, and what was entered may be nobody else's to read.
 */
export const planParams = {
  mode: parseAsStringLiteral(planModes).withDefault('resume'),
  from: parseAsString.withDefault('latest'),
  /** The table is narrowed to these steps. */
  only: parseAsStringLiteral(dispositions),
};

/** Address of a run's page, at a cursor where one is given. */
export const runHref = (runId: string, seq?: number): string =>
  `/runs/${encodeURIComponent(runId)}${seq === undefined ? '' : `?seq=${seq}`}`;
export const planHref = (runId: string, mode: (typeof planModes)[number], from?: string): string =>
  `/runs/${encodeURIComponent(runId)}/plan?mode=${mode}${from === undefined ? '' : `&from=${encodeURIComponent(from)}`}`;

/** The frame's dialogs: `?open=palette&command=…`, `?open=keys`. Pages name other dialogs of theirs in `open`. */
export const frameDialogNames = ['palette', 'keys'] as const;
export type FrameDialogName = (typeof frameDialogNames)[number];

/** Dialogs of pages in `open`. One parser for all who read it: the address tells each of them the name that another set. */
export const openParam = parseAsStringLiteral(['upload', 'export', 'save-view', 'cancel'] as const);

/** `GET /api/v1/audit` as its page asks. */
export const auditParams = {
  actor: parseAsArrayOf(parseAsString).withDefault([]),
  action: parseAsArrayOf(parseAsStringLiteral(auditActions)).withDefault([]),
  run: parseAsString.withDefault(''),
  q: parseAsString.withDefault(''),
  /** ISO 8601 instants. */
  from: parseAsString.withDefault(''),
  to: parseAsString.withDefault(''),
};
export type AuditView = inferParserType<typeof auditParams>;
