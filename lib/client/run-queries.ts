import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query';
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
import type { RunsView } from './url-state';

/** Broad to narrow, so that invalidating `run(id)` reaches everything under that run. */
export const runKeys = {
  all: ['runs'] as const,
  lists: () => [...runKeys.all, 'list'] as const,
  list: (view: RunsView) => [...runKeys.lists(), view] as const,
  run: (id: string) => [...runKeys.all, 'run', id] as const,
  /** What may change while the run moves; what stands at a `seq` does not and is keyed apart. */
  live: (id: string) => [...runKeys.run(id), 'live'] as const,
  at: (id: string, what: string, seq: number) => [...runKeys.run(id), 'at', what, seq] as const,
};

/** A run that moves has a new key for each moment, a plan for each choice: what nobody looks at any more goes soon. */
export const MOMENT_MS = 10_000;

const PAGE = 50;
/** Rows in one read of a list that is read whole. */
const MANY = 5_000;

export const runsQuery = (view: RunsView) =>
  infiniteQueryOptions({
    queryKey: runKeys.list(view),
    queryFn: async ({ pageParam, signal }) =>
      orThrow(
        await getJson<Page<RunSummary>>(
          apiUrl('/runs', {
            status: view.status,
            agent: view.agent,
            tag: view.tag,
            q: view.q,
            from: view.from,
            to: view.to,
            sort: view.sort,
            order: view.order,
            cursor: pageParam,
            limit: PAGE,
          }),
          signal,
        ),
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.nextCursor ?? undefined,
    placeholderData: keepPreviousData,
  });

export const runQuery = (id: string) =>
  queryOptions({
    queryKey: [...runKeys.live(id), 'summary'],
    queryFn: async ({ signal }) => orThrow(await getJson<RunSummary>(apiUrl(runPath(id)), signal)),
  });

const listUrl = (path: string, cursor?: string) => apiUrl(path, { limit: MANY, cursor });
const graphUrl = (id: string, at: number) => apiUrl(runPath(id, '/graph'), { at });

/** What the page of a run asks for before anything else, so that it can be sent for with the page. */
export const runFirstReads = (run: Pick<RunSummary, 'id' | 'headSeq'>): readonly string[] => [
  listUrl(runPath(run.id, '/steps')),
  listUrl(runPath(run.id, '/checkpoints')),
  graphUrl(run.id, run.headSeq),
];

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

/** All steps, by start. Within one epoch and line of the run, only those that may have changed are read again. */
export const stepsQuery = ({ id, epoch, line }: Pick<RunSummary, 'id' | 'epoch' | 'line'>) =>
  queryOptions({
    queryKey: [...runKeys.live(id), 'steps', epoch, line],
    queryFn: async ({ signal, client, queryKey }): Promise<Page<StepRow>> => {
      const known = client.getQueryData<Page<StepRow>>(queryKey)?.items ?? [];
      const open = known.findIndex((step) => !ended.has(step.status));
      // Rows that share a start stay together.
      const from = (open === -1 ? known.at(-1) : known[open])?.startedSeq ?? 0;
      const kept = known.filter((step) => step.startedSeq < from);
      const page = await everyPage<StepRow>(runPath(id, '/steps'), signal, from === 0 ? undefined : from - 1);
      return { ...page, items: [...kept, ...page.items] };
    },
    placeholderData: keepPreviousData,
  });

/** All checkpoints. Nothing but another one, or a rewind, changes them. */
export const checkpointsQuery = ({ id, line, counts }: Pick<RunSummary, 'id' | 'line' | 'counts'>) =>
  queryOptions({
    queryKey: [...runKeys.run(id), 'checkpoints', line, counts.checkpoints],
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
            kinds: ['run.interrupted', 'run.failed'],
            order: 'desc',
            limit: 200,
          }),
          signal,
        ),
      ).items,
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

export const graphQuery = (id: string, at: number) =>
  queryOptions({
    queryKey: runKeys.at(id, 'graph', at),
    queryFn: async ({ signal }) => orThrow(await getJson<GraphAt>(graphUrl(id, at), signal)),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: MOMENT_MS,
    placeholderData: keepPreviousData,
    enabled: at > 0,
  });

export const bucketsQuery = (id: string, n: number) =>
  queryOptions({
    queryKey: [...runKeys.live(id), 'buckets', n],
    queryFn: async ({ signal }) =>
      orThrow(await getJson<Page<BucketRow>>(apiUrl(runPath(id, '/buckets'), { n }), signal)),
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

export interface EventsAnswer {
  readonly items: readonly RunEvent[];
}
/** Events in (after, to]; they never change once they are there. */
export const eventsQuery = (id: string, after: number, to: number) =>
  queryOptions({
    queryKey: [...runKeys.run(id), 'events', after, to],
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
