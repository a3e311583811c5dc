import { describe, expect, it } from 'vitest';
import type { CheckpointRow, StepRow } from '@/lib/client/api-types';
import { sha256, stepKey, seq as toSeq } from '@/lib/core/events/ids';
import type { RunEvent } from '@/lib/core/events/run-event';
import { scopeOf, visitOf } from '@/lib/core/events/step-key';
import {
  barWidths,
  breaksOf,
  type FailedAttempt,
  heightOf,
  rowTops,
  statusAt,
  stepAt,
  type TreeInput,
  treePlaces,
  treeRows,
} from './tree-rows';

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
  ms: 60_000,
});
const input = (change: Partial<TreeInput> = {}): TreeInput => ({
  steps: [
    step('plan#1/a#1', 3),
    step('pay#1/send#1', 8, { effect: 'external', status: 'in-doubt', endedSeq: null, endedAt: null }),
  ],
  visits: [visit('plan', 1, 2), visit('pay', 1, 7)],
  checkpoints: [checkpoint(1, 5)],
  breaks: breaksOf(
    { interruption: { cause: 'lease-lapsed', workerId: 'eu-3', seq: toSeq(9) }, failure: null },
    [],
  ),
  filter: 'all',
  folded: new Set(),
  ...change,
});
const ids = (rows: ReturnType<typeof treeRows>) => rows.map((row) => row.id);

