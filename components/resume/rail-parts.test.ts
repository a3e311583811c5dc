import { describe, expect, it } from 'vitest';
import type { CheckpointRow, PlanAnswer } from '@/lib/client/api-types';
import { railOf } from './rail-parts';

const cp = (id: string, seq: number) => ({ id, seq }) as CheckpointRow;
const checkpoints = [cp('cp_80', 80), cp('cp_40', 40)];
const step = (name: string, seq: number, disposition: string) => ({ name, seq, disposition });
const plan = (more: object) =>
  ({
    mode: 'resume',
    from: { seq: 100, entrySeq: 60, checkpointId: 'cp_80' },
    headSeq: 100,
    steps: [],
    envelope: { states: [], tools: [], asksPeople: false, limits: {} },
    obstacles: [],
    ...more,
  }) as unknown as PlanAnswer;
const tools = [
  { name: 'pay', effect: 'external', states: ['pay'], guarded: true },
  { name: 'look', effect: 'read', states: ['pay'], guarded: true },
];

describe('the rail', () => {
  it('of a resume: given back up to the checkpoint, by key up to the head, then what would run', () => {
    const rail = railOf(
      plan({
        steps: [step('look', 30, 'restored'), step('hold', 70, 'skip'), step('pay', 90, 'needs-decision')],
        envelope: { tools: [...tools, { name: 'mail', effect: 'external', states: [], guarded: true }] },
      }),
      checkpoints,
    );
    expect(rail.stretches.map(({ kind, from, to }) => [kind, Math.round(from), Math.round(to)])).toEqual([
      ['restored', 0, 56],
      ['tail', 56, 70],
      ['ahead', 70, 100],
    ]);
    expect(rail.ahead.map(({ name, disposition }) => [name, disposition])).toEqual([
      ['pay', 'needs-decision'],
      ['mail', undefined],
    ]);
    for (const { at } of rail.ahead) expect(at).toBeGreaterThan(70);
  });

  it.each(['fork', 'rewind'])(
    'of a %s: what comes after the point stays behind, and the way ahead branches off',
    (mode) => {
      const rail = railOf(
        plan({
          mode,
          from: { seq: 40, entrySeq: 35, checkpointId: 'cp_40' },
          steps: [step('look', 50, 'execute')],
        }),
        checkpoints,
      );
      expect(rail.stretches).toEqual([
        { kind: 'restored', from: 0, to: 28 },
        { kind: 'gone', from: 28, to: 70 },
      ]);
      expect(rail.branch).toBe(28);
      expect(rail.ahead).toMatchObject([{ name: 'look', disposition: 'execute' }]);
    },
  );

  it('of a replay: played again up to the first step without an outcome', () => {
    const rail = railOf(plan({ mode: 'replay', steps: [step('pay', 90, 'blocked')] }), checkpoints);
    expect(rail.stretches).toEqual([
      { kind: 'again', from: 0, to: 63 },
      { kind: 'gone', from: 63, to: 70 },
    ]);
    expect(rail.words).toBe('Stops at pay: it has no recorded outcome');
    expect(railOf(plan({ mode: 'replay' }), checkpoints).words).toBe('Plays the whole record again');
  });

  it('of a run that has come to its end is the record alone', () => {
    const rail = railOf(
      plan({ obstacles: [{ kind: 'nothing-to-do', sentence: '', stepKey: null }], envelope: { tools } }),
      checkpoints,
    );
    expect(rail.end).toBe(100);
    expect(rail.ahead).toEqual([]);
    expect(rail.stretches.some(({ kind }) => kind === 'ahead')).toBe(false);
  });

  it('names no more calls than find room, and counts the others', () => {
    const many = Array.from({ length: 9 }, (_, n) => step(`call_${n}`, 90 + n, 'execute'));
    const { ahead } = railOf(plan({ steps: many }), checkpoints);
    expect(ahead.map(({ name }) => name)).toEqual(['call_0', 'call_1', 'call_2', '6 more']);
    expect(ahead[3]?.words).toContain('call_8: execute');
  });

  it('draws no order among calls that may run, one that is recorded among them', () => {
    const tool = (name: string) => ({ name, effect: 'external', states: [], guarded: true });
    const { ahead } = railOf(
      plan({
        steps: [step('hold', 90, 'skip'), step('pay', 95, 'execute')],
        envelope: { tools: ['close', 'hold', 'mail', 'pay'].map(tool) },
      }),
      checkpoints,
    );
    expect(ahead.map(({ name }) => name)).toEqual(['hold', 'pay', '3 may run']);
    expect(ahead[2]?.words).toBe('may run, in any order or not at all: close, hold, mail');
  });

  it('is empty for a run that has nothing', () => {
    expect(
      railOf(plan({ headSeq: 0, from: { seq: 0, entrySeq: 0, checkpointId: null } }), []).stretches,
    ).toEqual([
      { kind: 'tail', from: 0, to: 70 },
      { kind: 'ahead', from: 70, to: 100 },
    ]);
  });
});
