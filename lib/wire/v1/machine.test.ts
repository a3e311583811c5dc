import { expect, it } from 'vitest';
import { machine } from './runs';

const plain = {
  agent: 'desk',
  provenance: 'declared',
  initial: 'close',
  states: { close: { transitions: [], tools: [], final: true } },
  tools: {},
};

it.each([
  ['that names its models alone, as they were recorded before', { ...plain, models: ['atlas', 'borealis'] }],
  [
    'that says which llm has which model',
    { ...plain, llms: { judge: { model: 'atlas', timeoutMs: 120_000, retries: 2 } } },
  ],
])('a machine %s is read as it is', (_what, declared) => {
  expect(machine.parse(declared)).toEqual(declared);
});

it('an llm without a model or with limits that no timer holds is refused', () => {
  const judge = { model: 'atlas', timeoutMs: 1, retries: 0 };
  for (const wrong of [{ model: '' }, { timeoutMs: 0 }, { retries: 2 ** 31 }, { temperature: 0 }])
    expect(machine.safeParse({ ...plain, llms: { judge: { ...judge, ...wrong } } }).success).toBe(false);
});