describe('treeRows', () => {
  it('lists visits with their steps in journal order, and where the run stopped', () => {
    expect(ids(treeRows(input()))).toEqual(['plan#1', 'plan#1/a#1 0', 'pay#1', 'pay#1/send#1 0', 'break 9']);
  });

  it('reads the visit of a step from what the journal entered, whatever a writer put into its names', () => {
    const entered = (state: string, n: number, key: string, enteredSeq: number) => ({
      ...visit(state, n, enteredSeq),
      key,
    });
    const rows = treeRows(
      input({
        breaks: [],
        steps: [
          step('refund/eu#1/pay#1', 3),
          step('a#1/b#2/call#1', 5),
          step('a#1/b#2/fan#1:left/x#1', 6),
          step('gone#3/c#1', 8, { inForce: false }),
        ],
        visits: [entered('refund/eu', 1, 'refund/eu#1', 2), entered('a#1/b', 2, 'a#1/b#2', 4)],
      }),
    );
    expect(rows.map((row) => (row.kind === 'visit' ? [row.state, row.visit] : row.id))).toEqual([
      ['refund/eu', 1],
      'refund/eu#1/pay#1 0',
      ['a#1/b', 2],
      'a#1/b#2/call#1 0',
      'a#1/b#2 a#1/b#2/fan#1:left 6',
      'a#1/b#2/fan#1:left/x#1 0',
      ['gone', 3],
      'gone#3/c#1 0',
    ]);
    expect(rows.flatMap((row) => (row.kind === 'step' ? [row.depth] : []))).toEqual([0, 0, 1, 0]);
  });

  it('shows a visit that has no step yet', () => {
    expect(ids(treeRows(input({ steps: [], breaks: [] })))).toEqual(['plan#1', 'pay#1']);
  });

  it('pins a checkpoint to the last step that had begun before it', () => {
    const row = treeRows(input()).find((each) => each.id === 'plan#1/a#1 0');
    expect(row).toMatchObject({ kind: 'step', checkpoints: [{ n: 1 }] });
  });

  it('pins every checkpoint: several to one step, and to a visit those before its first step', () => {
    const rows = treeRows(
      input({ checkpoints: [1, 2, 3, 4].map((n) => checkpoint(n, [4, 5, 8, 9][n - 1] ?? 0)) }),
    );
    expect(
      rows.flatMap((row) => ('checkpoints' in row ? [[row.id, row.checkpoints.map(({ n }) => n)]] : [])),
    ).toEqual([
      ['plan#1', []],
      ['plan#1/a#1 0', [1, 2]],
      ['pay#1', [3]],
      ['pay#1/send#1 0', [4]],
    ]);
  });

  it('keeps what each rewind left behind in a group of its own', () => {
    const left = (line: number, startedSeq: number, day: number) =>
      step('pay#1/send#1', startedSeq, {
        line,
        inForce: false,
        startedAt: `2026-11-2${day}T01:00:00.000Z`,
        endedAt: `2026-11-2${day}T01:00:01.000Z`,
      });
    const rows = treeRows(
      input({
        steps: [step('plan#1/a#1', 3), left(0, 8, 1), left(1, 15, 2)],
        breaks: [],
        folded: new Set(['pay#1 left 0']),
      }),
    );
    expect(
      rows.flatMap((row) => (row.kind === 'visit' ? [[row.id, row.fromSeq, row.durationMs, row.open]] : [])),
    ).toEqual([
      ['plan#1', 2, 60_000, true],
      ['pay#1', 7, 60_000, true],
      ['pay#1 left 0', 8, 1_000, false],
      ['pay#1 left 1', 15, 1_000, true],
    ]);
  });

  it('counts a step that a stop closed as unknown to where it was closed (S20)', () => {
    const closed = step('plan#1/a#1', 3, { status: 'unknown', endedAt: '2026-11-29T01:00:04.000Z' });
    const visits = [{ ...visit('plan', 1, 2), ms: 4_200 }];
    const rows = treeRows(input({ steps: [closed], visits }));
    expect(rows.flatMap((row) => ('durationMs' in row ? [[row.kind, row.durationMs]] : []))).toEqual([
      ['visit', 4_200],
      ['step', 4_000],
    ]);
  });

  it('tells of a visit how long the run was in it, as the graph does, and nothing where that is not known', () => {
    const times = (ms: number | null) =>
      treeRows(input({ steps: [step('plan#1/a#1', 3)], visits: [{ ...visit('plan', 1, 2), ms }] })).flatMap(
        (row) => (row.kind === 'visit' ? [row.durationMs] : []),
      );
    expect(times(8_040_000)).toEqual([8_040_000]);
    expect(times(null)).toEqual([undefined]);
  });

  it('gives no time of the visit that a run is in which goes on', () => {
    const left = { ...visit('plan', 1, 2), leftSeq: toSeq(6) };
    const rows = treeRows(input({ visits: [left, visit('pay', 1, 7)], goesOn: true }));
    expect(rows.flatMap((row) => (row.kind === 'visit' ? [[row.state, row.durationMs]] : []))).toEqual([
      ['plan', 60_000],
      ['pay', undefined],
    ]);
  });

  it('reads a slash in a name that a writer did not escape as part of that name', () => {
    const rows = treeRows(
      input({
        breaks: [],
        steps: [step('plan#1/http/get#1', 3), step('plan#1/tools/agent#1/http/get#1', 5)],
        visits: [visit('plan', 1, 2)],
      }),
    );
    expect(rows.map((row) => [row.kind, 'depth' in row ? row.depth : 0])).toEqual([
      ['visit', 0],
      ['step', 0],
      ['branch', 1],
      ['step', 1],
    ]);
    expect(rows.find((row) => row.kind === 'branch')).toMatchObject({ label: 'tools/agent#1' });
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
      ['plan#1 left 0', false],
    ]);
  });

  it('shows every place where the run stopped, each once, also those that it went on from', () => {
    const events = [
      { kind: 'run.interrupted', seq: 9, cause: 'hand-over' },
      { kind: 'run.failed', seq: 4, error: { type: 'E', message: 'no route' } },
    ] as unknown as RunEvent[];
    const breaks = breaksOf(
      { interruption: { cause: 'lease-lapsed', workerId: 'eu-3', seq: toSeq(20) }, failure: null },
      events,
    );
    expect(breaks.map(({ fromSeq, word, sentence }) => [fromSeq, word, sentence])).toEqual([
      [4, 'Failed', 'no route'],
      [9, 'Interrupted', 'given back by its worker'],
      [20, 'Interrupted', 'lease lapsed on worker eu-3'],
    ]);
  });

  it('shows where it was cancelled, and why where somebody said it', () => {
    const events = [
      { kind: 'run.cancelled', seq: 12, reason: 'Wrong document.' },
      { kind: 'run.cancelled', seq: 40 },
    ] as unknown as RunEvent[];
    const breaks = breaksOf({ interruption: null, failure: null }, events);
    expect(breaks.map(({ fromSeq, word, sentence }) => [fromSeq, word, sentence])).toEqual([
      [12, 'Cancelled', 'Wrong document.'],
      [40, 'Cancelled', ''],
    ]);
  });

  it('puts a stop behind the newest of what had begun, though a rewind has moved rows', () => {
    const rows = treeRows(
      input({
        steps: [
          step('plan#1/a#1', 3),
          step('plan#1/b#1', 12, { line: 1 }),
          step('pay#1/send#1', 8, { inForce: false }),
        ],
        visits: [visit('plan', 1, 2)],
      }),
    );
    expect(ids(rows)).toEqual([
      'plan#1',
      'plan#1/a#1 0',
      'plan#1/b#1 1',
      'pay#1 left 0',
      'pay#1/send#1 0',
      'break 9',
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

describe('treePlaces', () => {
  it('counts visits among visits, and steps among the steps of their visit or branch', () => {
    const rows = treeRows(
      input({
        steps: [
          step('plan#1/a#1', 3),
          step('plan#1/both#1:left/b#1', 4),
          step('plan#1/both#1:left/c#1', 5),
          step('pay#1/send#1', 8),
        ],
      }),
    );
    expect(treePlaces(rows).map(({ level, position, of }, n) => [rows[n]?.id, level, position, of])).toEqual([
      ['plan#1', 1, 1, 3],
      ['plan#1/a#1 0', 2, 1, 2],
      ['plan#1 plan#1/both#1:left 4', 2, 2, 2],
      ['plan#1/both#1:left/b#1 0', 3, 1, 2],
      ['plan#1/both#1:left/c#1 0', 3, 2, 2],
      ['pay#1', 1, 2, 3],
      ['pay#1/send#1 0', 2, 1, 1],
      ['break 9', 1, 3, 3],
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

describe('the tree of a run with waits and failures', () => {
  const at = (time: string) => `2026-11-29T${time}.000Z`;
  const night: TreeInput = {
    ...input(),
    checkpoints: [],
    breaks: [],
    visits: [visit('plan', 1, 2), visit('ask', 1, 5)],
    steps: [
      step('plan#1/a#1', 3, { startedAt: at('01:00:00'), endedAt: at('01:00:01') }),
      step('plan#1/b#1', 4, { startedAt: at('01:02:30'), endedAt: at('01:02:31') }),
      step('ask#1/approve#1', 6, { kind: 'human', startedAt: at('01:02:31'), endedAt: at('09:00:00') }),
    ],
  };
  const kinds = (of: TreeInput) => treeRows(of).map((row) => ('state' in row ? row.state : row.kind));

  it('folds what nobody did to a line, and says what was waited for', () => {
    expect(kinds(night)).toEqual(['plan', 'step', 'idle', 'step', 'ask', 'idle', 'step']);
    expect(
      treeRows(night).flatMap((row) => (row.kind === 'idle' ? [[row.ms, row.why, row.open]] : [])),
    ).toEqual([
      [149_000, undefined, false],
      [28_649_000, 'waiting for a person', false],
    ]);
    // A minute is no wait, and where something still ran nobody waited.
    const busy = night.steps.map((each, n) => (n === 0 ? { ...each, endedAt: at('01:02:00') } : each));
    expect(kinds({ ...night, steps: busy }).filter((kind) => kind === 'idle')).toHaveLength(1);
  });

  it('puts a wait between two visits before the later one', () => {
    const steps = night.steps.map((each) =>
      each.kind === 'human' ? { ...each, kind: 'tool' as const, startedAt: at('03:00:00') } : each,
    );
    expect(kinds({ ...night, steps })).toEqual(['plan', 'step', 'idle', 'step', 'idle', 'ask', 'step']);
  });

  it('finds steps by what they are called, what kind they are and how they failed, with their visits', () => {
    const failed = step('plan#1/c#1', 5, {
      status: 'failed',
      error: { type: 'Timeout', message: 'no answer' },
    });
    const of = (find: string) =>
      treeRows({ ...night, steps: [...night.steps, failed], find })
        .filter((row) => row.kind === 'step')
        .map((row) => row.kind === 'step' && row.step.stepKey);
    expect(of('approve')).toEqual(['ask#1/approve#1']);
    expect(of('human')).toEqual(['ask#1/approve#1']);
    expect(of('no answer')).toEqual(['plan#1/c#1']);
    expect(kinds({ ...night, find: 'approve' })).toEqual(['ask', 'step']);
    expect(kinds({ ...night, find: 'nothing' })).toEqual([]);
  });

  it('divides a step by its attempts, a failed one marked so', () => {
    const failure = (seq: number, time: string, final: boolean) =>
      ({
        kind: 'step.failed',
        stepKey: 'plan#1/a#1',
        seq,
        at: Date.parse(at(time)),
        final,
        nextDelayMs: 1_000,
      }) as unknown as FailedAttempt;
    const tried = step('plan#1/a#1', 3, {
      attempt: 2,
      endedSeq: toSeq(9),
      startedAt: at('01:00:00'),
      endedAt: at('01:00:14'),
    });
    const segments = (of: StepRow, failures: readonly FailedAttempt[]) =>
      treeRows({ ...night, steps: [of], failures }).flatMap((row) =>
        row.kind === 'step' ? row.segments : [],
      );
    expect(segments(tried, [failure(5, '01:00:10', false)])).toEqual([
      { ms: 10_000, failed: true },
      { ms: 3_000, failed: false },
    ]);
    // The step's failures only, of this occurrence only.
    expect(segments(tried, [failure(20, '01:00:10', false)])).toEqual([{ ms: 14_000, failed: false }]);
    const lost = { ...tried, status: 'failed' as const };
    expect(segments(lost, [failure(5, '01:00:10', false), failure(9, '01:00:14', true)])).toEqual([
      { ms: 10_000, failed: true },
      { ms: 3_000, failed: true },
    ]);
    const widths = barWidths([60_000, 60_000, 60_000, 60_000]);
    expect(widths.reduce((sum, width) => sum + width, 3)).toBeLessThanOrEqual(38);
  });

  it('names what the machine declares and the run has not entered, many of them only when asked for', () => {
    const states = (n: number) =>
      Array.from({ length: n }, (_, i) => ({ name: `s${i}`, tools: [{ name: 't', effect: null }] }));
    expect(kinds({ ...night, ahead: states(1) }).slice(-3)).toEqual(['ahead-head', 'ahead', 'ahead']);
    expect(kinds({ ...night, ahead: states(40) }).at(-1)).toBe('ahead-head');
    expect(kinds({ ...night, ahead: states(40), folded: new Set(['ahead']) })).toHaveLength(7 + 81);
    expect(kinds({ ...night, ahead: states(1), filter: 'effects' })).toEqual([]);
  });

  it('says of a long run which steps are not held, and drops none of its visits', () => {
    const visits = [
      { ...visit('plan', 1, 2), leftSeq: toSeq(100) },
      { ...visit('plan', 2, 101), leftSeq: toSeq(200) },
      { ...visit('plan', 3, 201), leftSeq: toSeq(300) },
    ];
    const steps = [step('plan#1/a#1', 10), step('plan#3/a#1', 290)];
    const rows = treeRows({
      ...night,
      visits,
      steps,
      spans: [
        [0, 50],
        [280, Number.MAX_SAFE_INTEGER],
      ],
    });
    expect(
      rows.map((row) => {
        if (row.kind === 'visit') return [row.visit, row.held, row.open];
        return row.kind === 'hole' ? [row.fromSeq, row.toSeq] : row.kind;
      }),
    ).toEqual([
      [1, 'some', true],
      'step',
      [51, 100],
      [2, 'none', false],
      [3, 'some', true],
      [202, 280],
      'step',
    ]);
  });
});

describe('steps that end before the run does', () => {
  const held = input({
    spans: [
      [0, 0],
      [2, 5],
    ],
    breaks: breaksOf({ interruption: { cause: 'lease-lapsed', workerId: null, seq: 9 } } as never, []),
  });

  it('leave a visit that goes on beyond them open-ended, and show no stop behind it as if nothing lay between', () => {
    const rows = treeRows(held);
    expect(rows.filter(({ kind }) => kind === 'visit')).toMatchObject([{ held: 'some' }, { held: 'some' }]);
    expect(rows.some(({ kind }) => kind === 'break')).toBe(false);
    const all = treeRows({ ...held, spans: [[0, Number.MAX_SAFE_INTEGER]] });
    expect(all.filter(({ kind }) => kind === 'visit')).toMatchObject([{ held: 'all' }, { held: 'all' }]);
    expect(all.some(({ kind }) => kind === 'break')).toBe(true);
  });

  it('have levels, and no numbers among siblings that are not all there', () => {
    const places = treePlaces(treeRows(held), true);
    expect(places[0]).toEqual({ level: 1, position: undefined, of: -1 });
    expect(places[1]?.level).toBe(2);
  });
});

it('rows begin where those before them end', () => {
  const rows = treeRows(input());
  const tops = rowTops(rows, 4);
  expect(tops[0]).toBe(4);
  rows.forEach((row, n) => {
    expect((tops[n + 1] ?? 0) - (tops[n] ?? 0)).toBe(heightOf(row));
  });
});
