import type { EpochMs, MachineDigest, StepKey, WorkerId } from '../events/ids';
import { seq } from '../events/ids';
import type { Hash } from '../events/payload';
import type { Decision, Edit, PlanFrom, PlanOptions, RunEvent } from '../events/run-event';
import { within } from '../events/step-key';
import { liveLease } from '../journal/lease';
import { compareMachines } from '../machine/drift';
import type { Machine, MachineDifference } from '../machine/machine';
import { reachFrom } from '../machine/reach';
import { openOrder } from '../projections/command-transitions';
import { inForce, segmentsAt } from '../projections/effective-path';
import { mineMachine } from '../projections/graph';
import {
  effectStatusNow,
  isInDoubt,
  isResultUnknown,
  type Ledger,
  ledgerOf,
  putInLedger,
  withDecision,
} from '../projections/ledger';
import type { EffectRecord, Lease, RunRecord, RunState, RunStatus, StepRecord } from '../projections/records';
import { emptyState } from '../projections/run-state';
import { stepsAt } from '../projections/steps';
import { canonicalJson, type Json } from '../shared/canonical-json';
import { fail, ok, type Result } from '../shared/result';
import { checkEdits, type EditRefused } from './edits';
import type { Envelope, LeftBehindEffect, Plan, PlanMode, PlannedStep } from './plan';
import { effectRow, planStep, type Region, type StepContext, totalsOf } from './plan-steps';
import { type PlanPoint, type PointInput, type PointProblem, resolvePoint } from './point';

export { type PlanPoint, type PointInput, resolvePoint } from './point';

export type PlanProblem =
  | PointProblem
  | EditRefused
  | { readonly kind: 'bad-decision'; readonly stepKey: StepKey; readonly sentence: string }
  | { readonly kind: 'unsupported-option'; readonly option: string; readonly sentence: string };

export interface PlanInput extends PointInput {
  readonly run: RunRecord;
  /** `statusNow` at `now`. */
  readonly status: RunStatus;
  readonly mode: PlanMode;
  readonly from: PlanFrom;
  readonly edits: readonly Edit[];
  readonly decisions: Readonly<Record<string, Decision>>;
  /** `decisions` are those of an accepted order, computed again: the ledger has them. */
  readonly accepted?: boolean;
  readonly options: PlanOptions;
  readonly now: EpochMs;
  /** State that the plan is made from: the run's head, or what it was when a command was accepted. */
  readonly head: RunState;
  /** State at the resolved point's seq; may be left out where that is the head's, or 0. */
  readonly point?: RunState;
  /** The whole lineage's ledger. */
  readonly effects: readonly EffectRecord[];
  /** For a fork with edits: events in (entrySeq, seq] of the point's open visit; at least `variables.patched`. */
  readonly visitEvents?: readonly RunEvent[];
  /** Recorded machine. */
  readonly machine?: Machine;
  /** Today's: that of the newest live worker which has the agent. */
  readonly today?: { readonly digest: MachineDigest; readonly machine: Machine; readonly workerId: WorkerId };
  /** Console's start, for judging the lease. */
  readonly judgedFrom?: EpochMs;
}

type Obstacle = Plan['obstacles'][number];

/**
 * What the order would do, as data. Pure; O(steps log steps + effects). The digest covers what would be done: not
 * reasons, head, times, cost, nor obstacles, so that it is the same when it is computed again at the claim.
 */
