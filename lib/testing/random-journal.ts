import { createHash } from 'node:crypto';
import fc from 'fast-check';
import {
  commandId,
  epochMs,
  leaseId,
  machineDigest,
  questionId,
  type RunId,
  runId,
  type Seq,
  type Sha256,
  type StepKey,
  seq,
  sha256,
  workerId,
} from '../core/events/ids';
import type { Hash, Payload, PayloadRef } from '../core/events/payload';
import type { Decision, Intent, NewEvent, RunEvent } from '../core/events/run-event';
import { keyIn, scopeOf, visitPath } from '../core/events/step-key';
import { type AppendProblem, appendBatch, type StoredBatch } from '../core/journal/append-batch';
import { type Draft, type Extension, extend, type Snapshot } from '../core/journal/extend';
import { inheritEvents } from '../core/journal/inherit';
import { takeClaim } from '../core/journal/lease';
import { newRun } from '../core/journal/new-run';
import type { Effect, Machine, StepKind } from '../core/machine/machine';
import { effectivePath, inForce, segmentsAt } from '../core/projections/effective-path';
import { generationsOf, isInDoubt } from '../core/projections/ledger';
import type {
  CheckpointRecord,
  EffectRecord,
  QuestionRecord,
  RunRecord,
  RunState,
  StepRecord,
} from '../core/projections/records';
import { applyEvent, emptyState } from '../core/projections/run-state';
import { stepsAt } from '../core/projections/steps';

/*
 * Valid random journals: a small lineage kept in memory is driven through the core's own rules (appendBatch, claims,
 * extend), as a worker, the lease's judge and a person would drive it. Choices come from a list of numbers, so that
 * fast-check can shrink them; when they run out, the journal ends where it is.
 */

export const testHash: Hash = (content) => sha256(createHash('sha256').update(content).digest('hex'));

const contents = new Map<Sha256, Payload>();

/** A `json` payload reference for a value; `payloadOf` has its bytes. */
export function refOf(value: unknown): PayloadRef {
  const body = Buffer.from(JSON.stringify(value));
  const ref = { sha256: testHash(body), bytes: body.byteLength, codec: 'json' } as const;
  contents.set(ref.sha256, { ...ref, body });
  return ref;
}

/** What a reference of a random journal refers to. */
export function payloadOf({ sha256: digest }: PayloadRef): Payload {
  const payload = contents.get(digest);
  if (payload === undefined) throw new Error(`No payload ${digest}`);
  return payload;
}

/** Everything that a store would hold of one run. */
export interface StoredRun {
  run: RunRecord;
  events: RunEvent[];
  readonly steps: Map<string, StepRecord>;
  readonly questions: Map<string, QuestionRecord>;
  checkpoints: CheckpointRecord[];
  snapshots: Snapshot[];
  readonly batches: StoredBatch[];
}

export const testMachine: Machine = {
  agent: 'random-agent',
  provenance: 'declared',
  initial: 'plan',
  states: {
    plan: { transitions: ['work', 'close'], tools: ['look'] },
    work: { transitions: ['plan', 'close'], tools: ['look', 'put', 'pay'] },
    close: { transitions: [], tools: ['pay'], final: true },
  },
  tools: {
    look: tool('read'),
    put: tool('idempotent'),
    pay: tool('external'),
  },
};

function tool(effect: Effect): Machine['tools'][string] {
  return {
    effect,
    keyed: true,
    verify: effect === 'external',
    timeoutMs: 200,
    settlesWithinMs: 200,
    keyValidForMs: 86_400_000,
    retries: 1,
  };
}

const LEASE_MS = 1_000;
const digest = machineDigest('d'.repeat(64));

/** A lineage in memory: one root run and its forks, with their ledger. Every write goes through the core. */
export class TestLineage {
  readonly runs = new Map<RunId, StoredRun>();
  readonly effects = new Map<string, EffectRecord>();
  now = 1_700_000_000_000;
  /** What `appendBatch` refused, by kind: a generator that is refused often tests little. */
  readonly refused: AppendProblem[] = [];
  /** The run that is meant where none is named. */
  current: RunId;
  private commands = 0;

