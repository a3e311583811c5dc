import { describe, expect, it } from 'vitest';
import { refOf, TestLineage, testHash, testMachine } from '../../testing/random-journal';
import { testCall } from '../../testing/test-call';
import { epochMs, machineDigest, runId, seq, stepKey, workerId } from '../events/ids';
import type { Decision, NewEvent } from '../events/run-event';
import type { EffectRecord } from '../projections/records';
import { statusNow } from '../projections/run-status';
import { assertDefined } from '../shared/assert';
import type { Plan } from './plan';
import { type PlanInput, planRun, resolvePoint } from './plan-run';

/* What a plan makes of an effect that other generations and other runs of the lineage know of as well. */

const call = testCall('pay');
const { key } = call;
const other = runId('run_other');
const A = testHash('a');
const B = testHash('b');

const enter = (state: string): NewEvent => ({ kind: 'state.entered', key: `${state}#1`, state, visit: 1 });
const save: NewEvent = {
  kind: 'checkpoint.saved',
  trigger: 'manual',
  visit: '',
  name: '',
  entrySeq: seq(0),
  othersSeq: seq(0),
};
type Kind = 'external' | 'idempotent';
const send = (lineage: TestLineage, effect: Kind): NewEvent => call.send(lineage, 1, effect);
const rejected = (final: boolean): NewEvent => ({
  kind: 'step.failed',
  stepKey: key,
  attempt: 1,
  failure: final ? 'rejected' : 'not-sent',
  error: { type: 'E', message: 'no' },
  final,
});
const completed = (recorded: boolean): NewEvent => ({
  kind: 'step.completed',
  stepKey: key,
  attempt: 1,
  recorded,
  ...(recorded ? { result: refOf('paid') } : { problem: 'a Socket' }),
});
const notRecorded: NewEvent = {
  kind: 'run.failed',
  cause: 'not-recorded',
  error: { type: 'NotRecordable', message: 'a Socket' },
  stepKey: key,
};

function at(events: (lineage: TestLineage) => readonly NewEvent[]): TestLineage {
  const lineage = new TestLineage();
  lineage.worker([enter('plan'), save]);
  lineage.worker([
    { kind: 'state.left', key: 'plan#1', state: 'plan', visit: 1, to: 'work' },
    enter('work'),
    save,
  ]);
  for (const event of events(lineage)) lineage.worker([event]);
  return lineage;
}
function stop(lineage: TestLineage): TestLineage {
  lineage.now += 5_000;
  lineage.console([{ kind: 'run.interrupted', cause: 'lease-lapsed' }]);
  lineage.release();
  return lineage;
}
/** Another row of the occurrence, as a run of the lineage would have left it. */
function beside(
  lineage: TestLineage,
  over: Partial<EffectRecord> & { readonly args?: typeof A },
): TestLineage {
  const mine = assertDefined(lineage.ledger()[0], 'the occurrence has a row');
  const { args = A, generation = 2, ...rest } = over;
  const { result: _result, ...bare } = mine;
  lineage.effects.set(`${generation} ${key}`, {
    ...bare,
    generation,
    runId: other,
    intentSeq: seq(77),
    intent: { ...mine.intent, generation, argsDigest: args },
    ...(rest.status === 'confirmed' && {
      confirmedBy: 'outcome',
      confirmedSeq: seq(79),
      result: refOf('paid there'),
    }),
    ...rest,
  });
  return lineage;
}
function planOf(lineage: TestLineage, over: Partial<PlanInput> = {}): Plan {
  const { run, steps, checkpoints } = lineage.of();
  const now = epochMs(lineage.now);
  const input: PlanInput = {
    run,
    status: statusNow(run, now),
    mode: 'resume',
    from: 'latest',
    edits: [],
    decisions: {},
    options: {},
    now,
    head: run.state,
    steps: [...steps.values()],
    checkpoints,
    effects: lineage.ledger(),
    machine: testMachine,
    today: { digest: machineDigest('d'.repeat(64)), machine: testMachine, workerId: workerId('w9') },
    ...over,
  };
  const point = resolvePoint(input.mode, input.from, input);
  if (!point.ok) throw new Error(point.problem.sentence);
  const plan = planRun({ ...input, point: lineage.stateAt(point.value.seq) }, testHash);
  if (!plan.ok) throw new Error(JSON.stringify(plan.problem));
  return plan.value;
}
const step = (plan: Plan) =>
  assertDefined(
    plan.steps.find((one) => one.key === key),
    'the plan has the step',
  );
