import { describe, expect, it } from 'vitest';
import type { CheckpointRow, StepRow } from '@/lib/client/api-types';
import { cursorPoint } from './cursor-point';

const step = (stepKey: string, line: number, inForce: boolean) =>
  ({ stepKey, line, inForce }) as unknown as StepRow;
const checkpoint = (id: string, seq: number, line: number) => ({ id, seq, line }) as unknown as CheckpointRow;

const kept = step('plan#1/a#1', 0, true);
const left = step('plan#1/b#1', 0, false);
const onlyLeft = step('plan#1/c#1', 0, false);
const again = step('plan#1/b#1', 1, true);
const at = {
  seq: 20,
  steps: [kept, left, onlyLeft, again],
  checkpoints: [
    checkpoint('cp_9', 9, 0),
    checkpoint('cp_15', 15, 0),
    checkpoint('cp_30', 30, 0),
    checkpoint('cp_18', 18, 1),
  ],
};

describe('an order from the cursor', () => {
  it.each([
    ['fork', undefined, { from: 'start' }],
    ['rewind', undefined, { from: 'start' }],
    ['fork', kept, { from: 'step:plan#1/a#1' }],
    ['rewind', kept, { from: 'step:plan#1/a#1' }],
    ['fork', onlyLeft, { from: 'step:plan#1/c#1' }],
    ['fork', left, { from: 'cp_15' }],
  ] as const)('%s starts where the cursor stands', (mode, here, point) => {
    expect(cursorPoint(mode, { ...at, step: here })).toEqual(point);
  });

  it('never starts elsewhere: it says why where it cannot', () => {
    expect(cursorPoint('rewind', { ...at, step: left })).toHaveProperty('reason');
    expect(cursorPoint('fork', { ...at, seq: 5, step: left })).toHaveProperty('reason');
    expect(cursorPoint('fork', { ...at, steps: undefined, step: undefined })).toHaveProperty('reason');
  });
});
