import { expect, it } from 'vitest';
import type { RunSummary } from '@/lib/client/api-types';
import { heldBy } from './plan-foot';

const held = (mode: string) =>
  ({ holder: { workerId: 'eu-1', since: '2026-11-30T02:28:02Z', mode } }) as unknown as RunSummary;

it('a holder is named where an order of the same run would have to take the run over', () => {
  expect(heldBy(held('resume'), 'resume', 'utc')).toBe('Held by eu-1 since 02:28:02 UTC');
  expect(heldBy(held('resume'), 'rewind', 'utc')).toBe('Held by eu-1 since 02:28:02 UTC');
});

it('a probe, and an order that makes another run, are held back by nobody', () => {
  expect(heldBy(held('verify'), 'resume', 'utc')).toBeUndefined();
  expect(heldBy(held('resume'), 'fork', 'utc')).toBeUndefined();
  expect(heldBy(held('resume'), 'replay', 'utc')).toBeUndefined();
  expect(heldBy({ holder: null }, 'resume', 'utc')).toBeUndefined();
});
