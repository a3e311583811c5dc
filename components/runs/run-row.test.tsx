import { renderToStaticMarkup } from 'react-dom/server';
import { expect, it } from 'vitest';
import type { RunSummary } from '@/lib/client/api-types';
import { columns } from './columns';
import { RunRow } from './run-row';

const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 2, minute)).toISOString();

function shown(change: Partial<RunSummary>): string {
  const run = {
    id: 'run_1',
    agent: 'desk',
    status: 'completed',
    tags: [],
    home: 'here',
    lineage: { root: 'run_1', parent: null, children: [] },
    createdAt: at(0),
    startedAt: at(0),
    updatedAt: at(10),
    endedAt: at(10),
    cost: { inputTokens: null, outputTokens: null, costMicroUsd: null, unpriced: 0 },
    counts: { steps: 1 },
    effectsInDoubt: 0,
    source: 'sdk',
    badges: [],
    pending: null,
    ...change,
  } as unknown as RunSummary;
  return renderToStaticMarkup(
    <table>
      <tbody>
        <tr>
          <RunRow run={run} gone={false} columns={columns} />
        </tr>
      </tbody>
    </table>,
  );
}

/** A row's cells, as text. */
const cellsOf = (change: Partial<RunSummary>): readonly (string | undefined)[] =>
  [...shown(change).matchAll(/<td[^>]*>([^<]*)<\/td>/g)].map(([, text]) => text);

it('counts a fork from its own start, as its page does, and not from what it copied', () => {
  const parent = { runId: 'run_0', seq: 9, mode: 'fork' };
  expect(cellsOf({})).toContain('10 min');
  const lineage = { root: 'run_0', parent, children: [] } as unknown as RunSummary['lineage'];
  expect(cellsOf({ lineage, createdAt: at(8) })).toContain('2 min');
});

it('raises an alarm where an attempt ran twice, and another where two calls may both have happened (S06)', () => {
  const alarm = (word: string) =>
    expect.stringMatching(new RegExp(`data-tone="bad"[^>]*>(?:(?!</span>).)*${word}<`));
  expect(shown({ badges: ['ran-twice'] })).toEqual(alarm('ran twice'));
  expect(shown({ badges: ['ran-twice'] })).not.toEqual(alarm('perhaps twice'));
  expect(shown({ badges: ['perhaps-twice'] })).toEqual(alarm('perhaps twice'));
  expect(shown({})).not.toMatch(/twice/i);
});

it('counts every run’s steps in the unit that the head names, and says of an open one that it may take more', () => {
  const stepsOf = (change: Partial<RunSummary>) =>
    /data-column="steps"><span class="progress" title="([^"]*)">.*?<span class="second">([^<]*)</.exec(
      shown(change),
    );
  for (const status of ['queued', 'running', 'waiting', 'failed', 'interrupted', 'completed'] as const)
    expect(stepsOf({ status, counts: { steps: 1_204 } as never })?.[2], status).toBe('1,204');
  expect(stepsOf({ status: 'completed', counts: { steps: 1 } as never })?.[1]).toBe('1 step');
  expect(stepsOf({ status: 'failed', counts: { steps: 1 } as never })?.[1]).toMatch(/^1 step so far/);
});
