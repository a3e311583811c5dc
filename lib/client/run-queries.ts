import {
  infiniteQueryOptions,
  keepPreviousData,
  type QueryClient,
  queryOptions,
} from '@tanstack/react-query';
import type { RunEvent } from '@/lib/core/events/run-event';
import { apiUrl, getJson, getText, orThrow, runPath } from './api';
import type {
  BucketRow,
  CheckpointRow,
  EffectRow,
  GraphAt,
  MachineAnswer,
  MessageRow,
  Page,
  RunSummary,
  StateAt,
  StateDiff,
  StepDetail,
  StepRow,
} from './api-types';
import {
  ALL,
  holeAt,
  type OpeningSteps,
  type StepWindows,
  spanOf,
  tailAfter,
  WHOLE_STEPS,
  WINDOW,
  withWindow,
} from './step-windows';
import type { RunsFilter, RunsView } from './url-state';
import { writeKinds, writtenAt } from './written-at';

/** Broad to narrow, so that invalidating `run(id)` reaches everything under that run. */
export const runKeys = {
  all: ['runs'] as const,
  lists: () => [...runKeys.all, 'list'] as const,
  /** How many match a filter. Apart from the lists, which are read anew far more often. */
  counts: () => [...runKeys.all, 'count'] as const,
  list: (view: RunsView) => [...runKeys.lists(), view] as const,
  run: (id: string) => [...runKeys.all, 'run', id] as const,
  /** What may change while the run moves; what stands at a `seq` does not and is keyed apart. */
  live: (id: string) => [...runKeys.run(id), 'live'] as const,
  events: (id: string) => [...runKeys.run(id), 'events'] as const,
  at: (id: string, what: string, seq: number) => [...runKeys.run(id), 'at', what, seq] as const,
};

/** A run that moves has a new key for each moment, a plan for each choice: what nobody looks at any more goes soon. */
export const MOMENT_MS = 10_000;

/** Runs in one read of the list. */
export const RUNS_PAGE = 100;
/** Rows in one read of a list that is read whole. */
const MANY = 5_000;

/** A filter in the API's terms. `midnight` is when today began, epoch ms. */
function filterQuery(filter: RunsFilter, midnight: () => number) {
  const today = filter.within === 'today';
  return {
    status: filter.status,
    agent: filter.agent,
    notAgent: filter.notAgent,
    tag: filter.tag,
    notTag: filter.notTag,
    source: filter.source,
    notSource: filter.notSource,
    inDoubt: filter.inDoubt === null ? undefined : String(filter.inDoubt),
    attention: filter.attention === null ? undefined : String(filter.attention),
    q: filter.q,
    failure: filter.failure,
    from: today ? new Date(midnight()).toISOString() : filter.from,
    to: filter.to,
    within: today ? undefined : filter.within,
  };
}