const obstacles = (plan: Plan) =>
  plan.obstacles.map(({ kind, stepKey }) => `${kind} ${stepKey ?? ''}`.trim());

describe.each(['external', 'idempotent'] as const)(
  'an %s call that this run surely did not get through',
  (effect) => {
    const answers = effect === 'external' ? 'skip' : 'reuse';
    it.each<[string, Partial<EffectRecord> & { readonly args?: typeof A }, string]>([
      ['nobody else asked', { generation: 1, runId: runId('run_root'), status: 'failed' }, 'retry-same-key'],
      ['another run failed as well', { status: 'failed', args: B }, 'retry-same-key'],
      ['another run confirmed it, with these arguments', { generation: 1, status: 'confirmed' }, answers],
      ['another generation confirmed it, with these arguments', { status: 'confirmed' }, answers],
      ['another generation confirmed it, with other arguments', { status: 'confirmed', args: B }, 'blocked'],
      ['another run has it in flight', { generation: 1, status: 'intended' }, 'blocked'],
      ['another generation is in flight', { status: 'intended', args: B }, 'blocked'],
      ['another generation is in doubt', { status: 'in-doubt', args: B }, 'blocked'],
      [
        'another run confirmed it without a result',
        { status: 'confirmed', result: undefined as never },
        'blocked',
      ],
    ])('%s', (_what, row, disposition) => {
      const plan = planOf(
        stop(
          beside(
            at((lineage) => [send(lineage, effect), rejected(false)]),
            row,
          ),
        ),
      );
      expect(step(plan).disposition).toBe(disposition);
      expect(obstacles(plan).length > 0).toBe(disposition === 'blocked');
      if (row.status !== 'failed') {
        expect(step(plan).reason).toContain(other);
        expect(step(plan).intentSeq).toBe(77);
      }
    });
  },
);

describe('a failure after which the code went on', () => {
  const went = (): TestLineage =>
    at((lineage) => [
      send(lineage, 'external'),
      rejected(true),
      { kind: 'message.appended', key: stepKey('work#1/$msg#1'), role: 'user', message: refOf('it failed') },
    ]);
  it.each<[string, Partial<EffectRecord> | undefined, string | undefined]>([
    ['and nobody asked again', undefined, undefined],
    [
      'and another run confirmed it since',
      { generation: 1, status: 'confirmed' },
      `Since then confirmed at seq 79 of run ${other}`,
    ],
    [
      'and another run has it in flight',
      { generation: 1, status: 'intended' },
      `run ${other} has intended it, outcome unknown`,
    ],
    [
      'and another run has it in doubt',
      { generation: 2, status: 'in-doubt' },
      `run ${other} has intended it, outcome unknown`,
    ],
  ])('is what its code is given again, %s', (_what, row, warning) => {
    const plain = planOf(stop(went()));
    const lineage = went();
    const plan = planOf(stop(row === undefined ? lineage : beside(lineage, row)));
    expect(step(plan)).toMatchObject({ disposition: 'reuse' });
    expect(step(plan).reason).toContain('the recorded failure is given again');
    expect(obstacles(plan)).toEqual([]);
    if (warning === undefined) return;
    expect(step(plan).reason).toContain(warning);
    expect(step(plan).ownerRunId).toBe(other);
    expect(plan.digest).not.toBe(plain.digest);
  });

  it('is given again by a replay too, whoever confirmed it since', () => {
    const plan = planOf(stop(beside(went(), { generation: 1, status: 'confirmed' })), {
      mode: 'replay',
      from: 'start',
    });
    expect(step(plan)).toMatchObject({
      disposition: 'reuse',
      reason: 'The recorded failure is given again.',
    });
  });
});