  constructor(readonly root: RunId = runId('run_root')) {
    this.current = root;
    this.create(newRun({ runId: root, agent: 'random-agent', createdAt: epochMs(this.now) }));
    this.claim(root, {
      kind: 'run.started',
      agent: 'random-agent',
      machineDigest: digest,
      input: refOf({ order: 1 }),
      tags: ['t'],
      workerId: workerId('w1'),
    });
  }

  create(run: RunRecord): StoredRun {
    const stored: StoredRun = {
      run,
      events: [],
      steps: new Map(),
      questions: new Map(),
      checkpoints: [],
      snapshots: [],
      batches: [],
    };
    this.runs.set(run.runId, stored);
    return stored;
  }

  of(id: RunId = this.current): StoredRun {
    const stored = this.runs.get(id);
    if (!stored) throw new Error(`No run ${id}`);
    return stored;
  }

  ledger(): readonly EffectRecord[] {
    return [...this.effects.values()];
  }

  nextCommand(): ReturnType<typeof commandId> {
    return commandId(`cmd_${++this.commands}`);
  }

  /** State at any seq, the slow and sure way: the prefix folded from nothing. */
  stateAt(at: Seq, id: RunId = this.current): RunState {
    const stored = this.of(id);
    const near =
      stored.snapshots.findLast((snapshot) => snapshot.seq <= at)?.state ??
      emptyState(stored.run.state.agent);
    let state = near;
    for (const event of stored.events.slice(near.seq, at)) state = applyEvent(state, event);
    return state;
  }

  keep(extension: Extension): void {
    const stored = this.of(extension.run.runId);
    stored.run = extension.run;
    stored.events.push(...extension.events);
    for (const row of extension.steps) stored.steps.set(`${row.line} ${row.stepKey}`, row);
    for (const row of extension.questions) stored.questions.set(`${row.line} ${row.questionId}`, row);
    for (const row of extension.effects) this.effects.set(`${row.generation} ${row.stepKey}`, row);
    stored.checkpoints.push(...extension.checkpoints);
    stored.snapshots.push(...extension.snapshots);
  }

  /** The console appends. */
  console(events: readonly Draft[], id: RunId = this.current): void {
    const { run } = this.of(id);
    this.now += 7;
    this.keep(
      extend(
        run,
        this.ledger(),
        events,
        { at: epochMs(this.now), epoch: run.epoch, by: 'console' },
        { stateAt: (at) => this.stateAt(at, id) },
      ),
    );
  }

  /** The holder appends one batch; false where it was refused. */
  worker(events: readonly NewEvent[], id: RunId = this.current): boolean {
    const stored = this.of(id);
    this.now += 5;
    const { run } = stored;
    const ask = { epoch: run.epoch, batch: run.lastBatch + 1, seenSeq: run.headSeq, events };
    const context = {
      now: epochMs(this.now),
      run,
      effects: this.ledger(),
      steps: [...stored.steps.values()],
      batch: undefined,
      others: [],
      missingPayloads: [],
    };
    const result = appendBatch(context, ask, testHash);
    if (!result.ok) {
      this.refused.push(result.problem);
      return false;
    }
    if (result.value.change) {
      this.keep(result.value.change);
      stored.batches.push(result.value.change.batch);
      if (this.of(id).run.lease) this.prolong(id);
    }
    return true;
  }

  private prolong(id: RunId): void {
    const stored = this.of(id);
    if (stored.run.lease)
      stored.run = { ...stored.run, lease: { ...stored.run.lease, expiresAt: epochMs(this.now + LEASE_MS) } };
  }

  claim(id: RunId = this.current, event?: NewEvent): void {
    const stored = this.of(id);
    const grant = {
      leaseId: leaseId(`lease_${stored.run.epoch + 1}`),
      workerId: workerId(`w${stored.run.epoch + 1}`),
      now: epochMs(this.now),
      leaseMs: LEASE_MS,
    };
    const taken = takeClaim(stored.run, { reason: 'resume' }, grant);
    stored.run = taken.run;
    const first = event ?? taken.event;
    if (first) this.console([first], id);
  }

  /** The holder gives its lease back. */
  release(id: RunId = this.current): void {
    const stored = this.of(id);
    const { lease: _lease, ...rest } = stored.run;
    stored.run = rest;
  }

