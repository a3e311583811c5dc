import { expect, it } from 'vitest';
import type { GraphAt } from '@/lib/client/api-types';
import { statesAhead } from './states-ahead';

const state = (name: string, visits: number, declared = true): GraphAt['states'][number] => ({
  name,
  final: false,
  visits,
  totalMs: 0,
  lastSeq: null,
  tools: name === 'mail' ? ['send'] : [],
  declared,
  stoppedHere: false,
});
const edge = (from: string, to: string): GraphAt['edges'][number] => ({
  from,
  to,
  taken: 0,
  lastSeq: null,
  declared: true,
  newest: false,
});

it('names what the run has not entered, what comes next first, what cannot be reached last', () => {
  const states = [
    state('lost', 0),
    state('plan', 2),
    state('done', 0),
    state('mail', 0),
    state('seen', 0, false),
  ];
  const edges = [edge('plan', 'mail'), edge('mail', 'done'), edge('done', 'plan')];
  expect(statesAhead({ states, edges, current: 'plan', initial: 'plan' })).toEqual([
    { name: 'mail', tools: ['send'] },
    { name: 'done', tools: [] },
    { name: 'lost', tools: [] },
  ]);
  expect(statesAhead({ states, edges, current: null, initial: 'mail' }).map(({ name }) => name)).toEqual([
    'mail',
    'done',
    'lost',
  ]);
});
