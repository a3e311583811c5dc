import { describe, expect, it } from 'vitest';
import { refOf, TestLineage, testHash, testMachine } from '../../testing/random-journal';
import { testIntent } from '../../testing/test-call';
import { epochMs, machineDigest, questionId, runId, type Seq, seq, stepKey, workerId } from '../events/ids';
import type { Decision, Intent, NewEvent } from '../events/run-event';
import { doubtsOf } from '../projections/ledger';
import type { RunRecord } from '../projections/records';
import { statusNow } from '../projections/run-status';
import { without } from '../projections/state-change';
import { stepAt } from '../projections/steps';
import { actionsOf, nextAction } from './actions';
import type { Plan } from './plan';
import { type PlanInput, planRun, resolvePoint } from './plan-run';

const d = machineDigest('d'.repeat(64));
const everything = new Set(['resume', 'rewind', 'fork', 'replay', 'verify', 'pause', 'cancel']);

const call = (
  key: string,
  name: string,
  step: 'tool' | 'llm' | 'compute' | 'human',
  effect?: 'pure' | 'read' | 'idempotent' | 'external',
) => ({
  stepKey: stepKey(key),
  name,
  step,
  ...(effect && { effect }),
  input: refOf({ of: key }),
  inputDigest: testHash(key),
});
const began = (
  key: string,
  name: string,
  step: 'tool' | 'llm' | 'compute' | 'human',
  effect?: 'pure' | 'read',
): NewEvent => ({ kind: 'step.started', attempt: 1, ...call(key, name, step, effect) });
const done = (key: string, extra: { receipt?: string; attempt?: number } = {}): NewEvent => ({
  kind: 'step.completed',
  stepKey: stepKey(key),
  attempt: 1,
  recorded: true,
  result: refOf(`${key} result`),
  ...extra,
});
const enter = (state: string, from?: string): NewEvent => ({
  kind: 'state.entered',
  key: `${state}#1`,
  state,
  visit: 1,
  ...(from !== undefined && { from }),
});
const leave = (state: string, to: string): NewEvent => ({
  kind: 'state.left',
  key: `${state}#1`,
  state,
  visit: 1,
  to,
});
const save: NewEvent = {
  kind: 'checkpoint.saved',
  trigger: 'manual',
  visit: '',
  name: '',
  entrySeq: seq(0),
  othersSeq: seq(0),
};

const pay = (
  lineage: TestLineage,
  key: string,
  effect: 'external' | 'idempotent' = 'external',
  over: Partial<Intent> = {},
): NewEvent => ({
  kind: 'step.started',
  attempt: 1,
  ...call(key, effect === 'external' ? 'pay' : 'put', 'tool'),
  effect,
  intent: testIntent(lineage, { idempotencyKey: `k ${key}`, argsDigest: testHash(key), ...over }),
});

/** The demo's shape: plan, then work with a sum, a read and a refund that is cut off. */
function killed(): TestLineage {
  const lineage = new TestLineage();
  lineage.worker([
    enter('plan'),
    began('plan#1/desk#1', 'desk', 'llm', 'read'),
    done('plan#1/desk#1'),
    save,
    leave('plan', 'work'),
    enter('work', 'plan'),
  ]);
  lineage.worker([
    began('work#1/sum#1', 'sum', 'compute', 'pure'),
    done('work#1/sum#1'),
    began('work#1/look#1', 'look', 'tool', 'read'),
    done('work#1/look#1'),
    save,
  ]);
  lineage.worker([began('work#1/look#2', 'look', 'tool', 'read'), save, pay(lineage, 'work#1/pay#1')]);
  return lineage;
}
function lapse(lineage: TestLineage): TestLineage {
  lineage.now += 5_000;
  lineage.console([{ kind: 'run.interrupted', cause: 'lease-lapsed' }]);
  return lineage;
}

