import { expect, it } from 'vitest';
import { machineSeen } from './mine';

const loop = [
  ['model', 'tools'],
  ['tools', 'model'],
] as const;

it('folds a loop: the machine is the same however often the run went round', () => {
  const machine = machineSeen({ agent: 'desk', states: ['model'], edges: loop, finals: ['model'] });
  expect(machine).toEqual({
    agent: 'desk',
    provenance: 'mined',
    initial: 'model',
    states: {
      model: { transitions: ['tools'], tools: [], final: true },
      tools: { transitions: ['model'], tools: [] },
    },
    tools: {},
  });
  const rounds = Array.from({ length: 40 }, () => loop).flat();
  expect(
    machineSeen({ agent: 'desk', states: ['model', 'tools'], edges: rounds, finals: ['model'] }),
  ).toEqual(machine);
});

it('has nothing in it that the run did not do', () => {
  expect(machineSeen({ agent: 'desk', states: ['model'], edges: [] }).states).toEqual({
    model: { transitions: [], tools: [] },
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
