import { describe, expect, it } from 'vitest';
import type { RunSummary } from '@/lib/client/api-types';
import type { EndedOrder } from '@/lib/client/order-events';
import { orderStanding, phaseOf, restWords, situationOf, takenAt, timesOf } from './run-words';

type Holder = 'none' | 'runs' | 'probes';
const holders = {
  none: null,
  runs: { workerId: 'eu-1', since: '2026-11-29T01:00:00.000Z', mode: 'resume' },
  probes: { workerId: 'eu-2', since: '2026-11-29T01:00:00.000Z', mode: 'verify' },
} as const satisfies Record<Holder, RunSummary['holder']>;
const pending = (mode: string) => ({ commandId: 'c', mode, actor: 'anna' });
const modes = ['pause', 'cancel', 'verify', 'resume', 'rewind', 'fork', 'replay'];
const statuses: readonly RunSummary['status'][] = [
  'queued',
  'running',
  'waiting',
  'paused',
  'interrupted',
  'failed',
  'completed',
  'cancelled',
  'unknown',
];
const run = (change: Partial<RunSummary> = {}): RunSummary =>
  ({
    agent: 'refund',
    status: 'running',
    phase: 'tool_calling',
    home: 'here',
    holder: null,
    pending: null,
    failure: null,
    interruption: null,
    effectsInDoubt: 0,
    conflicts: [],
    questions: [],
    pausedBefore: null,
    unclaimed: null,
    ...change,
  }) as RunSummary;

it.each([
  ['hand-over', 'worker stopped'],
  ['lease-lapsed', 'worker lost'],
  ['recorded', 'the trace ends here'],
  ['order-refused', 'order refused, its plan had changed'],
])('a run interrupted by %s: %s', (cause, words) => {
  const interruption = { cause, workerId: null, seq: 9 } as RunSummary['interruption'];
  expect(situationOf(run({ status: 'interrupted', interruption }), 'utc')).toBe(words);
});

describe('an order under way', () => {
  it.each([
    ['pause', 'runs', true, 'worker eu-1 stops at its next point.'],
    ['pause', 'none', true, 'the worker that was told was lost before it stopped; nothing runs.'],
    ['cancel', 'runs', false, 'worker eu-1 stops at its next point.'],
    ['cancel', 'none', false, 'the worker that was told was lost before it stopped; nothing runs.'],
    ['verify', 'runs', true, 'worker eu-1 asks downstream.'],
    ['verify', 'probes', true, 'worker eu-2 asks downstream.'],
    ['verify', 'none', true, 'a worker with this tool’s probe asks downstream as soon as it is free.'],
    [
      'verify',
      'none',
      false,
      'no worker that has the agent refund is connected; downstream is asked once one with this tool’s probe comes.',
    ],
    ['resume', 'runs', true, 'worker eu-1 carries it out.'],
    ['resume', 'probes', true, 'it starts once worker eu-2 has asked downstream.'],
    ['rewind', 'none', true, 'it starts as soon as a worker with the planned code of refund is free.'],
    ['fork', 'none', true, 'it starts as soon as a worker with the planned code of refund is free.'],
  ] as const)('%s with holder %s, worker connected %s', (mode, holder, hasWorker, sentence) => {
    const words = orderStanding(run({ pending: pending(mode), holder: holders[holder] }), hasWorker);
    expect(words?.sentence).toBe(sentence);
  });

  it('says in the console’s words why nobody takes it up', () => {
    const sentence = 'No worker that has the agent refund is connected.';
    const unclaimed = { kind: 'no-worker', sentence } as const;
    expect(orderStanding(run({ pending: pending('fork'), unclaimed }), false)?.sentence).toBe(sentence);
  });

  it('never says that a run waits for a worker, or starts, while one holds it, nor that an order to stop starts it', () => {
    for (const mode of modes)
      for (const holder of ['none', 'runs', 'probes'] as const)
        for (const hasWorker of [true, false, undefined]) {
          const words = orderStanding(run({ pending: pending(mode), holder: holders[holder] }), hasWorker);
          const all = `${words?.short} ${words?.sentence}`;
          if (holder !== 'none') expect(all).not.toMatch(/waits for a worker|is free|is connected/);
          if (mode === 'pause' || mode === 'cancel') expect(all).not.toMatch(/start|is free/);
        }
  });

  it('is told in the row whatever the status', () => {
    const row = (status: RunSummary['status'], holder: Holder) =>
      situationOf(run({ status, pending: pending('pause'), holder: holders[holder] }), 'utc');
    expect(row('running', 'runs')).toBe('pause accepted, stops at its next point');
    expect(row('interrupted', 'none')).toBe('pause accepted, its worker was lost');
    expect(situationOf(run({ status: 'running', home: 'mirror', pending: pending('resume') }), 'utc')).toBe(
      'calling a tool',
    );
  });
});