function inputOf(lineage: TestLineage, over: Partial<PlanInput> = {}): PlanInput {
  const stored = lineage.of();
  const now = over.now ?? epochMs(lineage.now);
  const input: PlanInput = {
    run: stored.run,
    status: statusNow(stored.run, now),
    mode: 'resume',
    from: 'latest',
    edits: [],
    decisions: {},
    options: {},
    now,
    head: stored.run.state,
    steps: [...stored.steps.values()],
    checkpoints: stored.checkpoints,
    effects: lineage.ledger(),
    machine: testMachine,
    today: { digest: d, machine: testMachine, workerId: workerId('w9') },
    ...over,
  };
  const point = resolvePoint(input.mode, input.from, input);
  return point.ok && input.point === undefined
    ? { ...input, point: lineage.stateAt(point.value.seq) }
    : input;
}
function planOf(lineage: TestLineage, over: Partial<PlanInput> = {}): Plan {
  const plan = planRun(inputOf(lineage, over), testHash);
  if (!plan.ok) throw new Error(JSON.stringify(plan.problem));
  return plan.value;
}
const by = (plan: Plan): Record<string, string> =>
  Object.fromEntries(plan.steps.map((step) => [step.key, step.disposition]));
const seqOfIntent = (lineage: TestLineage): Seq => lineage.ledger()[0]?.intentSeq ?? seq(0);
const happened = (lineage: TestLineage): Record<string, Decision> => ({
  'work#1/pay#1': {
    intentSeq: seqOfIntent(lineage),
    outcome: 'happened',
    result: refOf('paid'),
    receipt: 're_1',
  },
});