  /** A fork of `from` at `at`, queued; its copies are folded and its ledger passes them over. */
  fork(id: RunId, at: Seq, from: RunId = this.root): StoredRun {
    const parent = this.of(from);
    this.now += 11;
    const command = this.nextCommand();
    const stored = this.create(
      newRun({
        runId: id,
        agent: 'random-agent',
        createdAt: epochMs(this.now),
        root: this.root,
        parent: { runId: from, seq: at, mode: 'fork' },
      }),
    );
    const path = effectivePath(parent.events.slice(0, at));
    const accepted: Draft = {
      kind: 'command.accepted',
      commandId: command,
      mode: 'fork',
      actor: 'op',
      reason: 'try',
      parent: { runId: from, seq: at },
    };
    this.keep(
      extend(
        stored.run,
        this.ledger(),
        [
          accepted,
          ...inheritEvents(from, path, seq(2)),
          { kind: 'run.queued', reason: 'command', commandId: command },
        ],
        {
          at: epochMs(this.now),
          epoch: stored.run.epoch,
          by: 'console',
        },
        { snapshotAtEnd: true },
      ),
    );
    return this.of(id);
  }
}

/** Numbers from fast-check, one after the other; `done` when they run out. */
export class Choices {
  private next = 0;
  constructor(private readonly numbers: readonly number[]) {}
  get done(): boolean {
    return this.next >= this.numbers.length;
  }
  below(n: number): number {
    const value = this.numbers[this.next++] ?? 0;
    return n <= 0 ? 0 : value % n;
  }
  of<Item>(items: readonly Item[]): Item | undefined {
    return items.length === 0 ? undefined : items[this.below(items.length)];
  }
}

/** Drives one lineage by the choices. */
export function driveLineage(numbers: readonly number[]): TestLineage {
  const lineage = new TestLineage();
  driveOn(lineage, new Choices(numbers));
  return lineage;
}

function driveOn(lineage: TestLineage, choices: Choices): void {
  while (!choices.done) {
    choices.below(1);
    act(lineage, choices);
  }
}

/** Drives one run by the first choices; by the others a fork of some run, from anywhere in it, or again some run. */
export function driveForks(
  [first = [], ...others]: readonly (readonly number[])[],
  root: RunId,
): TestLineage {
  const lineage = new TestLineage(root);
  driveOn(lineage, new Choices(first));
  for (const numbers of others) {
    const choices = new Choices(numbers);
    lineage.current = choices.of([...lineage.runs.keys()]) ?? lineage.root;
    const { state, headSeq } = lineage.of().run;
    if (choices.below(4) > 0) {
      const start = state.startSeq ?? headSeq;
      const at = seq(start + choices.below(headSeq - start + 1));
      const id = runId(`${lineage.root} fork ${lineage.runs.size}`);
      lineage.fork(id, at, lineage.current);
      lineage.current = id;
    }
    driveOn(lineage, choices);
  }
  return lineage;
}

/** Valid lineages whose root run has up to some hundreds of events: loops, branches, stops, rewinds, decisions, forks. */
export const arbitraryLineage = (maxLength = 240): fc.Arbitrary<TestLineage> =>
  fc.array(fc.nat(0xffff), { maxLength, size: 'max' }).map(driveLineage);

/** What `driveForks` makes valid lineages of up to four runs from. */
export const arbitraryForks = (maxLength = 120): fc.Arbitrary<readonly (readonly number[])[]> =>
  fc.array(fc.array(fc.nat(0xffff), { maxLength, size: 'max' }), { minLength: 1, maxLength: 4, size: 'max' });

function act(lineage: TestLineage, choices: Choices): void {
  const { run } = lineage.of();
  switch (run.state.status) {
    case 'running':
    case 'waiting':
    case 'paused':
      if (run.lease) holderActs(lineage, choices);
      else consoleActs(lineage, choices);
      return;
    default:
      consoleActs(lineage, choices);
  }
}