export function planRun(input: PlanInput, hash: Hash): Result<Plan, PlanProblem> {
  const option = unsupported(input);
  if (option) return fail(option);
  const resolved = resolvePoint(input.mode, input.from, input);
  if (!resolved.ok) return resolved;
  const point = resolved.value;
  const at = stateAtPoint(point, input);
  const decided = withDecisions(input);
  if (!decided.ok) return decided;
  const ledger = decided.value;

  const upTo = stepsAt(input.steps, input.mode === 'replay' ? input.head : at);
  const edited = checkEdits(input.edits, {
    mode: input.mode,
    at,
    rows: upTo,
    visitEvents: input.visitEvents ?? [],
  });
  if (!edited.ok) return edited;

  const behind = rowsBehind(input, point, upTo);
  const context = contextOf(input, at, ledger, edited.value);
  const before = upTo.map((row) => planStep(row, regionOf(row, at), context));
  const after = behind.map((row) => planStep(row, 'behind', context));
  const steps = [...before, ...after];
  const leftBehind = leftBehindOf(input, behind, keptBefore(input, upTo), ledger);
  const stray = input.options.keep?.find((key) => !ledger.has(key));
  if (stray !== undefined)
    return fail({
      kind: 'unsupported-option',
      option: 'keep',
      sentence: `No effect is recorded for ${stray}, so there is nothing to keep.`,
    });
  const drift = driftOf(input);
  const machineDigest = input.today?.digest ?? input.head.machineDigest;

  const plan: Omit<Plan, 'digest'> = {
    mode: input.mode,
    runId: input.run.runId,
    from: {
      asked: point.asked,
      seq: point.seq,
      entrySeq: input.mode === 'replay' ? point.seq : (at.visit?.entrySeq ?? at.startSeq ?? seq(0)),
      name: point.name,
      ...(point.checkpointId !== undefined && { checkpointId: point.checkpointId }),
    },
    headSeq: input.head.seq,
    ...(machineDigest && { machineDigest }),
    steps,
    envelope: envelopeOf(input, at),
    totals: totalsOf(steps),
    leftBehind,
    drift,
    obstacles: obstaclesOf(input, point, before, after, leftBehind.effects, drift, ledger),
    context: contextWindow(input.mode, at),
    edits: input.edits,
    decisions: input.decisions,
    options: input.options,
  };
  return ok({ digest: hash(canonicalJson(content(plan, ledger))), ...plan });
}

/** The part of a plan that its digest covers. */
function content(plan: Omit<Plan, 'digest'>, ledger: Ledger): Json {
  const covered = {
    mode: plan.mode,
    runId: plan.runId,
    // A resume goes on from the newest point, wherever the console's own events have moved the head meanwhile.
    from: { entrySeq: plan.from.entrySeq, ...(plan.mode !== 'resume' && { seq: plan.from.seq }) },
    machineDigest: plan.machineDigest,
    steps: plan.steps.map((step) => [
      step.key,
      step.disposition,
      step.condition ?? '',
      step.intentSeq ?? 0,
      step.receipt ?? '',
      step.ownerRunId ?? '',
      confirmedResult(step, ledger),
    ]),
    envelope: plan.envelope,
    leftBehind: plan.leftBehind,
    differences: plan.drift.differences.map(({ path, grade, recorded, now }) => ({
      path,
      grade,
      recorded,
      now,
    })),
    messages: plan.context.messages,
    edits: plan.edits,
    decisions: plan.decisions,
    options: plan.options,
  };
  return covered as unknown as Json;
}

/** Digest of the result that the code is given for a confirmed effect. */
const confirmedResult = ({ key, intentSeq }: PlannedStep, ledger: Ledger): string =>
  (intentSeq !== undefined &&
    ledger.get(key)?.findLast((row) => row.intentSeq === intentSeq && row.status === 'confirmed')?.result
      ?.sha256) ||
  '';

function unsupported({ options, mode }: PlanInput): PlanProblem | undefined {
  const refuse = (name: string, sentence: string): PlanProblem => ({
    kind: 'unsupported-option',
    option: name,
    sentence,
  });
  for (const name of ['context', 'mapping', 'compensate', 'gate'] as const) {
    if (options[name] !== undefined) return refuse(name, `The option ${name} is not offered.`);
  }
  if (options.stopBefore && options.stopBefore.length > 0)
    return refuse('stopBefore', 'The option stopBefore is not offered.');
  if (options.llm === 'ask-again')
    return refuse('llm', 'Asking models again is not offered; a replay answers them from the record.');
  if (options.keep && options.keep.length > 0 && mode !== 'rewind')
    return refuse('keep', 'Only a rewind leaves effects behind that can be kept.');
  return undefined;
}