describe('resume', () => {
  it('restores closed visits, returns reads, computes pure steps again and asks for a decision on the effect in doubt (S02)', () => {
    const plan = planOf(lapse(killed()));
    expect(by(plan)).toEqual({
      'plan#1/desk#1': 'restored',
      'work#1/sum#1': 'recompute',
      'work#1/look#1': 'reuse',
      'work#1/look#2': 'execute',
      'work#1/pay#1': 'needs-decision',
    });
    expect(plan.steps.find((step) => step.key === 'work#1/look#2')?.condition).toBe('if-awaited');
    expect(plan.obstacles.map((one) => one.kind)).toEqual(['needs-decision']);
    expect(plan.envelope.states).toEqual(['work', 'plan', 'close']);
    expect(plan.envelope.tools.map((tool) => tool.name)).toEqual(['look', 'pay', 'put']);
    expect(plan.steps.every((step) => step.reason.length > 0)).toBe(true);
  });

  it('shows the limits that the machine declares, and they are part of what its digest covers', () => {
    const lineage = lapse(killed());
    const limited = (limits: { readonly steps: number }) => {
      const input = inputOf(lineage, {});
      const today = input.today && { ...input.today, machine: { ...input.today.machine, limits } };
      const planned = planRun({ ...input, ...(today && { today }) }, testHash);
      if (!planned.ok) throw new Error(JSON.stringify(planned.problem));
      return planned.value;
    };
    expect(planOf(lineage).envelope.limits).toEqual({});
    expect(limited({ steps: 5 }).envelope.limits).toEqual({ steps: 5 });
    expect(limited({ steps: 6 }).digest).not.toBe(limited({ steps: 5 }).digest);
  });

  it('skips what was decided to have happened, and sends again under the same key what did not', () => {
    const lineage = lapse(killed());
    const yes = planOf(lineage, { decisions: happened(lineage) });
    expect(by(yes)['work#1/pay#1']).toBe('skip');
    expect(yes.obstacles).toEqual([]);
    const no = planOf(lineage, {
      decisions: { 'work#1/pay#1': { intentSeq: seqOfIntent(lineage), outcome: 'did-not-happen' } },
    });
    expect(by(no)['work#1/pay#1']).toBe('retry-same-key');
    const hold = planOf(lineage, {
      decisions: { 'work#1/pay#1': { intentSeq: seqOfIntent(lineage), outcome: 'hold' } },
    });
    expect(by(hold)['work#1/pay#1']).toBe('blocked');
    expect(hold.obstacles.map((one) => one.kind)).toEqual(['blocked']);
  });

  it('has one digest: reasons, time, head, cost and the recording of its own decisions do not change it; content does', () => {
    const lineage = lapse(killed());
    const decisions = happened(lineage);
    const first = planOf(lineage, { decisions });
    expect(planOf(lineage, { decisions, now: epochMs(lineage.now + 60_000) }).digest).toBe(first.digest);
    expect(planOf(lineage).digest).not.toBe(first.digest);
    const decision = decisions['work#1/pay#1'];
    const command = lineage.nextCommand();
    if (decision) {
      lineage.console([
        { kind: 'command.accepted', commandId: command, mode: 'resume', actor: 'op', reason: 'r' },
        {
          kind: 'effect.decided',
          stepKey: stepKey('work#1/pay#1'),
          decision,
          actor: 'op',
          reason: 'r',
          commandId: command,
        },
        { kind: 'run.queued', reason: 'command', commandId: command },
      ]);
    }
    const atClaim = planOf(lineage, { decisions, accepted: true });
    expect(atClaim.headSeq).not.toBe(first.headSeq);
    expect(atClaim.digest).toBe(first.digest);
    // Another order's decision, the same or not, is on what is settled.
    expect(planRun(inputOf(lineage, { decisions }), testHash)).toMatchObject({
      ok: false,
      problem: { kind: 'bad-decision', sentence: expect.stringContaining('has its outcome already') },
    });
    const other = { 'work#1/pay#1': { intentSeq: seqOfIntent(lineage), outcome: 'did-not-happen' } } as const;
    expect(planRun(inputOf(lineage, { decisions: other, accepted: true }), testHash).ok).toBe(false);
  });

  it('is another plan where a confirmed effect gives another result', () => {
    const lineage = lapse(killed());
    const plans = ['A', 'B'].map((id) => {
      const decision = {
        intentSeq: seqOfIntent(lineage),
        outcome: 'happened' as const,
        result: refOf({ id }),
      };
      return planOf(lineage, { decisions: { 'work#1/pay#1': decision } });
    });
    const settled = plans.map((_, i) =>
      planOf(lineage, {
        effects: lineage
          .ledger()
          .map((row) => ({ ...row, status: 'confirmed' as const, result: refOf({ id: i }) })),
      }),
    );
    expect(settled.map((plan) => by(plan)['work#1/pay#1'])).toEqual(['skip', 'skip']);
    expect(new Set([...plans, ...settled].map((plan) => plan.digest)).size).toBe(4);
  });

  it('refuses a decision without a result, for another intent, or on what is settled', () => {
    const lineage = lapse(killed());
    const key = stepKey('work#1/pay#1');
    const of = (decision: Decision) =>
      planRun(inputOf(lineage, { decisions: { [key]: decision } }), testHash);
    expect(of({ intentSeq: seqOfIntent(lineage), outcome: 'happened' })).toMatchObject({
      ok: false,
      problem: { kind: 'bad-decision' },
    });
    expect(of({ intentSeq: seq(1), outcome: 'did-not-happen' })).toMatchObject({
      ok: false,
      problem: { kind: 'bad-decision' },
    });
    expect(of({ intentSeq: seqOfIntent(lineage), outcome: 'run-additional' })).toMatchObject({
      ok: false,
      problem: { kind: 'bad-decision' },
    });
  });

  it('says of an effect whose downstream knows no key that a late send cannot be stopped, probe or not', () => {
    const lineage = new TestLineage();
    lineage.worker([enter('work'), pay(lineage, 'work#1/pay#1', 'external', { guarded: false })]);
    const [step] = planOf(lapse(lineage)).steps;
    expect(step).toMatchObject({ guarded: false, verifiable: true });
    expect(step?.reason).toContain('Unguarded: downstream knows no key, so a late send cannot be stopped.');
  });

  it.each(['fork', 'replay'] as const)('refuses a decision with a %s, which would record none', (mode) => {
    const lineage = lapse(killed());
    expect(planRun(inputOf(lineage, { mode, decisions: happened(lineage) }), testHash)).toMatchObject({
      ok: false,
      problem: {
        kind: 'bad-decision',
        stepKey: 'work#1/pay#1',
        sentence: `A ${mode} records no decision. Decide it on run run_root first.`,
      },
    });
  });

  it('points at rewind for anything older than the newest checkpoint', () => {
    const lineage = lapse(killed());
    const [oldest, , newest] = lineage.of().checkpoints;
    expect(planRun(inputOf(lineage, { from: oldest?.id ?? '' }), testHash)).toMatchObject({
      ok: false,
      problem: { kind: 'use-rewind' },
    });
    expect(planOf(lineage, { from: newest?.id ?? '' }).digest).toBe(planOf(lineage).digest);
    expect(planRun(inputOf(lineage, { from: 'cp_999' }), testHash)).toMatchObject({
      ok: false,
      problem: { kind: 'no-such-point' },
    });
  });

  it('retries an idempotent call under its key while that is valid, and asks once it is not', () => {
    const lineage = killed();
    lineage.worker([
      {
        kind: 'step.completed',
        stepKey: stepKey('work#1/pay#1'),
        attempt: 1,
        recorded: true,
        receipt: 're_1',
        result: refOf(1),
      },
      pay(lineage, 'work#1/put#1', 'idempotent', { keyValidForMs: 60_000 }),
    ]);
    lapse(lineage);
    expect(by(planOf(lineage))).toMatchObject({ 'work#1/pay#1': 'skip', 'work#1/put#1': 'retry-same-key' });
    const later = planOf(lineage, { now: epochMs(lineage.now + 120_000) });
    expect(by(later)['work#1/put#1']).toBe('needs-decision');
  });

  it('matches by key, never by position: a new step before the others changes no disposition (S12)', () => {
    const lineage = lapse(killed());
    const reversed = planOf(lineage, { steps: [...lineage.of().steps.values()].reverse() });
    expect(by(reversed)).toEqual(by(planOf(lineage)));
    expect(reversed.digest).toBe(planOf(lineage).digest);
  });

  it('is blocked by any declared difference, by name', () => {
    const lineage = lapse(killed());
    const work = { transitions: ['plan', 'close'], tools: ['look', 'put'] };
    const plan = planOf(lineage, {
      today: {
        digest: machineDigest('e'.repeat(64)),
        machine: { ...testMachine, states: { ...testMachine.states, work } },
        workerId: workerId('w9'),
      },
    });
    expect(plan.drift).toMatchObject({
      blocked: true,
      differences: [{ path: '/states/work/tools', grade: 'block' }],
    });
    expect(plan.drift.differences[0]?.sentence).toContain('State work');
    expect(plan.obstacles.map((one) => one.kind)).toContain('drift');
  });

  it('blocks a step whose value could not be recorded (S15)', () => {
    const lineage = killed();
    lineage.worker([
      {
        kind: 'step.completed',
        stepKey: stepKey('work#1/look#2'),
        attempt: 1,
        recorded: false,
        problem: '$.a[3].b: an instance of Socket',
      },
      done('work#1/pay#1'),
    ]);
    const plan = planOf(lapse(lineage));
    expect(by(plan)['work#1/look#2']).toBe('blocked');
    expect(plan.obstacles).toMatchObject([{ kind: 'not-recorded' }]);
    expect(plan.obstacles[0]?.sentence).toContain('$.a[3].b');
  });

  it('blocks a confirmed effect that is asked for with other arguments', () => {
    const lineage = killed();
    lineage.worker([
      done('work#1/pay#1'),
      {
        kind: 'effect.conflict',
        stepKey: stepKey('work#1/pay#1'),
        asked: refOf(2),
        askedDigest: testHash('2'),
        recordedDigest: testHash('1'),
      },
    ]);
    const plan = planOf(lapse(lineage));
    expect(by(plan)['work#1/pay#1']).toBe('blocked');
    expect(plan.obstacles[0]?.sentence).toMatch(/Rewind or fork to before/);
    // Nobody is sent to an order that is refused.
    const input = { now: epochMs(lineage.now), can: everything, doubts: [] };
    expect(nextAction(lineage.of().run, 'interrupted', input)).toMatchObject({
      action: 'rewind',
      sentence: expect.stringMatching(/^Nothing is sent: pay .*other arguments.*Rewind or fork to before/),
    });
  });

  it('tries the step again whose failure ended the run, and gives other failures from the record', () => {
    const lineage = killed();
    const error = { type: 'E', message: 'no' };
    const failed = (key: string): NewEvent => ({
      kind: 'step.failed',
      stepKey: stepKey(key),
      attempt: 1,
      failure: 'error',
      error,
      final: true,
    });
    lineage.worker([
      done('work#1/pay#1'),
      failed('work#1/look#2'),
      began('work#1/look#3', 'look', 'tool', 'read'),
      failed('work#1/look#3'),
      { kind: 'run.failed', cause: 'error', error, stepKey: stepKey('work#1/look#3') },
    ]);
    expect(by(planOf(lineage))).toMatchObject({ 'work#1/look#2': 'reuse', 'work#1/look#3': 'execute' });
  });
});

