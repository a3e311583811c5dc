import { describe, expect, it } from 'vitest';
import type { CheckpointRow, StepRow } from '@/lib/client/api-types';
import { sha256, stepKey, seq as toSeq } from '@/lib/core/events/ids';
import { scopeOf, visitOf } from '@/lib/core/events/step-key';
import { statusAt, stepAt, type TreeInput, treeRows } from './tree-rows';

const step = (key: string, startedSeq: number, change: Partial<StepRow> = {}): StepRow => {
  const { state, visit } = visitOf(key);
  return {
    stepKey: stepKey(key),
    name: key.slice(key.lastIndexOf('/') + 1, key.lastIndexOf('#')),
    scope: scopeOf(stepKey(key)),
    state,
    visit,
    kind: 'tool',
    effect: 'read',
    status: 'completed',
    attempt: 1,
    executions: 1,
    line: 0,
    inForce: true,
    startedSeq: toSeq(startedSeq),
    startedAt: '2026-11-29T01:00:00.000Z',
    attemptSeq: toSeq(startedSeq),
    endedSeq: toSeq(startedSeq + 1),
    endedAt: '2026-11-29T01:00:01.000Z',
    inputDigest: sha256('0'.repeat(64)),
    input: null,
    conversation: 0,
    result: null,
    message: null,
    receipt: null,
    failure: null,
    error: null,
    idempotencyKey: null,
    guarded: null,
    usage: null,
    api: null,
    model: null,
    verdict: null,
    source: null,
    ...change,
  };
};
const checkpoint = (n: number, at: number): CheckpointRow => ({
  id: `cp_${at}`,
  n,
  seq: toSeq(at),
  entrySeq: toSeq(1),
  name: 'after a',
  trigger: 'every-n-steps',
  at: '2026-11-29T01:00:00.000Z',
  visit: 'plan#1',
  line: 0,
  inForce: true,
});
const visit = (state: string, n: number, enteredSeq: number) => ({
  state,
  visit: n,
  key: `${state}#${n}`,
  enteredSeq: toSeq(enteredSeq),
  leftSeq: null,
});
const input = (change: Partial<TreeInput> = {}): TreeInput => ({
  steps: [
    step('plan#1/a#1', 3),
    step('pay#1/send#1', 8, { effect: 'external', status: 'in-doubt', endedSeq: null, endedAt: null }),
  ],
  visits: [visit('plan', 1, 2), visit('pay', 1, 7)],
  checkpoints: [checkpoint(1, 5)],
  stops: { interruption: { cause: 'lease-lapsed', workerId: 'eu-3', seq: toSeq(9) }, failure: null },
  filter: 'all',
  folded: new Set(),
  ...change,
});
const ids = (rows: ReturnType<typeof treeRows>) => rows.map((row) => row.id);

describe('treeRows', () => {
  it('lists visits with their steps in journal order, and where the run stopped', () => {
    expect(ids(treeRows(input()))).toEqual(['plan#1', 'plan#1/a#1 0', 'pay#1', 'pay#1/send#1 0', 'break 9']);
  });

  it('shows a visit that has no step yet', () => {
    expect(ids(treeRows(input({ steps: [], stops: { interruption: null, failure: null } })))).toEqual([
      'plan#1',
      'pay#1',
    ]);
  });

  it('pins a checkpoint to the last step that had begun before it', () => {
    const row = treeRows(input()).find((each) => each.id === 'plan#1/a#1 0');
    expect(row).toMatchObject({ kind: 'step', checkpoint: { n: 1 } });
  });

  it('hides the steps of a folded visit and keeps the visit', () => {
    expect(ids(treeRows(input({ folded: new Set(['plan#1']) })))).toEqual([
      'plan#1',
      'pay#1',
      'pay#1/send#1 0',
      'break 9',
    ]);
  });

  it('shows effects alone, errors alone', () => {
    expect(ids(treeRows(input({ filter: 'effects' })))).toEqual(['pay#1', 'pay#1/send#1 0', 'break 9']);
    expect(
      ids(treeRows(input({ filter: 'errors', steps: [step('plan#1/a#1', 3, { attempt: 2 })] }))),
    ).toEqual(['plan#1', 'plan#1/a#1 0', 'break 9']);
  });

  it('keeps what a rewind left behind apart from the visit in force', () => {
    const rows = treeRows(
      input({
        steps: [step('plan#1/a#1', 3, { inForce: false }), step('plan#1/a#1', 12, { line: 1 })],
        visits: [visit('plan', 1, 2)],
      }),
    );
    expect(
      rows.filter((row) => row.kind === 'visit').map((row) => [row.id, row.kind === 'visit' && row.inForce]),
    ).toEqual([
      ['plan#1', true],
      ['plan#1 left', false],
    ]);
  });

  it('names a branch of parallel before its steps', () => {
    const rows = treeRows(
      input({ steps: [step('plan#1/both#1:left/a#1', 3), step('plan#1/both#1:right/a#1', 4)] }),
    );
    expect(rows.flatMap((row) => (row.kind === 'branch' ? [row.label] : []))).toEqual([
      'both#1:left',
      'both#1:right',
    ]);
  });
});

describe('a step at the cursor', () => {
  it('has not begun before its first event, runs until its last, and then has its status', () => {
    const each = step('plan#1/a#1', 3);
    expect([2, 3, 4].map((at) => statusAt(each, at))).toEqual(['not-reached', 'running', 'completed']);
  });

  it('is the newest one that had begun', () => {
    const steps = [step('plan#1/a#1', 3), step('plan#1/b#1', 6)];
    expect([2, 3, 5, 6, 99].map((at) => stepAt(steps, at)?.name)).toEqual([undefined, 'a', 'a', 'b', 'b']);
  });
});
