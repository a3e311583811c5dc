import { describe, expect, it } from 'vitest';
import type { PlanAnswer } from '@/lib/client/api-types';
import { planDifferences } from './plan-differences';

describe('what is different in a new plan', () => {
  const step = {
    key: 'pay#1/send#1',
    disposition: 'skip',
    condition: null,
    intentSeq: 9,
    receipt: null,
    ownerRunId: null,
  };
  const before = {
    mode: 'rewind',
    from: { entrySeq: 1, seq: 2 },
    machineDigest: 'd1',
    steps: [step],
    envelope: { states: ['pay'], tools: [], asksPeople: true, limits: {} },
    leftBehind: { steps: 0, effects: [], questions: [] },
    drift: { source: 'worker', differences: [] },
    context: { messages: 3 },
    edits: [],
    decisions: {},
    // Nothing of these is covered by the digest.
    headSeq: 5,
    plannedAt: 'then',
    obstacles: [],
  };
  const differences = (now: object) =>
    planDifferences(before as unknown as PlanAnswer, { ...before, ...now } as unknown as PlanAnswer);

  it.each([
    [{ steps: [{ ...step, disposition: 'retry-same-key' }] }],
    [{ steps: [{ ...step, condition: 'if-equal' }] }],
    [{ steps: [{ ...step, intentSeq: 12 }] }],
    [{ steps: [{ ...step, receipt: 're_1' }] }],
    [{ steps: [{ ...step, ownerRunId: 'run_2' }] }],
    [{ steps: [step, { ...step, key: 'pay#1/send#2' }] }],
  ])('marks the step and says so: %j', (now) => {
    const { keys, words } = differences(now);
    expect([keys.size, words]).toEqual([1, ['1 step marked “changed”']]);
  });

  it.each([
    ['1 step gone from the plan', { steps: [] }],
    ['the machine, which is as recorded now', { machineDigest: 'd2' }],
    [
      'the machine, compared with no worker’s now',
      { machineDigest: 'd2', drift: { source: 'recorded', differences: [] } },
    ],
    [
      'the machine, with 1 declared difference now',
      { drift: { source: 'worker', differences: [{ path: '/tools/send' }] } },
    ],
    ['the point that it starts from', { from: { entrySeq: 1, seq: 3 } }],
    ['what may run beyond the frontier', { envelope: { ...before.envelope, states: [] } }],
    ['what is left behind', { leftBehind: { ...before.leftBehind, steps: 1 } }],
    ['the conversation that is restored', { context: { messages: 4 } }],
    ['what was chosen here', { edits: [{ path: '/input', value: 1 }] }],
    ['what was chosen here', { decisions: { 'pay#1/send#1': { outcome: 'hold' } } }],
  ])('says %s', (word, now) => {
    const { keys, words } = differences(now);
    expect([keys.size, words]).toEqual([0, [word]]);
  });

  it('marks the rows of the envelope that say something else, and keeps those that are gone', () => {
    const tool = (name: string, states: readonly string[] = ['pay']) => ({
      name,
      effect: 'external',
      states,
      guarded: true,
    });
    const envelope = (more: object) => ({ envelope: { ...before.envelope, ...more } });
    const was = { ...before, ...envelope({ tools: [tool('a'), tool('b'), tool('c')] }) };
    const between = (now: object) =>
      planDifferences(was as unknown as PlanAnswer, { ...was, ...now } as unknown as PlanAnswer);
    const found = between(envelope({ tools: [tool('a'), tool('b', ['book']), tool('d')] }));
    expect([...found.envelope]).toEqual(['tool b', 'tool d']);
    expect(found.gone.tools.map(({ name }) => name)).toEqual(['c']);
    expect([...between(envelope({ tools: was.envelope.tools, states: [] })).envelope]).toEqual(['states']);
    expect([...between(envelope({ tools: was.envelope.tools, asksPeople: false })).envelope]).toEqual([
      'limits',
    ]);
    expect(between({ steps: [] }).gone.steps.map(({ key }) => key)).toEqual([step.key]);
    expect(between({}).gone).toEqual({ steps: [], tools: [] });
  });

  it('finds none where the digest would be the same', () => {
    expect(differences({ headSeq: 9, plannedAt: 'now', obstacles: [{}] }).words).toEqual([]);
  });

  it('never says nothing where the digest is another one', () => {
    expect(differences({ digest: 'another' }).words).toEqual(['a result that the code is given']);
  });
});