describe('rewind', () => {
  const confirmed = () => {
    const lineage = killed();
    lineage.worker([done('work#1/pay#1', { receipt: 're_1' })]);
    return lapse(lineage);
  };
  it('runs reads and the model again and keeps the confirmed refund, which is not sent', () => {
    const lineage = confirmed();
    const to = lineage.of().checkpoints[0]?.id ?? '';
    const open = planOf(lineage, { mode: 'rewind', from: to });
    expect(open.leftBehind.effects).toMatchObject([
      { stepKey: 'work#1/pay#1', fate: 'needs-keep', receipt: 're_1' },
    ]);
    expect(open.obstacles.map((one) => one.kind)).toEqual(['needs-keep']);
    const plan = planOf(lineage, { mode: 'rewind', from: to, options: { keep: [stepKey('work#1/pay#1')] } });
    expect(plan.obstacles).toEqual([]);
    expect(by(plan)).toEqual({
      'plan#1/desk#1': 'reuse',
      'work#1/sum#1': 'recompute',
      'work#1/look#1': 'execute',
      'work#1/look#2': 'execute',
      'work#1/pay#1': 'skip',
    });
    expect(plan.leftBehind).toMatchObject({ steps: 4, effects: [{ fate: 'kept' }] });
    expect(plan.digest).not.toBe(open.digest);
  });

  it('wants a decision on an effect in doubt that it would leave behind', () => {
    const lineage = lapse(killed());
    const plan = planOf(lineage, { mode: 'rewind', from: 'start' });
    expect(plan.obstacles.map((one) => one.kind)).toContain('needs-decision');
  });

  it('does not go into what an earlier rewind left behind; a fork does', () => {
    const lineage = confirmed();
    const [first, second] = lineage.of().checkpoints;
    lineage.console([
      { kind: 'run.rewound', toSeq: first?.seq ?? seq(1), kept: [], commandId: lineage.nextCommand() },
    ]);
    expect(
      planOf(lineage, { mode: 'rewind', from: second?.id ?? '' }).obstacles.map((one) => one.kind),
    ).toContain('abandoned-point');
    expect(
      planOf(lineage, { mode: 'fork', from: second?.id ?? '' }).obstacles.map((one) => one.kind),
    ).not.toContain('abandoned-point');
    expect(
      stepAt([...lineage.of().steps.values()], stepKey('work#1/look#1'), lineage.of().run.state),
    ).toBeUndefined();
  });
});

