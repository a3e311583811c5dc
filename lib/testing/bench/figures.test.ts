import { expect, it } from 'vitest';
import { figure } from './figures';

it('a figure with a baseline has its ratio to it, one without has neither', () => {
  expect(figure('a.p50', 3, 'ms', 2)).toEqual({
    name: 'a.p50',
    value: 3,
    unit: 'ms',
    baseline: 2,
    ratio: 1.5,
  });
  expect(Object.keys(figure('a.p50', 3, 'ms'))).toEqual(['name', 'value', 'unit']);
});
