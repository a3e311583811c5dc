import { NuqsTestingAdapter } from 'nuqs/adapters/testing';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, it } from 'vitest';
import type { RunSummary } from '@/lib/client/api-types';
import { RunHeader } from './run-header';

const possible = { possible: true, reason: null };
const actions = ['resume', 'rewind', 'fork', 'replay', 'pause', 'cancel'];

function shown(badges: RunSummary['badges']): string {
  const run = {
    id: 'run_1',
    agent: 'desk',
    status: 'completed',
    home: 'here',
    lineage: { root: 'run_1', parent: null, children: [], childCount: 0 },
    startedAt: null,
    endedAt: '2026-11-29T01:00:04.000Z',
    cost: { inputTokens: null, outputTokens: null, costMicroUsd: null, unpriced: 0 },
    counts: { steps: 1 },
    effectsInDoubt: 0,
    badges,
    holder: null,
    line: 0,
    tags: [],
    next: null,
    checkpoint: null,
    actions: Object.fromEntries(actions.map((action) => [action, possible])),
  } as unknown as RunSummary;
  const point = { from: 'start' };
  return renderToStaticMarkup(
    <NuqsTestingAdapter>
      <RunHeader run={run} forkPoint={point} rewindPoint={point} />
    </NuqsTestingAdapter>,
  );
}

it('raises an alarm where an attempt ran twice, and another where two calls may both have happened (S06)', () => {
  const alarm = (word: string) =>
    expect.stringMatching(new RegExp(`data-tone="bad"[^>]*>(?:(?!</span>).)*${word}`));
  expect(shown(['ran-twice'])).toEqual(alarm('An attempt ran twice'));
  expect(shown(['ran-twice'])).not.toEqual(alarm('Perhaps twice'));
  expect(shown(['perhaps-twice'])).toEqual(alarm('Perhaps twice'));
  expect(shown([])).not.toMatch(/twice/i);
});