describe('fork', () => {
  it('is blocked by an effect that the original left in doubt, and says who owns it', () => {
    const plan = planOf(lapse(killed()), { mode: 'fork' });
    expect(plan.steps.find((step) => step.key === 'work#1/pay#1')).toMatchObject({
      disposition: 'blocked',
      ownerRunId: 'run_root',
    });
  });
  it('with edits runs the open visit anew and reuses only at equal input', () => {
    const lineage = killed();
    lineage.worker([done('work#1/pay#1')]);
    lapse(lineage);
    const plan = planOf(lineage, { mode: 'fork', edits: [{ path: '/variables/limit', value: 5 }] });
    expect(plan.steps.find((step) => step.key === 'work#1/look#1')).toMatchObject({
      disposition: 'reuse',
      condition: 'if-equal',
    });
    expect(plan.steps.find((step) => step.key === 'work#1/pay#1')).toMatchObject({
      disposition: 'skip',
      condition: 'if-equal',
    });
  });
  it('refuses an edit of what the open visit wrote itself, offering a step’s output instead', () => {
    const lineage = killed();
    lineage.worker([
      done('work#1/pay#1'),
      {
        kind: 'variables.patched',
        key: stepKey('work#1/$set#1'),
        patch: [{ op: 'add', path: '/total', value: refOf(3) }],
      },
    ]);
    lapse(lineage);
    const edit = (path: string) =>
      planRun(
        inputOf(lineage, { mode: 'fork', edits: [{ path, value: 1 }], visitEvents: lineage.of().events }),
        testHash,
      );
    expect(edit('/variables/total')).toMatchObject({
      ok: false,
      problem: { kind: 'edit-refused', offer: '/steps/work#1~1look#1/result' },
    });
    expect(edit('/variables/other').ok).toBe(true);
    expect(edit('/steps/work#1~1look#1/result').ok).toBe(true);
    expect(edit('/steps/work#1~1pay#1/result').ok).toBe(false);
    expect(edit('/input').ok).toBe(false);
  });
  it('asks a person again who had answered after the point (S14)', () => {
    const lineage = killed();
    const key = 'work#1/approve#1';
    const at = lineage.of().checkpoints.at(-1)?.id ?? '';
    lineage.worker([
      done('work#1/pay#1'),
      began(key, 'approve', 'human'),
      {
        kind: 'question.asked',
        questionId: questionId('q'),
        stepKey: stepKey(key),
        question: refOf('?'),
        questionDigest: testHash('?'),
      },
    ]);
    lineage.console([
      {
        kind: 'question.answered',
        questionId: questionId('q'),
        stepKey: stepKey(key),
        value: refOf('yes'),
        actor: 'op',
        commandId: lineage.nextCommand(),
      },
    ]);
    lineage.worker([done(key)]);
    lapse(lineage);
    expect(by(planOf(lineage))[key]).toBe('reuse');
    expect(by(planOf(lineage, { mode: 'fork', from: at }))[key]).toBe('execute');
  });
});