function stateAtPoint(point: PlanPoint, input: PlanInput): RunState {
  if (point.seq === input.head.seq) return input.head;
  if (point.seq === 0) return emptyState(input.head.agent);
  if (input.point?.seq !== point.seq) {
    if (input.mode === 'replay') return input.head;
    throw new Error(`Broken invariant: planRun needs the state at ${point.seq}`);
  }
  return input.point;
}

/** The ledger as it will be once the order's decisions are recorded. */
function withDecisions(input: PlanInput): Result<Ledger, PlanProblem> {
  const ledger = ledgerOf(input.effects);
  const branches = input.mode === 'fork' || input.mode === 'replay';
  for (const [key, decision] of Object.entries(input.decisions)) {
    const rows = ledger.get(key as StepKey) ?? [];
    // A seq is the run's own: another run of the lineage may have an intent at the same number.
    const row =
      rows.find((one) => one.runId === input.run.runId && one.intentSeq === decision.intentSeq) ??
      rows.find((one) => one.intentSeq === decision.intentSeq);
    const sentence = branches
      ? `A ${input.mode} records no decision. Decide it on run ${row?.runId ?? rows.at(-1)?.runId ?? input.run.runId} first.`
      : row
        ? decisionProblem(row, decision, input)
        : `There is no intent at seq ${decision.intentSeq} for ${key}; the effect was sent again since, or never.`;
    if (sentence !== undefined) return fail({ kind: 'bad-decision', stepKey: key as StepKey, sentence });
    if (row && row.status !== 'failed' && row.status !== 'compensated')
      putInLedger(ledger, withDecision(row, decision, input.head.seq));
  }
  return ok(ledger);
}

function decisionProblem(row: EffectRecord, decision: Decision, input: PlanInput): string | undefined {
  const { outcome } = decision;
  if (outcome !== 'happened' && outcome !== 'did-not-happen' && outcome !== 'hold')
    return `The decision ${outcome} is not offered.`;
  if (outcome === 'happened' && decision.result === undefined)
    return 'Happened needs the result that the code is to be given.';
  if (row.runId !== input.run.runId) return `Run ${row.runId} owns this effect; it is decided there.`;
  if (isResultUnknown(row))
    return outcome === 'happened'
      ? undefined
      : `${row.stepKey} happened; only what it answered is not known.`;
  const said =
    row.status === 'confirmed' ? 'happened' : row.status === 'failed' ? 'did-not-happen' : undefined;
  // What an accepted order decided was in doubt until then, so that an outcome which is the same was decided by it.
  const isOwn =
    said === outcome && row.result?.sha256 === (said === 'happened' ? decision.result?.sha256 : undefined);
  if (isOwn && input.accepted === true) return undefined;
  if (said !== undefined)
    return `${row.stepKey} has its outcome already: ${said === 'happened' ? 'it is confirmed' : 'it did not happen'}.`;
  const stopUnrecorded = row.status === 'intended' && row.effect === 'external' && !isHeld(input);
  return isInDoubt(row, input.now) || stopUnrecorded ? undefined : `${row.stepKey} is not in doubt.`;
}

/** What a rewind leaves behind, or a fork does not inherit: begun after the point and in force at the head. */
function rowsBehind(input: PlanInput, point: PlanPoint, upTo: readonly StepRecord[]): readonly StepRecord[] {
  if (input.mode !== 'rewind' && input.mode !== 'fork') return [];
  const before = new Set(upTo.map((row) => row.stepKey));
  return stepsAt(input.steps, input.head).filter(
    (row) => row.startedSeq > point.seq && !before.has(row.stepKey),
  );
}

