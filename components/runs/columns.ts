'use client';

import { kept } from '@/components/ui/kept';
import type { RunsView } from '@/lib/client/url-state';

/* The list's columns. Status and run are always there: they say which run it is and how it stands. */

export const columnNames = [
  'status',
  'agent',
  'run',
  'state',
  'steps',
  'doubt',
  'started',
  'updated',
  'duration',
  'tokens',
  'cost',
  'engine',
  'tags',
] as const;
export type ColumnName = (typeof columnNames)[number];

export interface Column {
  readonly name: ColumnName;
  readonly title: string;
  /** Absent: what is left. */
  readonly width?: number;
  readonly sort?: RunsView['sort'];
  readonly num?: true;
  /** It cannot be left out. */
  readonly fixed?: true;
}

export const columns: readonly Column[] = [
  { name: 'status', title: 'Status', width: 114, sort: 'status', fixed: true },
  { name: 'agent', title: 'Agent', width: 124, sort: 'agent' },
  { name: 'run', title: 'Run', width: 174, fixed: true },
  { name: 'state', title: 'Current state' },
  { name: 'steps', title: 'Steps', width: 80 },
  { name: 'doubt', title: 'In doubt', width: 64 },
  { name: 'started', title: 'Started', width: 66, sort: 'created', num: true },
  { name: 'updated', title: 'Updated', width: 70, sort: 'updated', num: true },
  { name: 'duration', title: 'Duration', width: 82, num: true },
  { name: 'tokens', title: 'Tokens', width: 56, num: true },
  { name: 'cost', title: 'Cost', width: 62, num: true },
  { name: 'engine', title: 'Engine', width: 94 },
  { name: 'tags', title: 'Tags', width: 150 },
];

const usual: readonly ColumnName[] = columnNames.filter((name) => name !== 'updated' && name !== 'tags');

const isName = (found: unknown): found is ColumnName => columnNames.some((name) => name === found);

/** What this browser shows where the address does not say; `[]` until something was chosen. */
export const keptColumns = kept<readonly ColumnName[]>('rerail.columns', [], (found) =>
  Array.isArray(found) ? found.filter(isName) : undefined,
);

/** The columns to show, in their order: as the address says, else as this browser keeps them, else the usual ones. */
export function shownColumns(
  asked: readonly ColumnName[] | null,
  chosen: readonly ColumnName[],
): readonly Column[] {
  const names = new Set(asked !== null && asked.length > 0 ? asked : chosen.length > 0 ? chosen : usual);
  return columns.filter(({ name, fixed }) => fixed === true || names.has(name));
}