describe('replay', () => {
  it('answers everything from the record, computes pure steps and stops where there is none', () => {
    const plan = planOf(lapse(killed()), { mode: 'replay' });
    expect(by(plan)).toEqual({
      'plan#1/desk#1': 'reuse',
      'work#1/sum#1': 'recompute',
      'work#1/look#1': 'reuse',
      'work#1/look#2': 'blocked',
      'work#1/pay#1': 'blocked',
    });
    expect(plan.envelope).toEqual({ states: [], tools: [], asksPeople: false, limits: {} });
    expect(plan.obstacles).toEqual([]);
  });
  it('passes over what its scope ended without, pure steps as well', () => {
    const lineage = new TestLineage();
    lineage.worker([
      enter('plan'),
      began('plan#1/sum#1', 'sum', 'compute', 'pure'),
      began('plan#1/look#1', 'look', 'tool', 'read'),
      leave('plan', 'work'),
      enter('work', 'plan'),
    ]);
    expect(by(planOf(lapse(lineage), { mode: 'replay' }))).toEqual({
      'plan#1/sum#1': 'restored',
      'plan#1/look#1': 'restored',
    });
  });
  it('refuses to ask models again, which nobody carries out, and says that the record answers', () => {
    const asked = (mode: 'replay' | 'resume', llm: 'record' | 'ask-again') =>
      planRun(inputOf(lapse(killed()), { mode, options: { llm } }), testHash);
    for (const mode of ['replay', 'resume'] as const) {
      expect(asked(mode, 'ask-again')).toMatchObject({
        ok: false,
        problem: {
          kind: 'unsupported-option',
          option: 'llm',
          sentence: expect.stringContaining('record') as unknown,
        },
      });
    }
    expect(asked('replay', 'record')).toMatchObject({
      ok: true,
      value: { steps: [{ disposition: 'reuse' }, {}, {}, {}, {}] },
    });
  });
  it('needs a worker that has the code', () => {
    const { today: _today, ...input } = inputOf(lapse(killed()), { mode: 'replay' });
    expect(planRun(input, testHash)).toMatchObject({
      ok: true,
      value: { obstacles: [{ kind: 'no-worker' }] },
    });
  });
});

const doubtsIn = (lineage: TestLineage) =>
  doubtsOf(lineage.of().run.runId, lineage.ledger(), epochMs(lineage.now));

