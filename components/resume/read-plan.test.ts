import { describe, expect, it } from 'vitest';
import type { PlanAnswer } from '@/lib/client/api-types';
import { noDraft } from './plan-draft';
import { type Chosen, readOnArrival } from './read-plan';

const plan = (digest: string, disposition = 'execute', more: object = {}) =>
  ({
    digest,
    mode: 'resume',
    machineDigest: 'm1',
    drift: { differences: [] },
    envelope: { states: ['pay'] },
    steps: [{ key: 'pay#1/send#1', disposition }],
    ...more,
  }) as unknown as PlanAnswer;
const of: Chosen = { mode: 'resume', from: 'latest', draft: noDraft };
const nobody = { acted: new Set<string>(), goesOn: false };
const first = { plan: plan('a'), of };

describe('what counts as read', () => {
  it('is the first plan of a choice', () => {
    expect(readOnArrival(undefined, first.plan, of, nobody)).toEqual(first);
    for (const other of [
      { ...of, mode: 'fork' as const },
      { ...of, from: 'cp_1' },
      { ...of, draft: { ...noDraft } },
    ])
      expect(readOnArrival(first, plan('b'), other, nobody)).toEqual({ plan: plan('b'), of: other });
  });

  it('stays while the plan does, and where it changes by itself', () => {
    expect(readOnArrival(first, plan('a', 'execute', { headSeq: 9 }), of, nobody)).toBe(first);
    expect(readOnArrival(first, plan('b', 'skip'), of, nobody)).toBe(first);
    expect(readOnArrival(first, plan('b', 'execute', { machineDigest: 'm2' }), of, nobody)).toBe(first);
  });

  it('is the new plan where the person asked or decided what changed in it', () => {
    const acted = new Set(['pay#1/send#1']);
    expect(readOnArrival(first, plan('b', 'skip'), of, { acted, goesOn: false })).toEqual({
      plan: plan('b', 'skip'),
      of,
    });
    expect(
      readOnArrival(first, plan('b', 'execute', { machineDigest: 'm2' }), of, { acted, goesOn: false }),
    ).toBe(first);
  });

  it('grows with a run that goes on where its copy is planned, and with nothing else', () => {
    const goesOn = { acted: new Set<string>(), goesOn: true };
    const fork = { ...of, mode: 'fork' as const };
    const grown = (more: object = {}) => plan('b', 'skip', { mode: 'fork', ...more });
    const read = { plan: plan('a', 'execute', { mode: 'fork' }), of: fork };
    expect(readOnArrival(read, grown(), fork, goesOn)).toEqual({ plan: grown(), of: fork });
    expect(readOnArrival(read, grown(), fork, nobody)).toBe(read);
    expect(readOnArrival(read, grown({ machineDigest: 'm2' }), fork, goesOn)).toBe(read);
    expect(readOnArrival(first, plan('b', 'skip'), of, goesOn)).toBe(first);
  });
});