it('has words for every status, and none that claim what has ended still does something', () => {
  expect(statuses.map((status) => situationOf(run({ status }), 'utc'))).toEqual([
    'waits for a worker',
    'calling a tool',
    'calling a tool',
    'calling a tool',
    'worker lost',
    '',
    '',
    '',
    '',
  ]);
});

describe('what it waits for', () => {
  const waits = (more: Partial<RunSummary>) =>
    phaseOf(run({ status: 'waiting', phase: 'waiting_human', ...more }));
  const conflicts = ['notify#2/send_mail#1'] as unknown as RunSummary['conflicts'];
  it('is named, where it is no question', () => {
    expect(waits({})).toBe('waits for a person');
    expect(waits({ effectsInDoubt: 1 })).toBe('a doubt to decide');
    expect(waits({ effectsInDoubt: 2 })).toBe('2 doubts to decide');
    expect(waits({ conflicts })).toBe('blocked at send_mail#1, confirmed with other arguments');
    expect(waits({ effectsInDoubt: 1, questions: [{}] as RunSummary['questions'] })).toBe(
      'waits for a person',
    );
    expect(phaseOf(run({ phase: 'tool_calling', effectsInDoubt: 1 }))).toBe('calling a tool');
  });
  it('is told in the row', () => {
    expect(situationOf(run({ status: 'waiting', phase: 'waiting_human', conflicts }), 'utc')).toBe(
      'blocked at send_mail#1, confirmed with other arguments',
    );
  });
});

it('a row names the nearest time by which an answer is wanted (S33)', () => {
  const question = (until: string | null, more: object = {}) => ({
    status: 'open',
    inForce: true,
    until,
    ...more,
  });
  const questions = [
    question('2026-11-29T18:00:00.000Z'),
    question('2026-11-29T17:30:00.000Z'),
    question('2026-11-29T17:00:00.000Z', { inForce: false }),
    question(null),
  ] as unknown as RunSummary['questions'];
  const row = (more: Partial<RunSummary>) =>
    situationOf(run({ status: 'waiting', questions, ...more }), 'utc');
  expect(row({ phase: 'waiting_human' })).toBe('waits for a person, answer by 2026-11-29 17:30:00 UTC');
  expect(row({ phase: 'waiting_human', questions: questions.slice(2) })).toBe('waits for a person');
  expect(row({ phase: 'tool_calling' })).toBe('calling a tool');
});