/** Effects that a rewind left behind before: on no line that still counts, and in force all the same. */
function keptBefore(input: PlanInput, upTo: readonly StepRecord[]): readonly StepRecord[] {
  if (input.mode === 'replay' || input.head.rewinds.length === 0) return [];
  const counted = new Set([...upTo, ...stepsAt(input.steps, input.head)].map((row) => row.stepKey));
  const kept = new Map<StepKey, StepRecord>();
  for (const row of input.steps) {
    if (row.startedSeq > input.head.seq || counted.has(row.stepKey)) continue;
    const other = kept.get(row.stepKey);
    if (other === undefined || other.line < row.line) kept.set(row.stepKey, row);
  }
  return [...kept.values()].sort((a, b) => a.startedSeq - b.startedSeq);
}

const regionOf = (row: StepRecord, at: RunState): Region =>
  at.visit !== undefined && at.status !== 'completed' && within(row.stepKey, at.visit.key)
    ? 'open-visit'
    : 'closed-visit';

function contextOf(
  input: PlanInput,
  at: RunState,
  ledger: Ledger,
  editedSteps: ReadonlySet<string>,
): StepContext {
  return {
    mode: input.mode,
    runId: input.run.runId,
    at,
    ledger,
    decisions: input.decisions,
    options: input.options,
    now: input.now,
    anew: input.mode === 'fork' && input.edits.length > 0,
    editedSteps,
  };
}

function leftBehindOf(
  input: PlanInput,
  behind: readonly StepRecord[],
  before: readonly StepRecord[],
  ledger: Ledger,
): Plan['leftBehind'] {
  const kept = new Set<StepKey>([...(input.options.keep ?? []), ...before.map((row) => row.stepKey)]);
  const effects: LeftBehindEffect[] = [];
  for (const row of [...before, ...behind]) {
    const effect = effectRow(row, ledger);
    if (effect === undefined || effect.status === 'failed') continue;
    // A fork's original stays as it is. An open idempotent call is repeated under its key where it is asked for again.
    const stays =
      input.mode === 'fork' ||
      kept.has(row.stepKey) ||
      (effect.status === 'intended' && !isInDoubt(effect, input.now) && effect.effect === 'idempotent');
    effects.push({
      stepKey: row.stepKey,
      name: row.name,
      effect: effect.effect,
      status: effectStatusNow(effect, input.now),
      intentSeq: effect.intentSeq,
      fate: stays ? 'kept' : 'needs-keep',
      ...(effect.receipt !== undefined && { receipt: effect.receipt }),
    });
  }
  return {
    steps: behind.length,
    effects,
    questions: behind.filter((row) => row.kind === 'human').map((row) => row.stepKey),
  };
}

function driftOf(input: PlanInput): Plan['drift'] {
  if (input.today === undefined) return { source: 'recorded', differences: [], blocked: false };
  const differences =
    input.today.digest === input.head.machineDigest ? [] : undeclaredOr(input.machine, input.today.machine);
  return {
    source: 'worker',
    differences,
    blocked: differences.some((difference) => difference.grade === 'block'),
  };
}

/** Where the run's own machine is not known, nothing can be compared, and that is a difference of its own. */
function undeclaredOr(recorded: Machine | undefined, now: Machine): readonly MachineDifference[] {
  if (recorded !== undefined) return compareMachines(recorded, now);
  return [
    {
      path: '',
      grade: 'block',
      sentence:
        'The machine that the run was recorded with is not known, so it cannot be compared with today’s.',
    },
  ];
}