describe('what happened and answered something unknown', () => {
  const unrecorded = (effect: Kind) => {
    const lineage = at((one) => [send(one, effect), completed(false), notRecorded]);
    lineage.release();
    return lineage;
  };
  const given = (lineage: TestLineage): Readonly<Record<string, Decision>> => ({
    [key]: {
      intentSeq: assertDefined(lineage.ledger()[0], 'a row').intentSeq,
      outcome: 'happened',
      result: refOf('said'),
    },
  });
  const orders: readonly (readonly [string, (lineage: TestLineage) => Partial<PlanInput>])[] = [
    ['a resume', () => ({})],
    [
      'a rewind from before it',
      (l) => ({ mode: 'rewind', from: l.of().checkpoints[0]?.id ?? '', options: { keep: [key] } }),
    ],
    ['a fork from the newest point', () => ({ mode: 'fork', from: 'latest' })],
    ['a fork from before it', (l) => ({ mode: 'fork', from: l.of().checkpoints[1]?.id ?? '' })],
    ['a fork from the start', () => ({ mode: 'fork', from: 'start' })],
  ];
  describe.each(['external', 'idempotent'] as const)('%s', (effect) => {
    it.each(orders)('stops %s, until a decision gives the result', (_what, order) => {
      const lineage = unrecorded(effect);
      const before = planOf(lineage, order(lineage));
      expect(step(before).disposition).toBe('blocked');
      expect(obstacles(before)).toContain(`not-recorded ${key}`);
      const [decision] = Object.values(given(lineage));
      lineage.console([
        {
          kind: 'effect.decided',
          stepKey: key,
          decision: assertDefined(decision, 'a decision'),
          actor: 'op',
          reason: '',
          commandId: lineage.nextCommand(),
        },
      ]);
      const after = planOf(lineage, order(lineage));
      expect(step(after).disposition).toBe(effect === 'external' ? 'skip' : 'reuse');
      expect(obstacles(after)).toEqual([]);
    });

    it('takes the result with the order as well', () => {
      const lineage = unrecorded(effect);
      const plan = planOf(lineage, { decisions: given(lineage) });
      expect(step(plan).disposition).toBe(effect === 'external' ? 'skip' : 'reuse');
      expect(obstacles(plan)).toEqual([]);
    });
  });

  it('is never decided not to have happened', () => {
    const lineage = unrecorded('external');
    const { intentSeq } = assertDefined(lineage.ledger()[0], 'a row');
    expect(() => planOf(lineage, { decisions: { [key]: { intentSeq, outcome: 'did-not-happen' } } })).toThrow(
      'only what it answered is not known',
    );
  });
});

describe('a fork past an effect that is open or in doubt', () => {
  const doubtful = () => stop(at((lineage) => [send(lineage, 'external')]));
  it('cannot be ordered where it would have to answer it before it goes live', () => {
    const lineage = doubtful();
    lineage.now += 10;
    const plan = planOf(lineage, { mode: 'fork', from: 'latest' });
    expect(step(plan).disposition).toBe('blocked');
    expect(obstacles(plan)).toEqual([`blocked ${key}`]);
  });

  it.each([0, 1])(
    'shows it as blocked beyond the point, where it waits if it comes to it (checkpoint %i)',
    (n) => {
      const lineage = doubtful();
      const plan = planOf(lineage, { mode: 'fork', from: lineage.of().checkpoints[n]?.id ?? '' });
      expect(step(plan)).toMatchObject({ disposition: 'blocked', condition: 'if-awaited' });
      expect(step(plan).reason).toContain('Where the fork comes to it, it waits for that.');
      expect(obstacles(plan)).toEqual([]);
    },
  );
});

describe('a decision', () => {
  it('is for the run’s own intent, where another run of the lineage has one at the same seq', () => {
    const lineage = stop(at((one) => [send(one, 'external')]));
    const { intentSeq } = assertDefined(lineage.ledger()[0], 'a row');
    beside(lineage, { generation: 0, intentSeq, status: 'failed', args: B });
    const plan = planOf(lineage, { decisions: { [key]: { intentSeq, outcome: 'did-not-happen' } } });
    expect(step(plan).disposition).toBe('retry-same-key');
  });
});

