import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, it } from 'vitest';
import type { RunSummary } from '@/lib/client/api-types';
import { effectsQuery, eventsQuery } from '@/lib/client/run-queries';
import { Situation } from './situation';

const SEQ = 40;
const possible = { possible: true, reason: null };

/** A run whose code differed as it was entered again, with an effect in doubt from before. */
const diverged = {
  id: 'r1',
  agent: 'desk',
  status: 'failed',
  home: 'here',
  headSeq: SEQ,
  holder: null,
  pending: null,
  unclaimed: null,
  effectsInDoubt: 1,
  conflicts: [],
  endedAt: null,
  pausedBefore: null,
  interruption: null,
  questions: [],
  failure: {
    cause: 'diverged',
    error: { type: 'Diverged', message: 'other arguments' },
    stepKey: null,
    seq: SEQ,
  },
  badges: ['diverged', 'in-doubt'],
  actions: { verify: possible, resume: possible },
} as unknown as RunSummary;
const refund = {
  stepKey: 'refund#1/create_refund#1',
  name: 'create_refund',
  status: 'in-doubt',
  intentSeq: 20,
  runId: 'r1',
  verifiable: true,
  askAgainAt: null,
};

function shown(run: Partial<RunSummary>, effects: readonly object[] = [refund]): string {
  const client = new QueryClient({ defaultOptions: { queries: { staleTime: Number.POSITIVE_INFINITY } } });
  client.setQueryData(effectsQuery('r1').queryKey, {
    items: effects,
    total: effects.length,
    nextCursor: null,
  } as never);
  client.setQueryData(eventsQuery('r1', SEQ - 20, SEQ).queryKey, [
    {
      kind: 'divergence.found',
      seq: SEQ - 1,
      stepKey: 'work#1/look#1',
      what: 'input',
      sentence: 'look differed',
    },
  ] as never);
  return renderToStaticMarkup(
    <QueryClientProvider client={client}>
      <Situation run={{ ...diverged, ...run }} />
    </QueryClientProvider>,
  );
}

const region = (label: string) => expect.stringContaining(`aria-label="${label}"`);

it('shows where it diverged beside what is in doubt', () => {
  expect(shown({})).toEqual(region('Divergence'));
  expect(shown({})).toEqual(region('Effects in doubt'));
  expect(shown({})).toContain('look differed');
});

it('gives the key to the first effect that can be asked about, and shows it there alone', () => {
  const blind = { ...refund, stepKey: 'refund#1/post#1', name: 'post', verifiable: false };
  const keys = (effects: readonly object[]) =>
    [...shown({ effectsInDoubt: effects.length }, effects).matchAll(/<button[^>]*>.*?<\/button>/gs)].map(
      ([button]) => button.includes('<kbd>V</kbd>'),
    );
  expect(keys([blind, refund])).toEqual([false, true]);
  expect(keys([refund, blind])).toEqual([true, false]);
  expect(keys([blind])).toEqual([true]);
});

it('shows the order that was given since', () => {
  const pending = { commandId: 'c1', mode: 'resume', actor: 'anna' };
  const html = shown({ status: 'queued', pending });
  expect(html).toEqual(region('Order under way'));
  expect(html).toEqual(region('Divergence'));
});

it('says nothing of it once the run went on', () => {
  const html = shown({ status: 'running', failure: null });
  expect(html).not.toEqual(region('Divergence'));
  expect(html).toEqual(region('Effects in doubt'));
});

it('says what a run stands at whose confirmed effect is asked for with other arguments, and what helps', () => {
  const conflicts = ['notify#2/send_mail#1'] as unknown as RunSummary['conflicts'];
  const actions = { rewind: possible, fork: possible } as RunSummary['actions'];
  const stands = { status: 'waiting', failure: null, effectsInDoubt: 0, conflicts, actions } as const;
  expect(shown(stands)).toEqual(region('Effect conflict'));
  expect(shown(stands)).toMatch(/send_mail#1.*confirmed with other arguments.*Rewind or fork to before/s);
  expect(shown(stands)).toContain('mode=rewind');
  expect(shown({ ...stands, status: 'running' })).not.toEqual(region('Effect conflict'));
  expect(shown({ ...stands, conflicts: [] })).not.toEqual(region('Effect conflict'));
});
