import { renderToStaticMarkup } from 'react-dom/server';
import { expect, it } from 'vitest';
import type { PlanAnswer } from '@/lib/client/api-types';
import { planDifferences } from './plan-differences';
import { type Changes, PlanTable } from './plan-table';

const step = (name: string, more: object = {}) => ({
  key: `pay#1/${name}#1`,
  name,
  visit: 'pay#1',
  kind: 'tool',
  effect: 'external',
  disposition: 'skip',
  reason: 'Never sent again: confirmed at seq 9.',
  seq: 9,
  condition: null,
  ageMs: null,
  receipt: null,
  intentSeq: 8,
  guarded: true,
  ownerRunId: null,
  ...more,
});
const tool = (name: string, more: object = {}) => ({
  name,
  effect: 'external',
  states: ['pay', 'book'],
  guarded: true,
  ...more,
});
const planOf = (more: object = {}) =>
  ({
    mode: 'resume',
    from: { asked: 'latest', seq: 20, entrySeq: 5, checkpointId: null, name: 'the newest point' },
    machineDigest: 'd1',
    steps: [
      step('hold'),
      step('pay', { disposition: 'needs-decision', reason: 'Intended, outcome unknown.' }),
    ],
    totals: {},
    envelope: {
      states: ['pay'],
      tools: [tool('hold'), tool('pay'), tool('post')],
      asksPeople: true,
      limits: { steps: null, costMicroUsd: null },
    },
    leftBehind: { steps: 0, effects: [], questions: [] },
    drift: { source: 'worker', differences: [], blocked: false },
    obstacles: [],
    context: { messages: 0, note: '' },
    edits: [],
    decisions: {},
    ...more,
  }) as unknown as PlanAnswer;
const shown = (plan: PlanAnswer, before = plan, only?: 'skip') => {
  const { keys, envelope, gone } = planDifferences(before, plan);
  const changes: Changes = { marked: keys, envelope, gone, flashed: new Set(), n: 0 };
  return renderToStaticMarkup(
    <PlanTable plan={plan} changes={changes} only={only} onOnly={() => undefined} />,
  );
};
/** Rows with their marks, as texts. */
const rowsOf = (html: string) =>
  [...html.matchAll(/<tr([^>]*)>(.*?)<\/tr>/gs)].map(([, attributes = '', cells = '']) => ({
    text: cells
      .replaceAll(/<[^>]+>/g, ' ')
      .replaceAll(/\s+/g, ' ')
      .trim(),
    changed: attributes.includes('data-changed'),
    gone: attributes.includes('data-gone'),
  }));

it('marks rows of the envelope that changed by themselves, and shows those that are gone', () => {
  const before = planOf();
  const after = planOf({
    steps: before.steps.slice(1),
    envelope: {
      ...before.envelope,
      asksPeople: false,
      tools: [tool('hold'), tool('post', { states: ['book'] }), tool('mail')],
    },
  });
  const rows = rowsOf(shown(after, before));
  const marked = rows.filter(({ changed }) => changed).map(({ text }) => text);
  expect(marked).toEqual([
    expect.stringMatching(/^skip gone hold .* was: Never sent again/),
    expect.stringMatching(/^may call changed post /),
    expect.stringMatching(/^may call changed mail /),
    expect.stringMatching(/^may call gone pay .*may not be called any more/),
    expect.stringMatching(/^limits changed /),
  ]);
  expect(rows.filter(({ gone }) => gone)).toHaveLength(2);
  expect(rowsOf(shown(before)).some(({ changed }) => changed)).toBe(false);
});

it('says of a tool that may be called what of it is recorded and not called again', () => {
  const texts = rowsOf(shown(planOf())).map(({ text }) => text);
  expect(texts).toContainEqual(
    expect.stringMatching(/^may call hold .*new calls only: the recorded one is not repeated; in pay, book$/),
  );
  expect(texts).toContainEqual(
    expect.stringMatching(/^may call pay .*the one in doubt not before its outcome is known; in pay, book$/),
  );
  expect(texts).toContainEqual(expect.stringMatching(/^may call post .* in pay, book$/));
  const twice = planOf({ steps: [step('hold'), { ...step('hold'), key: 'pay#2/hold#1', visit: 'pay#2' }] });
  expect(shown(twice)).toContain('new calls only: the 2 recorded ones are not repeated');
});

it('counts the steps of a visit, of those that are shown as well', () => {
  expect(shown(planOf())).toContain('2 steps: its handler');
  expect(shown(planOf(), planOf(), 'skip')).toContain('1 of 2 steps: its handler');
  const one = planOf({ steps: [step('hold', { disposition: 'restored' })] });
  expect(shown(one)).toContain('1 step in 1 closed visit: its result stands, nothing of it runs');
});

it('says a condition once', () => {
  const reason = 'Runs again if the code still awaits it: no outcome is recorded.';
  const look = { effect: 'read', disposition: 'execute', condition: 'if-awaited', reason };
  expect(shown(planOf({ steps: [step('look', look)] })).match(/if the code still awaits it/g)).toHaveLength(
    2,
  );
  const nap = { ...look, reason: 'The wait goes on from when it began.' };
  expect(shown(planOf({ steps: [step('nap', nap)] }))).toContain('(if the code still awaits it)');
});
