import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, it, vi } from 'vitest';
import type { RunSummary, StepRow } from '@/lib/client/api-types';
import { foundRunsQuery } from '@/lib/client/frame-queries';
import { checkpointsQuery, graphQuery, runQuery, stepsQuery } from '@/lib/client/run-queries';
import { everywhere, foundRunCommands, rowValue, runCommands } from './commands';
import { Palette } from './palette';

vi.mock('next/navigation', () => ({
  usePathname: () => '/runs/long',
  useSearchParams: () => new URLSearchParams('tab=state&open=palette'),
  useRouter: () => ({ push: () => undefined }),
}));

const possible = { possible: true, reason: null };
const run = {
  id: 'long',
  agent: 'desk',
  status: 'failed',
  edition: 0,
  epoch: 1,
  line: 0,
  headSeq: 40_000,
  home: 'here',
  holder: null,
  pending: null,
  unclaimed: null,
  effectsInDoubt: 0,
  counts: { checkpoints: 1 },
  checkpoint: { n: 1 },
  next: null,
  actions: {
    resume: possible,
    fork: possible,
    rewind: possible,
    replay: { possible: false, reason: 'No worker that has the agent desk is connected.' },
    verify: { possible: false, reason: 'No effect is in doubt.' },
  },
} as unknown as RunSummary;
const step = (n: number) =>
  ({
    stepKey: `look#${n}/search_orders#1`,
    line: 0,
    kind: 'tool',
    effect: 'read',
    status: 'completed',
    startedSeq: n * 2,
  }) as unknown as StepRow;

function shown(find: string, found: readonly RunSummary[] = [run]): string {
  const client = new QueryClient({ defaultOptions: { queries: { staleTime: Number.POSITIVE_INFINITY } } });
  client.setQueryData(runQuery('long').queryKey, run);
  client.setQueryData(stepsQuery(run).queryKey, {
    items: Array.from({ length: 20_000 }, (_, n) => step(n + 1)),
    total: 20_000,
    nextCursor: null,
    spans: [[0, Number.MAX_SAFE_INTEGER]],
  } as never);
  client.setQueryData(checkpointsQuery(run).queryKey, {
    items: [{ id: 'cp_9', n: 1, seq: 9, name: 'after search_orders' }],
    total: 1,
    nextCursor: null,
  } as never);
  client.setQueryData(graphQuery('long', 40_000, 'none').queryKey, {
    states: [{ name: 'closing', visits: 3, lastSeq: 39_990 }],
  } as never);
  client.setQueryData(foundRunsQuery(find.trim()).queryKey, {
    items: find.startsWith('zzz') ? [] : found,
    total: found.length,
    nextCursor: null,
  });
  return renderToStaticMarkup(
    <QueryClientProvider client={client}>
      <Palette find={find} />
    </QueryClientProvider>,
  );
}
const options = (html: string) => html.split('role="option"').length - 1;

it('finds a step of 20,000, its checkpoint and its run, and says how many more there are', () => {
  const html = shown('search_orders');
  expect(html).toContain('12 of 20,000');
  expect(html).toContain('Checkpoint 1, after search_orders');
  expect(options(shown('19999'))).toBe(2);
});

it('lists what can be done, and beside what cannot, why', () => {
  const html = shown('');
  expect(html).toContain('Resume from checkpoint 1…');
  expect(html).toMatch(/aria-disabled="true"[^>]*>.*No worker that has the agent desk is connected\./);
  expect(html).toContain('Upload a trace…');
  expect(html).toContain('Runs that moved last');
});

it('says so where nothing matches', () => {
  expect(shown('zzz nothing')).toContain('Nothing matches');
});

it('finds a state of a long run by its bare graph, whose lists are long', () => {
  expect(shown('closing')).toContain('3 visits, last at seq 39,990');
});

it('lists a run that the answer has twice once, and counts it once', () => {
  const html = shown('', [run, { ...run, agent: 'other' }, run]);
  expect(html.match(/title="long"/g)).toHaveLength(1);
  expect(html).not.toContain('type on for the others');
});

it('makes no two rows the same, however alike the runs are called', () => {
  const ids = [run.id, ` ${run.id}`, `${run.id} `, run.id.toUpperCase(), 'upload', 'key b'];
  const rows = foundRunCommands(ids.map((id) => ({ ...run, id }) as RunSummary));
  const values = [...everywhere, ...runCommands(run, []), ...rows].map(rowValue);
  expect(new Set(values.map((value) => value.trim())).size).toBe(values.length);
});