function holderActs(lineage: TestLineage, choices: Choices): void {
  const { state } = lineage.of().run;
  if (state.visit === undefined || visitIsLeft(lineage)) return void enter(lineage, choices);
  const waits =
    openSteps(lineage).length > 0 && openSteps(lineage).every((step) => step.waitsFor !== undefined);
  if (waits && state.status === 'running' && choices.below(3) === 0) {
    waitFor(lineage, choices);
    return;
  }
  const kind = choices.below(40);
  if (kind < 14) {
    startStep(lineage, choices);
    return;
  }
  if (kind < 27) {
    endStep(lineage, choices);
    return;
  }
  if (kind < 29) {
    say(lineage, choices);
    return;
  }
  if (kind < 31) {
    setVariable(lineage, choices);
    return;
  }
  if (kind < 32) {
    draw(lineage, choices);
    return;
  }
  if (kind < 33)
    return void lineage.worker([
      {
        kind: 'checkpoint.saved',
        trigger: 'manual',
        visit: '',
        name: '',
        entrySeq: seq(0),
        othersSeq: seq(0),
      },
    ]);
  if (kind < 35) {
    leave(lineage, choices);
    return;
  }
  if (kind < 36) {
    leaveBranch(lineage, choices);
    return;
  }
  if (kind < 38) {
    fail(lineage, choices);
    return;
  }
  stop(lineage, choices);
}

const openSteps = (lineage: TestLineage) => Object.values(lineage.of().run.state.open);
const effectOpen = (lineage: TestLineage, below: string) =>
  openSteps(lineage).some(
    (step) =>
      (step.effect === 'external' || step.effect === 'idempotent') && step.stepKey.startsWith(`${below}/`),
  );

function visitIsLeft(lineage: TestLineage): boolean {
  const { visit } = lineage.of().run.state;
  const path = effectivePath(lineage.of().events);
  return (
    path.findLast((event) => event.kind === 'state.entered' || event.kind === 'state.left')?.kind ===
      'state.left' && visit !== undefined
  );
}

function enter(lineage: TestLineage, choices: Choices): void {
  const { state } = lineage.of().run;
  const from = state.visit?.state;
  const to =
    from === undefined
      ? testMachine.initial
      : (choices.of(testMachine.states[from]?.transitions ?? []) ?? 'close');
  const visit = (state.visits[to]?.count ?? 0) + 1;
  lineage.worker([
    {
      kind: 'state.entered',
      key: visitPath(to, visit),
      state: to,
      visit,
      ...(from !== undefined && { from }),
    },
  ]);
}

function leave(lineage: TestLineage, choices: Choices): void {
  const { visit, visits } = lineage.of().run.state;
  if (!visit || effectOpen(lineage, visit.key)) return;
  const to = choices.of(testMachine.states[visit.state]?.transitions ?? []);
  const left: NewEvent = {
    kind: 'state.left',
    key: visit.key,
    state: visit.state,
    visit: visit.visit,
    ...(to !== undefined && { to }),
  };
  if (to === undefined) return void lineage.worker([left, { kind: 'run.completed', result: refOf('done') }]);
  const n = (visits[to]?.count ?? 0) + 1;
  lineage.worker([
    left,
    { kind: 'state.entered', key: visitPath(to, n), state: to, visit: n, from: visit.state },
  ]);
}

function leaveBranch(lineage: TestLineage, choices: Choices): void {
  const visit = lineage.of().run.state.visit;
  const scope = choices.of(
    [...new Set(openSteps(lineage).map((step) => scopeOf(step.stepKey)))].filter((one) => one !== visit?.key),
  );
  if (scope !== undefined && !effectOpen(lineage, scope)) lineage.worker([{ kind: 'scope.left', scope }]);
}

const kinds: readonly { readonly name: string; readonly kind: StepKind; readonly effect?: Effect }[] = [
  { name: 'sum', kind: 'compute', effect: 'pure' },
  { name: 'over', kind: 'condition', effect: 'pure' },
  { name: 'look', kind: 'tool', effect: 'read' },
  { name: 'desk', kind: 'llm', effect: 'read' },
  { name: 'find', kind: 'retrieval', effect: 'read' },
  { name: 'put', kind: 'tool', effect: 'idempotent' },
  { name: 'pay', kind: 'tool', effect: 'external' },
  { name: 'pay', kind: 'tool', effect: 'external' },
  { name: 'approve', kind: 'human' },
];

