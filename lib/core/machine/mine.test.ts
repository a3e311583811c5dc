import { expect, it } from 'vitest';
import { epoch, epochMs, runId, seq, sha256, stepKey } from '../events/ids';
import type { EventBody, RunEvent } from '../events/run-event';
import { visitPath } from '../events/step-key';
import { machineSeen, mineMachine } from './mine';

const journal = (bodies: readonly EventBody[]): readonly RunEvent[] =>
  bodies.map((body, i) => ({
    ...body,
    runId: runId('r'),
    seq: seq(i + 1),
    at: epochMs(i),
    epoch: epoch(1),
    by: 'worker',
    version: 1,
  }));

const visit = (state: string, n: number, from: string | undefined, tool?: string): readonly EventBody[] => {
  const key = visitPath(state, n);
  const call = {
    kind: 'step.started',
    attempt: 1,
    inputDigest: sha256('0'.repeat(64)),
  } as const;
  return [
    { kind: 'state.entered', key, state, visit: n, ...(from === undefined ? {} : { from }) },
    tool === undefined
      ? { ...call, stepKey: stepKey(`${key}/m#1`), name: 'm', step: 'llm', model: 'atlas' }
      : { ...call, stepKey: stepKey(`${key}/${tool}#1`), name: tool, step: 'tool' },
    { kind: 'state.left', key, state, visit: n },
  ];
};
const rounds = (n: number): readonly EventBody[] =>
  Array.from({ length: n }, (_, i) => [
    ...visit('tools', i + 1, 'model', i % 2 === 0 ? 'search' : 'mail'),
    ...visit('model', i + 2, 'tools'),
  ]).flat();

const run = (n: number): readonly RunEvent[] =>
  journal([...visit('model', 1, undefined), ...rounds(n), { kind: 'run.completed' }]);

it('folds a loop: the machine is the same however often the run went round', () => {
  const machine = mineMachine('desk', run(2));
  expect(machine).toEqual({
    agent: 'desk',
    provenance: 'mined',
    initial: 'model',
    states: {
      model: { transitions: ['tools'], tools: [], final: true },
      tools: { transitions: ['model'], tools: ['mail', 'search'] },
    },
    tools: {},
    models: ['atlas'],
  });
  expect(mineMachine('desk', run(40))).toEqual(machine);
});

it('has nothing in it that the run did not do', () => {
  const machine = mineMachine('desk', journal(visit('model', 1, undefined)));
  expect(machine.states).toEqual({ model: { transitions: [], tools: [] } });
});

it('takes the transitions of visits that overlapped from their leaving', () => {
  const machine = mineMachine(
    'desk',
    journal([
      { kind: 'state.entered', key: 'a#1', state: 'a', visit: 1 },
      { kind: 'state.entered', key: 'b#1', state: 'b', visit: 1 },
      { kind: 'state.left', key: 'a#1', state: 'a', visit: 1, to: 'c' },
      { kind: 'state.left', key: 'b#1', state: 'b', visit: 1, to: 'c' },
      { kind: 'state.entered', key: 'c#1', state: 'c', visit: 1, from: 'b' },
    ]),
  );
  expect(
    Object.fromEntries(Object.entries(machine.states).map(([name, { transitions }]) => [name, transitions])),
  ).toEqual({
    a: ['c'],
    b: ['c'],
    c: [],
  });
});

it('names as initial what was seen first, and where a loop leads back to that, what nothing leads to', () => {
  expect(machineSeen({ agent: 'x', states: ['b', 'a'], edges: [['a', 'b']] }).initial).toBe('a');
  expect(
    machineSeen({
      agent: 'x',
      states: ['a', 'b'],
      edges: [
        ['a', 'b'],
        ['b', 'a'],
      ],
    }).initial,
  ).toBe('a');
  expect(machineSeen({ agent: 'x', states: [], edges: [] }).initial).toBe('');
});
