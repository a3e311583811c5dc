import { describe, expect, it } from 'vitest';
import { runEvent } from '@/lib/wire/v1/events';
import { refOf, TestLineage, testHash } from '../../testing/random-journal';
import { seq, stepKey } from '../events/ids';
import type { NewEvent } from '../events/run-event';
import { inheritEvents } from '../journal/inherit';
import { foldRun } from './run-state';

const key = stepKey('work#1/fan#1:a/look#1');
const call = { name: 'look', step: 'tool', effect: 'read', inputDigest: testHash('i') } as const;
const start = (attempt: number, of = key): NewEvent => ({
  kind: 'step.started',
  stepKey: of,
  attempt,
  ...call,
});
const done: NewEvent = { kind: 'step.completed', stepKey: key, attempt: 1, recorded: true, result: refOf(1) };
const failed: NewEvent = {
  kind: 'step.failed',
  stepKey: key,
  attempt: 1,
  failure: 'error',
  error: { type: 'E', message: 'm' },
  final: true,
};
const ends: Readonly<Record<string, readonly NewEvent[]>> = {
  'was completed': [done],
  'could not be recorded': [{ kind: 'step.completed', stepKey: key, attempt: 1, recorded: false }],
  'failed for good, and its code went on': [failed, start(1, stepKey('work#1/fan#1:a/look#2'))],
  'was abandoned by its scope': [{ kind: 'scope.left', scope: 'work#1/fan#1:a' }],
};

describe.each(Object.entries(ends))('a step that %s', (what, end) => {
  function ended(more: readonly NewEvent[] = []): TestLineage {
    const lineage = new TestLineage();
    lineage.worker([{ kind: 'state.entered', key: 'work#1', state: 'work', visit: 1 }]);
    lineage.worker([start(1), ...end, ...more]);
    return lineage;
  }
  const repeated = (lineage: TestLineage) => lineage.of().run.state.counts.repeatedAttempts;

  it('raises the alarm where the same attempt is started again, in a batch of its own or in the same', () => {
    const apart = ended();
    expect(apart.worker([start(1)])).toBe(true);
    for (const lineage of [apart, ended([start(1)])]) {
      expect(repeated(lineage)).toBe(1);
      const { run, steps, events } = lineage.of();
      expect(steps.get(`0 ${key}`)).toMatchObject({
        status: 'running',
        attempt: 1,
        executions: 2,
        startedSeq: 3,
      });
      expect(foldRun(events)).toEqual(run.state);
      for (const event of events) expect(runEvent.parse(JSON.parse(JSON.stringify(event)))).toEqual(event);
    }
  });

  it('keeps the alarm when the run goes back to before it', () => {
    const lineage = ended([start(1)]);
    lineage.now += 5_000;
    lineage.console([
      { kind: 'run.interrupted', cause: 'lease-lapsed' },
      { kind: 'run.rewound', toSeq: seq(1), commandId: lineage.nextCommand(), kept: [] },
    ]);
    expect(repeated(lineage)).toBe(1);
  });

  it('raises none for its next attempt', () => {
    const lineage = ended();
    lineage.worker([start(2)]);
    expect(repeated(lineage)).toBe(0);
    expect(lineage.of().steps.get(`0 ${key}`)).toMatchObject({ attempt: 2, executions: 2 });
  });

  it('counts once among the steps that have an outcome', () => {
    const lineage = ended();
    const before = lineage.of().run.state.counts.steps;
    lineage.worker([start(1), done]);
    const abandoned = what === 'was abandoned by its scope' ? 1 : 0;
    expect(lineage.of().run.state.counts.steps).toBe(before + abandoned);
  });

  it('raises none on a line that went back to before it', () => {
    const lineage = ended();
    lineage.worker([{ kind: 'run.failed', cause: 'error', error: { type: 'E', message: 'm' } }]);
    lineage.release();
    lineage.console([{ kind: 'run.rewound', toSeq: seq(2), kept: [], commandId: lineage.nextCommand() }]);
    lineage.claim();
    expect(lineage.worker([start(1)])).toBe(true);
    expect(repeated(lineage)).toBe(0);
    expect(lineage.of().steps.get(`1 ${key}`)).toMatchObject({ attempt: 1, executions: 1 });
  });

  it('raises it in a fork as well, which names the seq in its own numbering', () => {
    const lineage = ended([start(1)]);
    const copies = inheritEvents(lineage.root, lineage.of().events, seq(11));
    const [first, again] = copies.flatMap((event) =>
      event.kind === 'step.started' && event.stepKey === key ? [event] : [],
    );
    const at = copies.findIndex((event) => event === first);
    expect(first?.endedBefore).toBeUndefined();
    expect(again?.endedBefore).toMatchObject({ attempt: 1, executions: 1, startedSeq: 11 + at });
  });
});

it('is not the worker’s to say', () => {
  const lineage = new TestLineage();
  const endedBefore = { attempt: 9, executions: 9, startedSeq: seq(1), startedAt: 1, counted: true };
  lineage.worker([{ ...start(1), endedBefore } as unknown as NewEvent]);
  expect(lineage.of().run.state.counts).toMatchObject({ repeatedAttempts: 0, steps: 0 });
});