/** The machine does not declare where people are asked, so wherever something may still run, a person may be. */
function envelopeOf(input: PlanInput, at: RunState): Envelope {
  const over = input.mode === 'replay' || (input.mode === 'resume' && at.status === 'completed');
  if (over) return { states: [], tools: [], asksPeople: false, limits: {} };
  const machine = input.today?.machine ?? input.machine ?? mineMachine(input.head);
  const { states, tools } = reachFrom(machine, at.visit?.state ?? machine.initial);
  return { states, tools, asksPeople: true, limits: machine.limits ?? {} };
}

const contextWindow = (mode: PlanMode, at: RunState): Plan['context'] => {
  const messages = mode === 'replay' ? 0 : at.messages.count;
  return {
    messages,
    note:
      messages === 0
        ? 'The conversation is empty there.'
        : `The whole conversation is restored: ${messages} messages.`,
  };
};

// ── obstacles ────────────────────────────────────────────────────────────────────────────────────────────────────

const isHeld = (input: PlanInput): boolean => {
  const lease = liveLease(input.run, input.now, input.judgedFrom);
  return lease !== undefined && lease.mode !== 'verify';
};

function obstaclesOf(
  input: PlanInput,
  point: PlanPoint,
  before: readonly PlannedStep[],
  after: readonly PlannedStep[],
  leftBehind: readonly LeftBehindEffect[],
  drift: Plan['drift'],
  ledger: Ledger,
): readonly Obstacle[] {
  const rows = new Map(input.steps.map((row) => [row.stepKey, row]));
  const cannotAnswer = ({ key }: PlannedStep): boolean => {
    const row = rows.get(key);
    const effect = row && effectRow(row, ledger);
    return effect !== undefined && isResultUnknown(effect);
  };
  const obstacles: Obstacle[] = [...runObstacles(input, point)];
  if (drift.blocked) {
    const names = drift.differences.filter((one) => one.grade === 'block').map((one) => one.sentence);
    obstacles.push({
      kind: 'drift',
      sentence: `Today’s machine differs from the recorded one. ${names.join(' ')}`,
    });
  }
  if (input.mode === 'replay') return obstacles;
  for (const step of before) {
    if (step.disposition === 'needs-decision')
      obstacles.push({ kind: 'needs-decision', sentence: `${step.name}: ${step.reason}`, stepKey: step.key });
    if (step.disposition === 'blocked') obstacles.push(blockedBy(step, input, cannotAnswer(step)));
  }
  for (const step of after) {
    if (step.disposition === 'needs-decision')
      obstacles.push({ kind: 'needs-decision', sentence: `${step.name}: ${step.reason}`, stepKey: step.key });
    // Nobody could answer it there: waiting for another run would not help.
    if (cannotAnswer(step)) obstacles.push(blockedBy(step, input, true));
    else if (step.disposition === 'blocked' && input.decisions[step.key]?.outcome === 'hold')
      obstacles.push(blockedBy(step, input, false));
  }
  for (const effect of leftBehind) {
    if (effect.fate !== 'needs-keep' || effect.status !== 'confirmed') continue;
    obstacles.push({
      kind: 'needs-keep',
      sentence: `${effect.name} is confirmed and would be left behind: keep it in force.`,
      stepKey: effect.stepKey,
    });
  }
  return obstacles;
}

function blockedBy(step: PlannedStep, input: PlanInput, cannotAnswer: boolean): Obstacle {
  const unrecorded =
    cannotAnswer || input.steps.some((row) => row.stepKey === step.key && row.status === 'not-recorded');
  return {
    kind: unrecorded ? 'not-recorded' : 'blocked',
    sentence: `${step.name}: ${step.reason}`,
    stepKey: step.key,
  };
}

