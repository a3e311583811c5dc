import { describe, expect, it } from 'vitest';
import type { CommandAnswer } from './api-types';
import type { GivenOrder } from './given-orders';
import { lockOf } from './use-order';

const order = { runId: 'r', words: 'Fork', at: 1 } as GivenOrder;
const answer = {} as CommandAnswer;

describe('the lock on an order', () => {
  it.each([
    ['nothing was given', { kind: 'none' }, undefined, undefined],
    ['it is on its way', { kind: 'sending' }, order, /waits for the answer/],
    ['it was accepted', { kind: 'accepted', order, answer }, undefined, /Accepted/],
    ['nobody knows whether it was taken', { kind: 'none' }, order, /not known whether/],
    ['it was refused', { kind: 'refused', problem: {} as never }, undefined, undefined],
  ] as const)('where %s', (_, last, open, lock) => {
    const found = lockOf(last, open);
    if (lock === undefined) expect(found).toBe(undefined);
    else expect(found).toMatch(lock);
  });
});