describe('actions', () => {
  it('say why where they are not possible (S32), and name the checkpoint of the next one (S31)', () => {
    const lineage = killed();
    const input = { now: epochMs(lineage.now), can: everything, doubts: doubtsIn(lineage) };
    const held = actionsOf(lineage.of().run, 'running', input);
    expect(held.resume).toMatchObject({ possible: false, reason: expect.stringContaining('Held by w1') });
    expect(held.answer).toEqual({ possible: false, reason: 'Nothing is asked.' });
    expect(held.pause.possible).toBe(true);
    lineage.worker([done('work#1/pay#1'), save]);
    lapse(lineage);
    const later = { ...input, now: epochMs(lineage.now), doubts: doubtsIn(lineage) };
    expect(actionsOf(lineage.of().run, 'interrupted', later).resume).toEqual({ possible: true });
    expect(nextAction(lineage.of().run, 'interrupted', later)).toMatchObject({
      action: 'resume',
      sentence: expect.stringMatching(/^No confirmed effect is sent again: .* checkpoint, \d+, after pay\.$/),
    });
    expect(
      actionsOf(lineage.of().run, 'interrupted', { ...later, can: new Set(['resume']) }).cancel.reason,
    ).toContain('cannot cancel');
    const mirror = actionsOf({ ...lineage.of().run, home: 'mirror' }, 'interrupted', later);
    expect(mirror.resume.possible).toBe(false);
    expect(mirror.fork.possible).toBe(true);
    expect(mirror.resume.reason).toContain('Replay or fork it.');
  });
  it('send nobody to an order that is not possible either', () => {
    const { run } = lapse(killed()).of();
    const copy: RunRecord = { ...run, home: 'mirror', state: without(run.state, 'machineDigest') };
    const input = { now: epochMs(0), can: everything, doubts: [] };
    const actions = actionsOf(copy, 'unknown', input);
    expect([actions.fork.possible, actions.replay.possible]).toEqual([false, false]);
    for (const action of ['resume', 'rewind', 'pause', 'cancel', 'verify', 'answer'] as const)
      expect(actions[action].reason).toBe('This is a copy; the run has its home elsewhere.');
  });
  it('tell since when a run is held as every other time is told', () => {
    const lineage = killed();
    const input = { now: epochMs(lineage.now), can: everything, doubts: [] };
    expect(actionsOf(lineage.of().run, 'running', input).resume.reason).toMatch(
      /^Held by w1 since \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\.$/,
    );
  });
  it('put the probe first while an effect is in doubt', () => {
    const lineage = lapse(killed());
    const doubts = doubtsIn(lineage);
    const input = { now: epochMs(lineage.now), can: everything, doubts };
    expect(nextAction(lineage.of().run, 'interrupted', input)).toEqual({
      action: 'verify',
      sentence: 'Not sent again until known: ask downstream. One effect is in doubt.',
    });
    const blind = doubts.map((effect) => ({ ...effect, intent: { ...effect.intent, verifiable: false } }));
    expect(nextAction(lineage.of().run, 'interrupted', { ...input, doubts: blind })).toEqual({
      action: 'decide',
      sentence: 'Not sent again until decided: say whether it happened. One effect is in doubt.',
    });
  });
});

describe('status', () => {
  it('is interrupted once the lease has lapsed, recorded so or not, and not before the console has been up for one lease (S19)', () => {
    const { run } = killed().of();
    const end = run.lease?.expiresAt ?? epochMs(0);
    expect(statusNow(run, epochMs(end - 1))).toBe('running');
    expect(statusNow(run, end)).toBe('interrupted');
    expect(statusNow(run, end, epochMs(end - 10))).toBe('running');
    expect(statusNow({ ...run, runId: runId('m'), home: 'mirror' }, end)).toBe('unknown');
  });
  it('closes the open step as unknown and an effect that had left as in doubt, its input kept (S20, S26)', () => {
    const lineage = lapse(killed());
    const rows = [...lineage.of().steps.values()];
    expect(rows.find((row) => row.stepKey === 'work#1/look#2')).toMatchObject({
      status: 'unknown',
      endedAt: expect.any(Number),
      input: refOf({ of: 'work#1/look#2' }),
    });
    expect(rows.find((row) => row.stepKey === 'work#1/pay#1')).toMatchObject({
      status: 'in-doubt',
      input: refOf({ of: 'work#1/pay#1' }),
    });
    expect(doubtsIn(lineage)).toHaveLength(1);
  });
});