describe('the reason of a row claims no more than is known', () => {
  const doubtful = () => stop(at((one) => [send(one, 'external')]));
  const intentOf = (lineage: TestLineage) => assertDefined(lineage.ledger()[0], 'a row').intentSeq;
  const decide = (lineage: TestLineage, outcome: 'happened' | 'did-not-happen'): Decision => ({
    intentSeq: intentOf(lineage),
    outcome,
    ...(outcome === 'happened' && { result: refOf('said'), receipt: 're_1' }),
  });
  const record = (lineage: TestLineage, outcome: 'happened' | 'did-not-happen'): TestLineage => {
    lineage.console([
      {
        kind: 'effect.decided',
        stepKey: key,
        decision: decide(lineage, outcome),
        actor: 'op',
        reason: '',
        commandId: lineage.nextCommand(),
      },
    ]);
    return lineage;
  };

  it('where there is an intent alone: nobody knows whether it left', () => {
    expect(step(planOf(doubtful())).reason).toMatch(/^Intended, outcome unknown\./);
    const open = step(planOf(stop(at((one) => [send(one, 'idempotent')]))));
    expect(open.disposition).toBe('retry-same-key');
    expect(open.reason).toContain('intended, outcome unknown');
  });

  it.each(['in-doubt', 'intended'] as const)('where another run has it %s', (status) => {
    const { reason } = step(planOf(beside(doubtful(), { generation: 1, status })));
    expect(reason).toBe(
      `Nothing is sent: run ${other} intended it, outcome unknown. That has to be known there first.`,
    );
  });

  it('where it is the run itself that a fork is made of', () => {
    expect(step(planOf(doubtful(), { mode: 'fork', from: 'latest' })).reason).toBe(
      'Nothing is sent: this run intended it, outcome unknown. That has to be known first.',
    );
  });

  it('where a person said that it happened, here or before', () => {
    const lineage = doubtful();
    const here = planOf(lineage, { decisions: { [key]: decide(lineage, 'happened') } });
    expect(step(here).reason).toBe('Never sent again: it is decided here that it happened, receipt re_1.');
    expect(step(planOf(record(doubtful(), 'happened'))).reason).toBe(
      'Never sent again: a person said that it happened, receipt re_1.',
    );
  });

  it('where it goes out again, with whose word that it did not happen', () => {
    const lineage = doubtful();
    const here = planOf(lineage, { decisions: { [key]: decide(lineage, 'did-not-happen') } });
    expect(step(here).reason).toBe('Goes out under the same key: it is decided here that it did not happen.');
    expect(step(planOf(record(doubtful(), 'did-not-happen'))).reason).toMatch(
      /a person said that it did not/,
    );
    expect(step(planOf(stop(at((one) => [send(one, 'external'), rejected(false)])))).reason).toBe(
      'Goes out under the same key: it surely did not happen, not-sent.',
    );
  });

  it('and begins with what is not done, so that no narrow column cuts that off', () => {
    const first = (lineage: TestLineage, over: Partial<PlanInput> = {}) => step(planOf(lineage, over)).reason;
    const paid = (effect: 'external' | 'idempotent') =>
      stop(at((one) => [send(one, effect), completed(true)]));
    expect(first(paid('external'))).toMatch(/^Never sent again: confirmed at seq \d+/);
    expect(first(paid('idempotent'))).toMatch(/^Not sent again: confirmed at seq \d+.*; the recorded result/);
    const point = { mode: 'fork', from: 'start' } as const;
    expect(first(paid('external'), point)).toMatch(
      /^Never sent again: .*\. Asked again with the same arguments, it answers from the record\.$/,
    );
    expect(first(paid('external'), { mode: 'replay', from: 'start' })).toMatch(/^Nothing is sent/);
    expect(first(beside(doubtful(), { status: 'confirmed', args: B }))).toMatch(/^Intended|^Nothing is sent/);
  });
});

describe('the digest of a plan', () => {
  it('covers what may run beyond the frontier, what is left behind, and the conversation', () => {
    const base = planOf(stop(at((lineage) => [send(lineage, 'external'), completed(true)])), {});
    const narrower = {
      ...testMachine,
      states: { ...testMachine.states, work: { transitions: [], tools: ['pay'], final: true } },
    };
    const today = { digest: machineDigest('d'.repeat(64)), machine: narrower, workerId: workerId('w9') };
    const lineage = () => at((one) => [send(one, 'external'), completed(true)]);
    expect(planOf(stop(lineage()), { today }).digest).not.toBe(base.digest);
    const talk = lineage();
    talk.worker([{ kind: 'message.appended', role: 'user', message: refOf('hi') }]);
    expect(planOf(stop(talk)).digest).not.toBe(base.digest);
    const more = lineage();
    more.worker([
      {
        kind: 'step.started',
        stepKey: stepKey('work#1/ask#1'),
        name: 'ask',
        step: 'human',
        attempt: 1,
        inputDigest: A,
      },
    ]);
    const rewind = (one: TestLineage) =>
      planOf(stop(one), {
        mode: 'rewind',
        from: one.of().checkpoints[0]?.id ?? '',
        options: { keep: [key] },
      });
    const [less, left] = [rewind(lineage()), rewind(more)];
    expect(left.leftBehind.questions).toEqual(['work#1/ask#1']);
    expect(left.digest).not.toBe(less.digest);
  });
});