describe('when a run started', () => {
  const at = (second: number) => new Date(second * 1_000).toISOString();
  const times = { startedAt: at(10), createdAt: at(700), updatedAt: at(703), endedAt: null };
  const parent = { runId: 'r0', seq: 9, mode: 'fork' } as unknown as RunSummary['lineage']['parent'];
  const lineage = (of: RunSummary['lineage']['parent']) => ({ parent: of }) as RunSummary['lineage'];
  it('is when its own first event came, not what it copied of its parent', () => {
    expect(timesOf(run({ ...times, lineage: lineage(parent) }))).toEqual({
      at: at(700),
      ms: 3_000,
      goesOn: true,
    });
    expect(timesOf(run({ ...times, lineage: lineage(null) }))).toMatchObject({
      at: at(10),
      ms: 693_000,
    });
  });
  it('is what its trace says for a copy, which was made here later', () => {
    const copy = run({ ...times, endedAt: at(12), home: 'mirror', lineage: lineage(parent) });
    expect(timesOf(copy)).toEqual({ at: at(10), ms: 2_000, goesOn: false });
  });
  it('is not known of a copy that does not say how it ended', () => {
    expect(timesOf(run({ ...times, endedAt: null, home: 'mirror', lineage: lineage(null) }))).toEqual({
      at: at(10),
      goesOn: false,
    });
  });
  it('is not known before it began', () => {
    expect(timesOf(run({ ...times, startedAt: null, lineage: lineage(null) }))).toBeUndefined();
  });
});

describe('how long a run has taken', () => {
  const at = (second: number) => new Date(second * 1_000).toISOString();
  const times = {
    startedAt: at(10),
    createdAt: at(9),
    updatedAt: at(70),
    lineage: { parent: null } as never,
  };
  const taken = (status: RunSummary['status'], now: number, endedAt: string | null = null) => {
    const known = timesOf(run({ ...times, status, endedAt }));
    return known?.ms === undefined ? undefined : takenAt(known, known.ms, now * 1_000);
  };
  it('grows while it goes on, also where nothing is written', () => {
    for (const status of ['running', 'waiting', 'queued'] as const)
      expect([taken(status, 80), taken(status, 3_610)]).toEqual([70_000, 3_600_000]);
  });
  it('stands still once it ended, and where nothing goes on', () => {
    expect(taken('completed', 3_610, at(40))).toBe(30_000);
    for (const status of ['paused', 'interrupted'] as const) expect(taken(status, 3_610)).toBe(60_000);
  });
  it('is never less than its events tell: the clock here may be behind, or not known yet', () => {
    expect([taken('running', 20), taken('running', 0)]).toEqual([60_000, 60_000]);
  });
});

describe('a run at rest', () => {
  const ended = (mode: string, reason = 'lunch', outcome = 'done') =>
    ({ accepted: { mode, actor: 'anna', reason }, ended: { outcome } }) as unknown as EndedOrder;
  it('says who stopped it and why, where a person did', () => {
    expect(restWords(run({ status: 'paused' }), ended('pause'))).toBe('Paused by anna, reason: lunch.');
    expect(restWords(run({ status: 'cancelled' }), ended('cancel', ''))).toBe('Cancelled by anna.');
    expect(restWords(run({ status: 'cancelled' }), ended('cancel', 'Wrong document.'))).toBe(
      'Cancelled by anna, reason: Wrong document.',
    );
  });
  it('names nobody where the newest order was another, or was not carried out', () => {
    expect(restWords(run({ status: 'paused' }), ended('resume'))).toBe('Paused.');
    expect(restWords(run({ status: 'cancelled' }), ended('cancel', '', 'refused'))).toBe('Cancelled.');
    expect(restWords(run({ status: 'paused', pausedBefore: 'tool:pay' }), undefined)).toBeUndefined();
  });
  it('says that nobody is there to go on with it', () => {
    const unclaimed = { kind: 'other-machine', sentence: 'It needs another machine.' } as const;
    expect(restWords(run({ status: 'queued', unclaimed }), undefined)).toBe(
      'Queued. It needs another machine.',
    );
    expect(restWords(run({ status: 'queued' }), undefined)).toMatch(
      /a worker with the code of refund is free/,
    );
    expect(restWords(run({ status: 'queued', pending: pending('resume') }), undefined)).toBeUndefined();
  });
  it.each(statuses.filter((status) => !['queued', 'paused', 'cancelled'].includes(status)))(
    '%s: nothing',
    (status) => {
      expect(restWords(run({ status }), undefined)).toBeUndefined();
    },
  );
});