function startStep(lineage: TestLineage, choices: Choices): void {
  const { run, steps } = lineage.of();
  const visit = run.state.visit;
  const what = choices.of(kinds);
  if (!visit || !what) return;
  const scope = choices.below(4) === 0 ? `${visit.key}/fan#1:${choices.of(['a', 'b'])}` : visit.key;
  const rows = stepsAt([...steps.values()], run.state).filter(
    (row) => scopeOf(row.stepKey) === scope && row.name === what.name,
  );
  const closed = effectivePath(lineage.of().events).some(
    (event) => event.kind === 'scope.left' && event.scope === scope,
  );
  if (closed) return;
  const key = keyIn(scope, what.name, rows.length + 1);
  const input = { n: choices.below(3) };
  const call = {
    stepKey: key,
    name: what.name,
    step: what.kind,
    ...(what.effect && { effect: what.effect }),
    input: refOf(input),
    inputDigest: testHash(JSON.stringify(input)),
  };
  if (what.effect === 'idempotent' || what.effect === 'external') {
    startEffect(lineage, key, { ...call, effect: what.effect }, choices);
    return;
  }
  const { count } = run.state.messages;
  const api =
    what.kind === 'llm'
      ? { api: 'atlas', model: 'atlas-large', ...(count > 0 && { conversation: count }) }
      : {};
  const started: NewEvent = { kind: 'step.started', attempt: 1, ...call, ...api };
  if (what.effect === 'pure')
    return void lineage.worker([
      started,
      { kind: 'step.completed', stepKey: key, attempt: 1, recorded: true, result: refOf(input.n) },
    ]);
  if (what.kind !== 'human') return void lineage.worker([started]);
  const question = refOf(`approve ${key}?`);
  lineage.worker([
    started,
    {
      kind: 'question.asked',
      questionId: questionId(`q ${run.state.line} ${key}`),
      stepKey: key,
      question,
      questionDigest: question.sha256,
    },
  ]);
}

type Call = {
  readonly stepKey: StepKey;
  readonly name: string;
  readonly step: StepKind;
  readonly effect: 'idempotent' | 'external';
  readonly input: PayloadRef;
  readonly inputDigest: ReturnType<typeof sha256>;
};

function startEffect(lineage: TestLineage, key: StepKey, call: Call, choices: Choices): void {
  const row = generationsOf(lineage.ledger(), key).at(-1);
  if (row?.status === 'confirmed') {
    if (choices.below(2) === 0)
      return void lineage.worker([
        {
          kind: 'effect.conflict',
          stepKey: key,
          asked: call.input,
          askedDigest: call.inputDigest,
          recordedDigest: row.intent.argsDigest,
        },
      ]);
    const source = {
      sourceRunId: row.runId,
      sourceSeq: row.confirmedSeq ?? row.intentSeq,
      result: row.result ?? refOf('none'),
    };
    return void lineage.worker([
      call.effect === 'external'
        ? { kind: 'step.skipped', ...call, ...source }
        : { kind: 'step.reused', ...call, ...source },
    ]);
  }
  if (row && row.status !== 'failed') return;
  lineage.worker([
    {
      kind: 'checkpoint.saved',
      trigger: 'before-effect',
      visit: '',
      name: '',
      entrySeq: seq(0),
      othersSeq: seq(0),
    },
    { kind: 'step.started', attempt: 1, ...call, intent: intentOf(lineage, key, call, row?.generation ?? 1) },
  ]);
}

function intentOf(lineage: TestLineage, key: StepKey, call: Call, generation: number): Intent {
  return {
    idempotencyKey: `${lineage.root}|${key}|g${generation}`,
    generation,
    argsDigest: call.inputDigest,
    sendBy: epochMs(lineage.now + 500),
    timeoutMs: 200,
    settlesWithinMs: 200,
    keyValidForMs: 86_400_000,
    guarded: true,
    verifiable: true,
  };
}

/** Some steps tell all of it, some a part, some nothing. */
const usages = [{ usage: { inputTokens: 3, costMicroUsd: 2 } }, { usage: { inputTokens: 3 } }, {}] as const;

