import { QueryClient, QueryObserver } from '@tanstack/react-query';
import { expect, it } from 'vitest';
import { runId, seq } from '@/lib/core/events/ids';
import type { StepRow } from './api-types';
import { fillSteps, openingKey, stepsQuery } from './run-queries';
import { openingSteps } from './step-windows';

const run = { id: runId('r'), edition: 1, epoch: 2, line: 0, headSeq: seq(40_000) };
const row = { startedSeq: 39_990, stepKey: 'a#1/b#1', line: 0, status: 'completed' } as unknown as StepRow;
const opening = openingSteps({ items: [row], total: 9_000, after: 39_900, to: null, visits: [] });

it('what came with the page stands in for the steps and is never kept as them', async () => {
  const client = new QueryClient();
  client.setQueryData(openingKey(run), opening);
  const query = stepsQuery(run, opening);
  const shown = new QueryObserver(client, { ...query, enabled: false }).getCurrentResult();
  expect(shown).toMatchObject({ data: opening, isPlaceholderData: true });
  expect(client.getQueryData(query.queryKey)).toBeUndefined();
  // Nothing is read into it either: there are no steps yet that a window could join.
  await fillSteps(client, run, 5);
  expect(client.getQueryData(query.queryKey)).toBeUndefined();
});

it('what came with the page of another moment is not found', () => {
  const client = new QueryClient();
  client.setQueryData(openingKey(run), opening);
  for (const other of [{ headSeq: seq(40_001) }, { edition: 2 }, { epoch: 3 }, { line: 1 }])
    expect(client.getQueryData(openingKey({ ...run, ...other }))).toBeUndefined();
});