export const runsQuery = (view: RunsView, midnight: () => number) =>
  infiniteQueryOptions({
    queryKey: runKeys.list(view),
    queryFn: async ({ pageParam, signal }) =>
      orThrow(
        await getJson<Page<RunSummary>>(
          apiUrl('/runs', {
            ...filterQuery(view, midnight),
            sort: view.sort,
            order: view.order,
            cursor: pageParam,
            limit: RUNS_PAGE,
          }),
          signal,
        ),
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.nextCursor ?? undefined,
    placeholderData: keepPreviousData,
    // The page says that it failed and when it tries again.
    retry: false,
  });

/** How many runs match. */
export const runsCountQuery = (filter: RunsFilter, midnight: () => number) =>
  queryOptions({
    queryKey: [...runKeys.counts(), filter],
    queryFn: async ({ signal }) =>
      orThrow(
        await getJson<Page<RunSummary>>(
          apiUrl('/runs', { ...filterQuery(filter, midnight), limit: 0 }),
          signal,
        ),
      ).total,
    placeholderData: keepPreviousData,
    retry: false,
  });

/** Every run that matches, in turns; `told` hears how many there are so far, of how many. */
export async function readEveryRun(
  filter: RunsFilter,
  midnight: () => number,
  told: (so: number, of: number) => void,
  signal: AbortSignal,
): Promise<readonly RunSummary[]> {
  const found = new Map<string, RunSummary>();
  // A walk by `created` gives every run once.
  const query = { ...filterQuery(filter, midnight), sort: 'created', limit: 500 };
  for (let cursor: string | undefined; ; ) {
    const page = orThrow(await getJson<Page<RunSummary>>(apiUrl('/runs', { ...query, cursor }), signal));
    for (const run of page.items) found.set(run.id, run);
    told(found.size, page.total);
    if (page.nextCursor === null) return [...found.values()];
    cursor = page.nextCursor;
  }
}

export const runQuery = (id: string) =>
  queryOptions({
    queryKey: [...runKeys.live(id), 'summary'],
    queryFn: async ({ signal }) => orThrow(await getJson<RunSummary>(apiUrl(runPath(id)), signal)),
  });

/** A try to read a run while none of its changes are heard of; where the console answers, all that may have moved is read anew. */
export const againQuery = (client: QueryClient, id: string, since: number) =>
  queryOptions({
    queryKey: [...runKeys.run(id), 'again', since],
    queryFn: async ({ signal }) => {
      orThrow(await getJson<RunSummary>(apiUrl(runPath(id)), signal));
      await client.invalidateQueries({ queryKey: runKeys.live(id) });
      return since;
    },
    retry: false,
    gcTime: 0,
  });

const listUrl = (path: string, cursor?: string) => apiUrl(path, { limit: MANY, cursor });
const graphUrl = (id: string, at: number, lists: GraphLists = 'all') =>
  apiUrl(runPath(id, '/graph'), { at, lists: lists === 'all' ? undefined : lists });

/**
 * What the page of a run asks for before anything else, at a cursor where one is asked for, so that it can be sent for
 * with the page: first what is small and drawn from, then the lists.
 */
export function runFirstReads(
  run: Pick<RunSummary, 'id' | 'headSeq' | 'line'>,
  asked: number | null = null,
): { readonly first: readonly string[]; readonly lists: readonly string[] } {
  const steps = runPath(run.id, '/steps');
  const at = asked === null ? run.headSeq : Math.max(1, Math.min(asked, run.headSeq));
  const graphs = (lists: GraphLists) => [
    ...new Set([run.headSeq, at].map((each) => graphUrl(run.id, each, lists))),
  ];
  const bars = run.headSeq > WHOLE_RUN ? [bucketsUrl(run.id)] : [];
  if (run.headSeq <= WHOLE_STEPS)
    return {
      first: [...bars, ...graphs('all')],
      lists: [listUrl(steps), listUrl(runPath(run.id, '/checkpoints'))],
    };
  const tail = { limit: MANY, cursor: String(tailAfter(run.headSeq)) };
  return {
    first: [...bars, ...graphs(run.line === 0 ? 'none' : 'all')],
    lists: [apiUrl(steps, { limit: WINDOW }), apiUrl(steps, tail)],
  };
}

/** Every page of a list, one after the other. */
async function everyPage<Item>(path: string, signal: AbortSignal, after?: number): Promise<Page<Item>> {
  const items: Item[] = [];
  let cursor = after === undefined ? undefined : String(after);
  for (;;) {
    const page = orThrow(await getJson<Page<Item>>(listUrl(path, cursor), signal));
    items.push(...page.items);
    if (page.nextCursor === null || page.items.length === 0)
      return { items, total: page.total, nextCursor: null };
    cursor = page.nextCursor;
  }
}

/** Within one epoch and line, nothing changes a row that stands so: a step that failed is tried again by a new holder alone. */
const ended: ReadonlySet<StepRow['status']> = new Set([
  'completed',
  'reused',
  'skipped',
  'abandoned',
  'failed',
]);

type StepsOf = Pick<RunSummary, 'id' | 'edition' | 'epoch' | 'line'> & Partial<Pick<RunSummary, 'headSeq'>>;

const stepsFrom = async (id: string, signal: AbortSignal | undefined, after: number, limit: number) =>
  orThrow(
    await getJson<Page<StepRow>>(
      apiUrl(runPath(id, '/steps'), { limit, cursor: after === 0 ? undefined : String(after) }),
      signal,
    ),
  );

/** Both ends of a long run. */
async function bothEnds(id: string, headSeq: number, signal: AbortSignal): Promise<StepWindows> {
  const after = tailAfter(headSeq);
  const [first, last] = await Promise.all([
    stepsFrom(id, signal, 0, WINDOW),
    stepsFrom(id, signal, after, MANY),
  ]);
  return withWindow({ ...first, spans: [spanOf(first, 0)] }, last, spanOf(last, after));
}

async function readSpan(id: string, after: number, to: number, signal: AbortSignal) {
  const read = await stepsFrom(id, signal, after, MANY);
  const items = read.items.filter(({ startedSeq }) => startedSeq <= to);
  return { page: { ...read, items }, span: [after, Math.min(to, spanOf(read, after)[1])] as const };
}

/** Of the windows that are held, what may have changed: from the first open step of each on, and the end. */
function readWindowsAnew(id: string, { items, spans }: StepWindows, signal: AbortSignal) {
  return Promise.all(
    spans.flatMap(([after, to], n) => {
      const rows = items.filter(({ startedSeq }) => startedSeq > after && startedSeq <= to);
      const open = rows.find((step) => !ended.has(step.status));
      if (n < spans.length - 1)
        return open === undefined ? [] : [readSpan(id, open.startedSeq - 1, to, signal)];
      const from = (open ?? rows.at(-1))?.startedSeq;
      return [readSpan(id, from === undefined ? after : from - 1, to, signal)];
    }),
  );
}

/** Where a page keeps the steps that came with it; nothing is ever read for it. */
export const openingKey = ({ id, edition, epoch, line, headSeq }: Required<StepsOf>) =>
  [...runKeys.live(id), 'opening', edition, epoch, line, headSeq] as const;

/**
 * Steps by start: all of a run, or of a long one both ends and what was asked for since. Within one edition, epoch
 * and line of the run, only those that may have changed are read again. `opening` stands in until they are there.
 */
export const stepsQuery = ({ id, edition, epoch, line, headSeq }: StepsOf, opening?: OpeningSteps) =>
  queryOptions({
    queryKey: [...runKeys.live(id), 'steps', edition, epoch, line],
    queryFn: async ({ signal, client, queryKey }): Promise<StepWindows> => {
      const held = client.getQueryData<StepWindows>(queryKey);
      if (held === undefined && headSeq !== undefined && headSeq > WHOLE_STEPS)
        return bothEnds(id, headSeq, signal);
      if (held !== undefined && held.spans.length > 1) {
        const read = await readWindowsAnew(id, held, signal);
        // More windows may have come meanwhile.
        const now = client.getQueryData<StepWindows>(queryKey) ?? held;
        return read.reduce((all, { page, span }) => withWindow(all, page, span), now);
      }
      const known = held?.items ?? [];
      const open = known.findIndex((step) => !ended.has(step.status));
      // Rows that share a start stay together.
      const from = (open === -1 ? known.at(-1) : known[open])?.startedSeq ?? 0;
      const kept = known.filter((step) => step.startedSeq < from);
      const page = await everyPage<StepRow>(runPath(id, '/steps'), signal, from === 0 ? undefined : from - 1);
      return { ...page, items: [...kept, ...page.items], spans: ALL };
    },
    placeholderData: (held) => held ?? opening,
  });

/** Reads the window around `seq`, where it is not held. Resolves once it is. */
export async function fillSteps(client: QueryClient, run: StepsOf, seq: number): Promise<void> {
  const { queryKey } = stepsQuery(run);
  const hole = holeAt(client.getQueryData<StepWindows>(queryKey)?.spans ?? ALL, seq);
  if (hole === undefined) return;
  const after = Math.max(hole[0], seq - WINDOW);
  const read = await stepsFrom(run.id, undefined, after, WINDOW);
  client.setQueryData<StepWindows>(queryKey, (held) => held && withWindow(held, read, spanOf(read, after)));
}

/** Reads every step of a long run. */
export async function fillAllSteps(client: QueryClient, run: StepsOf): Promise<void> {
  const page = await everyPage<StepRow>(runPath(run.id, '/steps'), new AbortController().signal);
  client.setQueryData<StepWindows>(stepsQuery(run).queryKey, { ...page, spans: ALL });
}

/** All checkpoints. Nothing but another one, or a rewind, changes them. */
export const checkpointsQuery = ({
  id,
  edition,
  line,
  counts,
}: Pick<RunSummary, 'id' | 'edition' | 'line' | 'counts'>) =>
  queryOptions({
    queryKey: [...runKeys.run(id), 'checkpoints', edition, line, counts.checkpoints],
    queryFn: ({ signal }) => everyPage<CheckpointRow>(runPath(id, '/checkpoints'), signal),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: MOMENT_MS,
    placeholderData: keepPreviousData,
  });

/** The newest places where the run stopped. */
export const stopsQuery = (id: string) =>
  queryOptions({
    queryKey: [...runKeys.live(id), 'stops'],
    queryFn: async ({ signal }) =>
      orThrow(
        await getJson<EventsAnswer>(
          apiUrl(runPath(id, '/events'), {
            kinds: ['run.interrupted', 'run.failed', 'run.cancelled'],
            order: 'desc',
            limit: 200,
          }),
          signal,
        ),
      ).items,
  });

/** Failed attempts in one read; a run with more shows the oldest ones' bars whole. */
const FAILURES = 1_000;

/** The newest failed attempts: what the bars of the steps are divided by. `count` is how many the run has had. */
export const failuresQuery = (id: string, count: number) =>
  queryOptions({
    queryKey: [...runKeys.run(id), 'failures', count],
    queryFn: async ({ signal }) =>
      orThrow(
        await getJson<EventsAnswer>(
          apiUrl(runPath(id, '/events'), { kinds: 'step.failed', order: 'desc', limit: FAILURES }),
          signal,
        ),
      ).items.filter((event) => event.kind === 'step.failed'),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: MOMENT_MS,
    placeholderData: keepPreviousData,
    enabled: count > 0,
  });

export const stepQuery = (id: string, key: string) =>
  queryOptions({
    queryKey: [...runKeys.live(id), 'step', key],
    queryFn: async ({ signal }) =>
      orThrow(await getJson<StepDetail>(apiUrl(runPath(id, `/steps/${encodeURIComponent(key)}`)), signal)),
  });

/** The lineage's ledger; decisions and probes change it, so it is read anew whenever the run moves. */
export const effectsQuery = (id: string, at?: number) =>
  queryOptions({
    queryKey: [...runKeys.live(id), 'effects', at ?? 'head'],
    queryFn: async ({ signal }) =>
      orThrow(await getJson<Page<EffectRow>>(apiUrl(runPath(id, '/effects'), { at, limit: MANY }), signal)),
    gcTime: MOMENT_MS,
    placeholderData: keepPreviousData,
  });

/** Whether a graph comes with its visits and checkpoints. */
type GraphLists = 'all' | 'none';

export const graphQuery = (id: string, at: number, lists: GraphLists = 'all') =>
  queryOptions({
    queryKey: runKeys.at(id, `graph, ${lists}`, at),
    queryFn: async ({ signal }) => orThrow(await getJson<GraphAt>(graphUrl(id, at, lists), signal)),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: MOMENT_MS,
    placeholderData: keepPreviousData,
    enabled: at > 0,
  });

/** Runs up to this many events are loaded whole: one bar for each fits the scrubber. */
export const WHOLE_RUN = 400;
/** Bars of the scrubber for a longer one. */
const BUCKETS = 280;
const bucketsUrl = (id: string) => apiUrl(runPath(id, '/buckets'), { n: BUCKETS });

export const bucketsQuery = (id: string) =>
  queryOptions({
    queryKey: [...runKeys.live(id), 'buckets'],
    queryFn: async ({ signal }) => orThrow(await getJson<Page<BucketRow>>(bucketsUrl(id), signal)),
    placeholderData: keepPreviousData,
  });

export const stateQuery = (id: string, at: number) =>
  queryOptions({
    queryKey: runKeys.at(id, 'state', at),
    queryFn: async ({ signal }) =>
      orThrow(await getJson<StateAt>(apiUrl(runPath(id, '/state'), { at }), signal)),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: MOMENT_MS,
    placeholderData: keepPreviousData,
    enabled: at > 0,
  });

/** Writes of variables in one read, and so many reads at most: of a longer run, only the newest are told. */
const WRITES = { limit: 500, reads: 2 } as const;

/** Where the variables with these names were written last, at a moment; those whose writes lie too far back are left out. */
export const writesQuery = (id: string, at: number, names: readonly string[]) =>
  queryOptions({
    queryKey: runKeys.at(id, 'writes', at),
    queryFn: async ({ signal }) => {
      const events: RunEvent[] = [];
      let before = at + 1;
      for (let read = 0; ; read += 1) {
        const query = { kinds: writeKinds, order: 'desc', before, limit: WRITES.limit };
        const page = orThrow(await getJson<EventsAnswer>(apiUrl(runPath(id, '/events'), query), signal));
        events.push(...page.items);
        const written = writtenAt(events);
        if (page.nextCursor === null || read + 1 === WRITES.reads || names.every((name) => written.has(name)))
          return written;
        before = Number(page.nextCursor);
      }
    },
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: MOMENT_MS,
    placeholderData: keepPreviousData,
    enabled: names.length > 0,
  });

export const diffQuery = (id: string, from: number, to: number) =>
  queryOptions({
    queryKey: [...runKeys.at(id, 'diff', to), from],
    queryFn: async ({ signal }) =>
      orThrow(await getJson<StateDiff>(apiUrl(runPath(id, '/diff'), { from, to }), signal)),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: MOMENT_MS,
    placeholderData: keepPreviousData,
    enabled: to > 0,
  });

/** The newest `limit` messages up to `at`. */
export const messagesQuery = (id: string, at: number, limit: number) =>
  queryOptions({
    queryKey: [...runKeys.at(id, 'messages', at), limit],
    queryFn: async ({ signal }) =>
      orThrow(await getJson<Page<MessageRow>>(apiUrl(runPath(id, '/messages'), { at, limit }), signal)),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: MOMENT_MS,
    placeholderData: keepPreviousData,
    enabled: at > 0,
  });

export interface EventsAnswer extends Page<RunEvent> {
  readonly edition: number;
}
/** Events in (after, to]; within an edition they never change once they are there. */
export const eventsQuery = (id: string, after: number, to: number) =>
  queryOptions({
    queryKey: [...runKeys.events(id), after, to],
    queryFn: async ({ signal }): Promise<readonly RunEvent[]> =>
      orThrow(
        await getJson<EventsAnswer>(
          apiUrl(runPath(id, '/events'), { after, limit: Math.max(1, to - after) }),
          signal,
        ),
      ).items,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: MOMENT_MS,
  });

/** A payload's text. Addressed by content, so it is never read twice. */
export const payloadQuery = (sha256: string) =>
  queryOptions({
    queryKey: ['payload', sha256],
    queryFn: async ({ signal }) => orThrow(await getText(apiUrl(`/payloads/${sha256}`), signal)),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
  });

export const machineQuery = (digest: string) =>
  queryOptions({
    queryKey: ['machine', digest],
    queryFn: async ({ signal }) =>
      orThrow(await getJson<MachineAnswer>(apiUrl(`/machines/${digest}`), signal)),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