function endStep(lineage: TestLineage, choices: Choices): void {
  const step = choices.of(openSteps(lineage).filter((one) => one.kind !== 'human'));
  const question = choices.of(
    Object.values(lineage.of().run.state.questions).filter((one) => one.status === 'answered'),
  );
  if (question)
    return void lineage.worker([
      {
        kind: 'step.completed',
        stepKey: question.stepKey,
        attempt: 1,
        recorded: true,
        result: question.answer ?? refOf('yes'),
      },
    ]);
  if (!step || step.waitsFor === 'conflict' || step.waitsFor === 'blocked') return;
  const { stepKey } = step;
  const ends = step.settled ?? (step.status === 'in-doubt' ? 'in-doubt' : undefined);
  if (ends === 'in-doubt') return;
  const again: NewEvent = {
    kind: 'step.started',
    stepKey,
    name: step.name,
    step: step.kind,
    attempt: step.attempt + 1,
    inputDigest: step.inputDigest,
    ...(step.effect && { effect: step.effect }),
    ...(step.input && { input: step.input }),
    ...(step.conversation !== undefined && { conversation: step.conversation }),
    ...(step.intent && { intent: { ...step.intent, sendBy: epochMs(lineage.now + 500) } }),
  };
  if (ends === 'did-not-happen' || step.status === 'unknown' || step.status === 'retrying')
    return void lineage.worker([again]);
  const how = ends === 'happened' ? 0 : choices.below(9);
  const error = { type: 'Error', message: 'no' };
  const failed = (
    failure: 'timeout' | 'rejected' | 'not-sent' | 'error' | 'unavailable',
    final: boolean,
  ): NewEvent => ({ kind: 'step.failed', stepKey, attempt: step.attempt, failure, error, final });
  if (how < 5)
    lineage.worker([
      {
        kind: 'step.completed',
        stepKey,
        attempt: step.attempt,
        recorded: true,
        result: refOf(`${stepKey} done`),
        ...(step.kind === 'llm' && { message: refOf(`${stepKey} said`) }),
        ...(step.effect === 'external' && { receipt: `re_${step.attemptSeq}` }),
        ...usages[step.attemptSeq % usages.length],
      },
    ]);
  else if (how === 5) lineage.worker([failed('timeout', false)]);
  else if (how === 6) lineage.worker([failed('rejected', true)]);
  else if (how === 7) lineage.worker([failed('not-sent', false), again]);
  else
    lineage.worker([
      { kind: 'step.completed', stepKey, attempt: step.attempt, recorded: false, problem: '$.a: a function' },
    ]);
}

function say(lineage: TestLineage, choices: Choices): void {
  lineage.worker([
    {
      kind: 'message.appended',
      role: choices.of(['user', 'assistant', 'tool']) ?? 'user',
      message: refOf({ text: choices.below(5) }),
    },
  ]);
}

