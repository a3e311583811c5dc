import { expect, it } from 'vitest';
import type { PlanAnswer } from '@/lib/client/api-types';
import { fromTheRecord, willCall } from './will-call';

const step = (
  name: string,
  disposition: string,
  effect: string | null,
  kind = 'tool',
  intentSeq: number | null = null,
) => ({
  name,
  disposition,
  effect,
  kind,
  intentSeq,
});
const plan = (steps: readonly object[], more = {}) =>
  ({
    mode: 'resume',
    steps,
    envelope: { tools: [{ name: 'pay', effect: 'external' }] },
    ...more,
  }) as unknown as PlanAnswer;

it('counts what will really be called, by name, and nothing that stays inside', () => {
  expect(
    willCall(
      plan([
        step('desk', 'execute', 'read', 'llm'),
        step('desk', 'execute', 'read', 'llm'),
        step('total', 'execute', 'pure', 'compute'),
        step('nap', 'execute', null, 'wait'),
        step('approve', 'execute', null, 'human'),
        step('pay', 'retry-same-key', 'external'),
        step('look', 'reuse', 'read'),
      ]),
    ).calls,
  ).toEqual(['desk 2', 'pay 1, same key', '1 person']);
});

it('counts the effects that are not sent again, and what may be called beyond', () => {
  const steps = [
    step('hold', 'skip', 'external', 'tool', 8),
    step('case', 'restored', 'idempotent', 'tool', 6),
    step('pay', 'needs-decision', 'external', 'tool', 9),
    step('look', 'reuse', 'read'),
  ];
  expect(willCall(plan(steps))).toEqual({ calls: [], mayCall: 1, notAgain: 2 });
  expect(willCall(plan(steps, { mode: 'replay' })).mayCall).toBe(0);
});

it('says what a replay answers from the record', () => {
  const { steps } = plan([
    step('a', 'reuse', 'read'),
    step('b', 'reuse', 'read'),
    step('c', 'skip', 'external'),
    step('d', 'recompute', 'pure'),
    step('e', 'blocked', 'external'),
  ]);
  expect(fromTheRecord(steps)).toBe('2 reads, 1 external');
  expect(fromTheRecord([])).toBe('none was recorded');
});
