import { describe, expect, it } from 'vitest';
import { refOf, TestLineage, testHash } from '../../testing/random-journal';
import { seq, stepKey } from '../events/ids';
import type { NewEvent } from '../events/run-event';
import { inheritEvents } from '../journal/inherit';
import { assertDefined } from '../shared/assert';

const failing = stepKey('work#1/fan#1:a/look#1');
const began = (key: string): NewEvent => ({
  kind: 'step.started',
  stepKey: stepKey(key),
  name: 'look',
  step: 'tool',
  effect: 'read',
  attempt: 1,
  inputDigest: testHash(key),
});
const failed: NewEvent = {
  kind: 'step.failed',
  stepKey: failing,
  attempt: 1,
  failure: 'error',
  error: { type: 'HttpError', message: 'no' },
  final: true,
};
const ended = (named: boolean, cause: 'error' | 'not-recorded' = 'error'): NewEvent => ({
  kind: 'run.failed',
  cause,
  error: { type: 'Error', message: 'lookup failed' },
  ...(named && { stepKey: failing }),
});
const said = (key: string): NewEvent => ({
  kind: 'message.appended',
  key: stepKey(key),
  role: 'user',
  message: refOf(1),
});

function run(between: readonly NewEvent[], end: NewEvent): TestLineage {
  const lineage = new TestLineage();
  lineage.worker([
    { kind: 'state.entered', key: 'work#1', state: 'work', visit: 1 },
    began('work#1/fan#1:b/look#1'),
    began(failing),
    failed,
    ...between,
    end,
  ]);
  return lineage;
}

const nothing: readonly (readonly [string, readonly NewEvent[]])[] = [
  ['nothing', []],
  ['a sibling branch', [said('work#1/fan#1:b/$msg#1')]],
  ['the ends of the scopes that it broke', [{ kind: 'scope.left', scope: 'work#1/fan#1:a' }]],
  ['what a person wrote', [{ kind: 'message.appended', role: 'user', message: refOf(2) }]],
];
const something: readonly (readonly [string, readonly NewEvent[]])[] = [
  ['a call in its scope', [began('work#1/fan#1:a/look#2')]],
  ['a message in the scope above', [said('work#1/$msg#1')]],
  [
    'a variable in the scope above',
    [{ kind: 'variables.patched', key: stepKey('work#1/$set#1'), patch: [] }],
  ],
  [
    'a value in its scope',
    [{ kind: 'value.recorded', key: stepKey('work#1/fan#1:a/$time#1'), of: 'time', value: 1 }],
  ],
  ['the next state', [{ kind: 'state.left', key: 'work#1', state: 'work', visit: 1, to: 'close' }]],
];

const finalIn = (lineage: TestLineage) => {
  const copies = inheritEvents(lineage.root, lineage.of().events, seq(2));
  return assertDefined(
    copies.find((event) => event.kind === 'step.failed'),
    'the failure is copied',
  );
};

describe('the failure that a run names', () => {
  it.each(something)(
    'is an outcome where its code went on from it by %s, though it was thrown again',
    (_what, between) => {
      const lineage = run(between, ended(true));
      const { state } = lineage.of().run;
      expect(state.failure?.stepKey).toBe(failing);
      expect(state.stopped[failing]).toBeUndefined();
      expect(finalIn(lineage)).toMatchObject({ final: true });
    },
  );

  it.each(nothing)('ended it where nothing went on: after it came %s', (_what, between) => {
    const lineage = run(between, ended(true));
    expect(lineage.of().run.state.stopped[failing]).toMatchObject({ status: 'failed' });
    expect(finalIn(lineage)).toMatchObject({ final: false });
  });

  it('is that one, though another branch failed after it', () => {
    const other = 'work#1/fan#1:b/look#1';
    const lineage = run([{ ...failed, stepKey: stepKey(other) }], ended(true));
    expect(Object.keys(lineage.of().run.state.stopped)).toEqual([failing]);
  });
});

describe('the failure that ended a run which names none', () => {
  it.each(nothing)(
    'is the last one after which its code asked for nothing: after it came %s',
    (_what, between) => {
      const lineage = run(between, ended(false));
      const { state } = lineage.of().run;
      expect(state.failure?.stepKey).toBe(failing);
      expect(state.stopped[failing]).toMatchObject({ status: 'failed' });
      expect(finalIn(lineage)).toMatchObject({ final: false });
    },
  );

  it.each(something)('is none where code went on: after it came %s', (_what, between) => {
    const lineage = run(between, ended(false));
    const { state } = lineage.of().run;
    expect(state.failure?.stepKey).toBeUndefined();
    expect(state.stopped[failing]?.status).not.toBe('failed');
    expect(finalIn(lineage)).toMatchObject({ final: true });
  });

  it('is the named one where one is named, and none where the run ended otherwise', () => {
    expect(run([], ended(true)).of().run.state.failure?.stepKey).toBe(failing);
    expect(run([], ended(false, 'not-recorded')).of().run.state.failure?.stepKey).toBeUndefined();
  });

  it('is so on a new line too, where a rewind went back to right after it', () => {
    const lineage = run([said('work#1/$msg#1')], {
      kind: 'message.appended',
      role: 'user',
      message: refOf(3),
    });
    const toSeq = assertDefined(
      lineage.of().events.find((event) => event.kind === 'step.failed'),
      'it failed',
    ).seq;
    lineage.release();
    lineage.console([{ kind: 'run.rewound', toSeq, kept: [], commandId: lineage.nextCommand() }]);
    lineage.claim();
    lineage.worker([ended(false)]);
    expect(lineage.of().run.state.failure?.stepKey).toBe(failing);
  });

  it('is tried again as the next attempt of the same row', () => {
    const lineage = run([], ended(false));
    lineage.claim();
    lineage.worker([{ ...began(failing), attempt: 2 } as NewEvent]);
    const { run: after, steps } = lineage.of();
    expect(after.state.counts.repeatedAttempts).toBe(0);
    expect(steps.get(`0 ${failing}`)).toMatchObject({ status: 'running', attempt: 2, executions: 2 });
  });
});
