import { createSerializer } from 'nuqs';
import { runStatusView, sourceWord } from '@/components/run/views';
import { instantOf, wallTime, type Zone } from '@/components/ui/zone';
import { type RunsFilter, runsFilterParams } from '@/lib/client/url-state';

/* What the list can be narrowed by, in words: one table for chips, menu, saved views and the empty list. */

export type Change = (change: Partial<RunsFilter>) => void;

/** Values that the rows on screen have, offered where one is typed. */
export interface Known {
  readonly agent: readonly string[];
  readonly tag: readonly string[];
  readonly source: readonly string[];
}

export const noFilter: RunsFilter = {
  status: [],
  agent: [],
  notAgent: [],
  tag: [],
  notTag: [],
  source: [],
  notSource: [],
  inDoubt: null,
  attention: null,
  q: '',
  failure: '',
  within: '',
  from: '',
  to: '',
};

const serialize = createSerializer(runsFilterParams);

/** The filter as the address holds it, without `?`; `''` for none. */
export const searchOf = (filter: RunsFilter): string => {
  const { status, agent, notAgent, tag, notTag, source, notSource, inDoubt, attention } = filter;
  const { q, failure, within, from, to } = filter;
  return serialize({
    status,
    agent,
    notAgent,
    tag,
    notTag,
    source,
    notSource,
    inDoubt,
    attention,
    q,
    failure,
    within,
    from,
    to,
  }).replace(/^\?/, '');
};

export const isNarrowed = (filter: RunsFilter): boolean => searchOf(filter) !== '';

/** One chip: each name is a place for one. */
export type Field = 'status' | 'agent' | 'tag' | 'source' | 'started' | 'inDoubt' | 'attention' | 'failure';

export const fieldNames = {
  status: 'Status',
  agent: 'Agent',
  tag: 'Tag',
  started: 'Started',
  inDoubt: 'In doubt',
  attention: 'Needs a person',
  source: 'Engine',
  failure: 'Failure',
} as const satisfies Record<Field, string>;
export const fields = Object.keys(fieldNames) as readonly Field[];

/** What the filter by a field may be negated to. */
export const negated = { agent: 'notAgent', tag: 'notTag', source: 'notSource' } as const;
export type Negatable = keyof typeof negated;

/** A part of the filter as a chip says it, such as `Agent`, `is not`, `smoke-test`. */
export interface Chip {
  /** Names the chip: its field, and for a negated one what it is negated to. */
  readonly id: Field | (typeof negated)[Negatable];
  readonly field: Field;
  readonly op: string;
  readonly value: string;
  /** What takes it away. */
  readonly without: Partial<RunsFilter>;
}

const or = (words: readonly string[]) =>
  words.length < 2 ? (words[0] ?? '') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
const and = (words: readonly string[]) => words.join(' and ');

const spanWords: Readonly<Record<string, string>> = { m: 'min', h: 'h', d: 'd' };
export const withinWords = (within: string): string =>
  within === 'today' ? 'today' : `${within.slice(0, -1)} ${spanWords[within.slice(-1)] ?? within.slice(-1)}`;

export function chipsOf(filter: RunsFilter, zone: Zone): readonly Chip[] {
  const chips: Chip[] = [];
  const add = (
    id: Chip['id'],
    field: Field,
    op: string,
    value: string,
    without: Partial<RunsFilter>,
    when = value !== '',
  ) => {
    if (when) chips.push({ id, field, op, value, without });
  };
  add('status', 'status', 'is', or(filter.status.map((status) => runStatusView[status].word.toLowerCase())), {
    status: [],
  });
  add('agent', 'agent', 'is', or(filter.agent), { agent: [] });
  add('notAgent', 'agent', 'is not', or(filter.notAgent), { notAgent: [] });
  add('tag', 'tag', 'is', and(filter.tag), { tag: [] });
  add('notTag', 'tag', 'is not', or(filter.notTag), { notTag: [] });
  if (filter.within !== '')
    add('started', 'started', filter.within === 'today' ? 'is' : 'within', withinWords(filter.within), {
      within: '',
    });
  else add('started', 'started', '', betweenWords(filter.from, filter.to, zone), { from: '', to: '' });
  add(
    'inDoubt',
    'inDoubt',
    'is',
    filter.inDoubt === true ? 'some effect' : 'no effect',
    { inDoubt: null },
    filter.inDoubt !== null,
  );
  add(
    'attention',
    'attention',
    'is',
    filter.attention === true ? 'yes' : 'no',
    { attention: null },
    filter.attention !== null,
  );
  add('source', 'source', 'is', or(filter.source.map(sourceWord)), { source: [] });
  add('notSource', 'source', 'is not', or(filter.notSource.map(sourceWord)), { notSource: [] });
  add('failure', 'failure', 'has', filter.failure === '' ? '' : `“${filter.failure}”`, { failure: '' });
  return chips;
}

/** `since 2026-11-29 01:00 UTC`; empty where neither end is set. */
export function betweenWords(from: string, to: string, zone: Zone): string {
  const shown = (iso: string) => {
    const at = Date.parse(iso);
    if (Number.isNaN(at)) return iso;
    const wall = wallTime(at, zone);
    return `${wall.day} ${wall.time.slice(0, 5)} ${wall.zone}`;
  };
  if (from !== '' && to !== '') return `from ${shown(from)} to ${shown(to)}`;
  return from === '' ? (to === '' ? '' : `before ${shown(to)}`) : `since ${shown(from)}`;
}

/** Every part of the filter in one sentence's words, search included: what an empty list names. */
export const filterWords = (filter: RunsFilter, zone: Zone): readonly string[] => [
  ...chipsOf(filter, zone).map(({ field, op, value }) =>
    [fieldNames[field], op, value].filter((word) => word !== '').join(' '),
  ),
  ...(filter.q === '' ? [] : [`Search “${filter.q}”`]),
];

/** What `datetime-local` holds for an instant, and the instant of what it holds, in the zone. */
export function toField(iso: string, zone: Zone): string {
  const at = Date.parse(iso);
  if (iso === '' || Number.isNaN(at)) return '';
  const wall = wallTime(at, zone);
  return `${wall.day}T${wall.time.slice(0, 5)}`;
}
export function fromField(text: string, zone: Zone): string {
  const at = text === '' ? undefined : instantOf(text, zone);
  return at === undefined ? '' : new Date(at).toISOString();
}