function runObstacles(input: PlanInput, point: PlanPoint): readonly Obstacle[] {
  const { mode, run, status, head } = input;
  const nothing = (sentence: string): Obstacle => ({ kind: 'nothing-to-do', sentence });
  const noWorker = (sentence: string): Obstacle => ({ kind: 'no-worker', sentence });
  if (mode === 'replay') {
    if (!hasBegun(head)) return [nothing('The run has not begun; there is nothing to replay.')];
    return input.today === undefined
      ? [noWorker(`No worker that has the agent ${head.agent} is connected; a replay needs its code.`)]
      : [];
  }
  // Without today's machine there is no difference to grade, and no machine by which a worker could be chosen.
  const unknown: readonly Obstacle[] =
    input.today === undefined && head.machineDigest === undefined
      ? [
          noWorker(
            `The trace names no machine, and no worker that has the agent ${head.agent} is connected: nobody can say which code would go on.`,
          ),
        ]
      : [];
  if (mode === 'fork') {
    return !hasBegun(head)
      ? [nothing('The run has not begun; there is nothing to fork.'), ...unknown]
      : point.seq === head.seq && head.status === 'completed'
        ? [nothing('The run has completed; fork from an older point.'), ...unknown]
        : unknown;
  }
  if (run.home === 'mirror') return [{ kind: 'mirror', sentence: copyWords(head) }];
  const found: Obstacle[] = [...unknown];
  if (run.parent?.mode === 'replay')
    found.push(nothing('A replay touches nothing outside and does not go on; fork it instead.'));
  if (isHeld(input)) found.push({ kind: 'held', sentence: heldBy(run) });
  if (mode === 'rewind') {
    const order = waitingOrder(status, head);
    if (order !== undefined) found.push({ kind: 'held', sentence: order });
    if (!hasBegun(head)) found.push(nothing('The run has not begun; there is nothing to go back in.'));
    if (point.seq > 0 && !inForce(point.seq, segmentsAt(head.rewinds, head.seq))) {
      found.push({
        kind: 'abandoned-point',
        sentence: 'A rewind left this point behind; only a fork goes there.',
      });
    }
    return found;
  }
  const idle = nothingToResume(status, head);
  if (idle !== undefined) found.push(nothing(idle));
  return found;
}

/** Whether anything has happened that a fork could inherit or a rewind go back in. */
export const hasBegun = (state: RunState): boolean =>
  state.startSeq !== undefined || state.visit !== undefined;

const heldBy = ({ lease }: RunRecord): string => (lease === undefined ? 'Held.' : holderWords(lease));

/** Who has the run, in words. */
export const holderWords = ({ workerId, since }: Pick<Lease, 'workerId' | 'since'>): string =>
  `Held by ${workerId} since ${new Date(since).toISOString().slice(0, 19).replace('T', ' ')} UTC.`;

/** Why nothing goes on here with a run whose home is elsewhere, and what may be done with a copy of it. */
export const copyWords = (state: RunState): string =>
  `This is a copy; the run has its home elsewhere.${
    hasBegun(state) && state.machineDigest !== undefined ? ' Replay or fork it.' : ''
  }`;

/** The order that was accepted and waits for its worker, in words: until it is taken up or ends, no other one starts the run. */
export function waitingOrder(status: RunStatus, state: RunState): string | undefined {
  const order = openOrder(state);
  return status === 'queued' && order !== undefined
    ? `${order.mode} by ${order.actor} is accepted and waits for a worker.`
    : undefined;
}

/** Why there is nothing for a resume to do; undefined where there is. */
export function nothingToResume(status: RunStatus, state: RunState): string | undefined {
  switch (status) {
    case 'completed':
      return 'The run has completed.';
    case 'cancelled':
      return 'The run was cancelled; rewind or fork it.';
    case 'queued':
      return waitingOrder(status, state) ?? 'The run is queued and waits for a worker.';
    case 'unknown':
      return 'The trace does not say how the run ended.';
    case 'waiting':
      return state.waitingOn.length > 0 && state.waitingOn.every((on) => on.for === 'question')
        ? 'The run waits for an answer; answering lets it go on.'
        : undefined;
    case 'running':
    case 'paused':
    case 'interrupted':
    case 'failed':
      return undefined;
  }
}