function setVariable(lineage: TestLineage, choices: Choices): void {
  const name = choices.of(['a', 'b', 'odd/name~']) ?? 'a';
  const path = `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
  const gone = choices.below(4) === 0;
  lineage.worker([
    {
      kind: 'variables.patched',
      patch: [gone ? { op: 'remove', path } : { op: 'add', path, value: refOf(choices.below(50)) }],
    },
  ]);
}

function draw(lineage: TestLineage, choices: Choices): void {
  const { visit } = lineage.of().run.state;
  if (visit)
    lineage.worker([
      {
        kind: 'value.recorded',
        key: keyIn(visit.key, '$random', lineage.of().events.length),
        of: 'random',
        value: choices.below(100) / 100,
      },
    ]);
}

/** Everything open waits: said so, and at times the lease is given back. */
function waitFor(lineage: TestLineage, choices: Choices): void {
  lineage.worker([
    {
      kind: 'run.waiting',
      on: openSteps(lineage).map((step) => ({ stepKey: step.stepKey, for: step.waitsFor ?? 'question' })),
    },
  ]);
  if (choices.below(2) === 0) lineage.release();
}

function fail(lineage: TestLineage, choices: Choices): void {
  const last = Object.values(lineage.of().run.state.unhandled).at(-1);
  const error = { type: 'Error', message: 'it broke' };
  lineage.worker([
    {
      kind: 'run.failed',
      cause: 'error',
      error,
      ...(last && choices.below(2) === 0 && { stepKey: last.stepKey }),
    },
  ]);
}

/** The lease lapses: the judge records it, and at times the worker turns out to be alive. */
function stop(lineage: TestLineage, choices: Choices): void {
  const { run } = lineage.of();
  if (run.state.status !== 'running' || !run.lease) return;
  lineage.now += LEASE_MS + 10;
  lineage.console([{ kind: 'run.interrupted', cause: 'lease-lapsed', workerId: run.lease.workerId }]);
  if (choices.below(3) === 0) settleSome(lineage, choices);
  if (choices.below(3) === 0) say(lineage, choices);
}

function settleSome(lineage: TestLineage, choices: Choices): void {
  const { run } = lineage.of();
  lineage.now += choices.below(2) * 2_000;
  const row = choices.of(
    lineage.ledger().filter((one) => one.runId === run.runId && isInDoubt(one, epochMs(lineage.now))),
  );
  if (!row) return;
  const answer = { result: refOf(`${row.stepKey} happened`), receipt: `re_${row.intentSeq}` };
  const { stepKey, intentSeq } = row;
  switch (choices.below(6)) {
    case 0:
      lineage.console([
        { kind: 'effect.verified', stepKey, intentSeq, outcome: 'happened', source: 'probe', ...answer },
      ]);
      return;
    case 1:
      lineage.console([{ kind: 'effect.verified', stepKey, intentSeq, outcome: 'unknown', source: 'probe' }]);
      return;
    case 2:
      lineage.console([
        {
          kind: 'effect.verified',
          stepKey,
          intentSeq,
          outcome: 'happened',
          source: 'late-worker',
          ...answer,
        },
      ]);
      return;
    default: {
      const outcome = choices.of(['happened', 'did-not-happen', 'hold'] as const) ?? 'hold';
      const decision: Decision = { intentSeq, outcome, ...(outcome === 'happened' && answer) };
      lineage.console([
        {
          kind: 'effect.decided',
          stepKey,
          decision,
          actor: 'op',
          reason: 'looked',
          commandId: lineage.nextCommand(),
        },
      ]);
      return;
    }
  }
}

function consoleActs(lineage: TestLineage, choices: Choices): void {
  const { run } = lineage.of();
  const question = choices.of(Object.values(run.state.questions).filter((one) => one.status === 'open'));
  if (question && choices.below(2) === 0) {
    lineage.console([
      {
        kind: 'question.answered',
        questionId: question.questionId,
        stepKey: question.stepKey,
        value: refOf('yes'),
        actor: 'op',
        commandId: lineage.nextCommand(),
      },
    ]);
  }
  if (choices.below(3) > 0) settleSome(lineage, choices);
  if (choices.below(4) === 0) {
    rewind(lineage, choices);
    return;
  }
  if (run.state.status === 'completed' || run.state.status === 'cancelled') return;
  resume(lineage);
}

function resume(lineage: TestLineage): void {
  const command = lineage.nextCommand();
  lineage.console([
    {
      kind: 'command.accepted',
      commandId: command,
      mode: 'resume',
      actor: 'op',
      reason: 'go on',
      from: 'latest',
    },
    { kind: 'run.queued', reason: 'command', commandId: command },
  ]);
  lineage.claim();
  lineage.worker([{ kind: 'command.ended', commandId: command, outcome: 'done' }]);
}

/** Back to some point of the line in force after the run's start, as an operator may; what is in doubt is settled first. */
function rewind(lineage: TestLineage, choices: Choices): void {
  const { run, events } = lineage.of();
  if (lineage.ledger().some((row) => row.runId === run.runId && isInDoubt(row, epochMs(lineage.now)))) return;
  const segments = segmentsAt(run.state.rewinds, run.headSeq);
  const points = events.filter(
    (event) =>
      inForce(event.seq, segments) && event.seq >= (run.state.startSeq ?? 1) && event.by === 'worker',
  );
  const to = choices.of(points);
  if (!to) return;
  const command = lineage.nextCommand();
  lineage.console([
    {
      kind: 'command.accepted',
      commandId: command,
      mode: 'rewind',
      actor: 'op',
      reason: 'back',
      from: `cp_${to.seq}`,
    },
    { kind: 'run.rewound', toSeq: to.seq, kept: [], commandId: command },
    { kind: 'run.queued', reason: 'command', commandId: command },
  ]);
  lineage.claim();
  lineage.worker([{ kind: 'command.ended', commandId: command, outcome: 'done' }]);
}
