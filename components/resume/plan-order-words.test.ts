import { describe, expect, it } from 'vitest';
import type { PlanAnswer } from '@/lib/client/api-types';
import { mayBeClaimed, orderWords } from './plan-order-words';

describe('the button', () => {
  const zero = {
    restored: 0,
    reuse: 0,
    skip: 0,
    recompute: 0,
    execute: 0,
    'retry-same-key': 0,
    'needs-decision': 0,
    blocked: 0,
  };
  const plan = (
    mode: PlanAnswer['mode'],
    totals: Partial<PlanAnswer['totals']>,
    rest: {
      readonly steps?: readonly {
        readonly key: string;
        readonly name: string;
        readonly disposition: string;
      }[];
      readonly obstacles?: readonly { readonly kind: string; readonly stepKey: string | null }[];
    } = {},
  ) =>
    ({
      mode,
      totals: { ...zero, ...totals },
      steps: rest.steps ?? [],
      obstacles: rest.obstacles ?? [],
      envelope: { states: ['pay'] },
      leftBehind: { steps: 3 },
    }) as unknown as PlanAnswer;
  const blocked = { key: 'pay#1/send#1', name: 'send', disposition: 'blocked' };

  const said = (
    mode: PlanAnswer['mode'],
    kinds: readonly string[],
    totals: Partial<PlanAnswer['totals']> = { execute: 1 },
  ) =>
    orderWords(
      plan(mode, totals, {
        steps: [blocked],
        obstacles: kinds.map((kind) => ({ kind, stepKey: kind === 'drift' ? null : 'pay#1/send#1' })),
      }),
      true,
    );

  it('says what has to be done first, and only then what will really run', () => {
    expect(said('resume', ['needs-decision', 'needs-decision'])).toBe('Resume: decide 2 effects first');
    expect(said('resume', ['blocked'])).toBe('Resume: blocked at send');
    expect(said('resume', ['not-recorded'])).toBe('Resume: blocked at send');
    expect(said('rewind', ['needs-keep'])).toBe('Rewind: keep 1 confirmed effect first');
    expect(said('resume', ['held', 'nothing-to-do'])).toBe('Resume: nothing to do');
    expect(said('resume', [], { execute: 1, 'retry-same-key': 1 })).toBe('Resume: 2 steps will really run');
    expect(said('resume', [], {})).toBe('Resume: goes live in pay');
  });

  it.each(['drift', 'held', 'mirror', 'no-worker', 'abandoned-point', 'role', 'blocked'])(
    'promises nothing while there is an obstacle: %s',
    (kind) => {
      for (const mode of ['resume', 'rewind', 'fork', 'replay'] as const)
        expect(said(mode, [kind])).not.toMatch(/will really run|goes live|goes on|recomputed/);
    },
  );

  it('is not held back by a step that the order may never come to', () => {
    expect(said('fork', [], { blocked: 1 })).toBe('Fork: a new run goes on from there');
    expect(said('replay', [], { blocked: 1, recompute: 2 })).toMatch(/^Replay: 2 steps/);
  });

  it('says that nothing runs before a worker claims the order, where none is there that may', () => {
    const words = (mode: PlanAnswer['mode'], execute: number, claimed: boolean | undefined) =>
      orderWords(plan(mode, { execute }), claimed);
    expect(words('resume', 1, false)).toBe('Resume: 1 step will really run once a worker claims it');
    expect(words('resume', 0, false)).toBe('Resume: goes live in pay once a worker claims it');
    expect(words('fork', 0, false)).toBe('Fork: a new run goes on from there once a worker claims it');
    expect(words('rewind', 1, false)).toMatch(/once a worker claims it$/);
    expect(words('resume', 1, undefined)).toBe('Resume: 1 step will really run');
  });

  it('knows a worker that may claim it by agent and planned machine', () => {
    const worker = (name: string, machineDigest: string, live = true) => ({
      live,
      agents: [{ name, machineDigest }],
    });
    const planned = (machineDigest: string | null) =>
      ({ machineDigest }) as Pick<PlanAnswer, 'machineDigest'>;
    expect(mayBeClaimed(planned('d1'), 'desk', [worker('desk', 'd1')])).toBe(true);
    expect(mayBeClaimed(planned('d1'), 'desk', [worker('desk', 'd2')])).toBe(false);
    expect(mayBeClaimed(planned('d1'), 'desk', [worker('desk', 'd1', false)])).toBe(false);
    expect(mayBeClaimed(planned(null), 'desk', [worker('desk', 'd2')])).toBe(true);
    expect(mayBeClaimed(planned('d1'), 'desk', undefined)).toBeUndefined();
  });
});
