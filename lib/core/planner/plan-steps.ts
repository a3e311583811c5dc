import type { EpochMs, RunId } from '../events/ids';
import type { Decision, PlanOptions } from '../events/run-event';
import { visitPathOf } from '../events/step-key';
import {
  askAgainAt,
  isInDoubt,
  isResultUnknown,
  isUnsettled,
  keyIsValid,
  type Ledger,
} from '../projections/ledger';
import type { EffectRecord, RunState, StepRecord } from '../projections/records';
import { own } from '../projections/state-change';
import { hasOutcome } from '../projections/steps';
import { assertNever } from '../shared/assert';
import type { Disposition, PlanMode, PlannedStep } from './plan';

/*
 * One step's disposition. The rules are DESIGN §6 "Plan": what is recorded answers, what is pure is computed again,
 * what only asks may ask again, and what changes the world goes by the lineage's ledger alone.
 */

/** Where a row stands relative to the point. `behind`: begun after it, so a rewind leaves it or a fork does not inherit it. */
export type Region = 'closed-visit' | 'open-visit' | 'behind';

export interface StepContext {
  readonly mode: PlanMode;
  readonly runId: RunId;
  /** State at the point. */
  readonly at: RunState;
  /** The lineage's ledger with the plan's decisions applied. */
  readonly ledger: Ledger;
  readonly decisions: Readonly<Record<string, Decision>>;
  readonly options: PlanOptions;
  readonly now: EpochMs;
  /** A fork with edits runs its open visit anew, with the recorded results as a cache. */
  readonly anew: boolean;
  /** Steps whose output was edited. */
  readonly editedSteps: ReadonlySet<string>;
}

/** Whether its failure ended the run: it is tried again. */
const isCulprit = (row: StepRecord, { at }: StepContext): boolean =>
  own(at.stopped, row.stepKey)?.status === 'failed';

type Answer = Pick<PlannedStep, 'disposition' | 'reason'> & Partial<PlannedStep>;

/** The row as a line of the plan. */
export function planStep(row: StepRecord, region: Region, context: StepContext): PlannedStep {
  const effect = effectRow(row, context.ledger);
  const answer = answerFor(row, region, effect, context);
  return {
    key: row.stepKey,
    name: row.name,
    visit: visitPathOf(row.stepKey),
    kind: row.kind,
    ...(row.effect && { effect: row.effect }),
    seq: hasOutcome(row) ? (row.endedSeq ?? row.attemptSeq) : row.attemptSeq,
    ...(effect && effectParts(effect)),
    ...answer,
  };
}

/**
 * The ledger's row that says what becomes of the occurrence, whichever generation it is of: what is confirmed with the
 * arguments that the step asked for answers, else what is open, in doubt, or confirmed with other arguments stands in
 * the way; else it is the step's own.
 */
export function effectRow(row: EffectStep, ledger: Ledger): EffectRecord | undefined {
  if (row.effect !== 'external' && row.effect !== 'idempotent') return undefined;
  const rows = ledger.get(row.stepKey) ?? [];
  return (
    rows.findLast((one) => one.status === 'confirmed' && isEqualTo(row, one)) ??
    rows.findLast(isUnsettled) ??
    rows.findLast((one) => one.status === 'confirmed') ??
    rows.find((one) => one.generation === row.intent?.generation) ??
    rows.at(-1)
  );
}

type EffectStep = Pick<StepRecord, 'stepKey' | 'effect' | 'intent' | 'inputDigest'>;

/** Whether the step asked for what the ledger's row was sent with. */
const isEqualTo = (row: EffectStep, effect: EffectRecord): boolean =>
  effect.intent.argsDigest === (row.intent?.argsDigest ?? row.inputDigest);

function effectParts(effect: EffectRecord): Partial<PlannedStep> {
  return {
    intentSeq: effect.intentSeq,
    guarded: effect.intent.guarded,
    verifiable: effect.intent.verifiable,
    ...(effect.receipt !== undefined && { receipt: effect.receipt }),
  };
}

function answerFor(
  row: StepRecord,
  region: Region,
  effect: EffectRecord | undefined,
  context: StepContext,
): Answer {
  if (context.mode === 'replay') return replayed(row, effect);
  if (region === 'closed-visit') {
    return {
      disposition: 'restored',
      reason: `Nothing of it runs: it is inside ${visitPathOf(row.stepKey)}, which is closed, and its results stand.`,
    };
  }
  if (region === 'behind') return afterPoint(row, effect, context);
  if (row.status === 'abandoned')
    return { disposition: 'restored', reason: 'Not run again: its scope ended without it.' };
  // What a person said that an effect answered takes the place of what could not be recorded.
  const isGiven = effect?.status === 'confirmed' && !isResultUnknown(effect);
  if (row.status === 'not-recorded' && !isGiven) {
    return {
      disposition: 'blocked',
      reason: `It finished, but its value could not be recorded${row.error ? `: ${row.error.message}` : ''}. Nothing can go on from here.`,
    };
  }
  if (row.effect === 'pure')
    return { disposition: 'recompute', reason: 'Pure. Runs again; the result must equal the record.' };
  if (row.effect === 'external' || row.effect === 'idempotent')
    return effectBeforePoint(row, effect, context);
  return hasOutcome(row) && !isCulprit(row, context) ? recordedRead(row, context) : openRead(row, context);
}

// ── steps that change nothing ────────────────────────────────────────────────────────────────────────────────────

function recordedRead(row: StepRecord, context: StepContext): Answer {
  const condition = context.anew ? ({ condition: 'if-equal' } as const) : {};
  const onlyIf = context.anew ? ' if the input is equal' : '';
  if (context.editedSteps.has(row.stepKey))
    return { disposition: 'reuse', reason: `Its result is the edited one${onlyIf}.`, ...condition };
  if (row.error !== undefined) {
    return {
      disposition: 'reuse',
      reason: `Nothing is asked${onlyIf}: the recorded failure is given again; the code went on from it.`,
      ...condition,
    };
  }
  if (row.kind === 'human')
    return {
      disposition: 'reuse',
      reason: `Nobody is asked again${onlyIf}: the answer is kept.`,
      ...condition,
    };
  if (row.kind === 'wait')
    return {
      disposition: 'reuse',
      reason: `Not served again${onlyIf}: the wait is over.`,
      ...condition,
    };
  return {
    disposition: 'reuse',
    reason: `Nothing is asked${onlyIf}: the record answers, seq ${row.endedSeq ?? row.attemptSeq}.`,
    ...condition,
    ...(row.endedAt !== undefined && { ageMs: Math.max(0, context.now - row.endedAt) }),
  };
}

function openRead(row: StepRecord, context: StepContext): Answer {
  switch (row.kind) {
    case 'human': {
      const question = Object.values(context.at.questions).find((one) => one.stepKey === row.stepKey);
      return question?.status === 'answered'
        ? {
            disposition: 'execute',
            reason: `Answered by ${question.answeredBy ?? 'a person'}; the answer is given to the code.`,
          }
        : {
            disposition: 'execute',
            reason: 'The run waits for the answer: the question stands.',
          };
    }
    case 'wait':
      return { disposition: 'execute', reason: 'The wait goes on from when it began.' };
    case 'llm':
    case 'tool':
    case 'retrieval':
    case 'agent':
    case 'compute':
    case 'condition':
      return isCulprit(row, context)
        ? {
            disposition: 'execute',
            reason: 'Tried again as the next attempt: its failure ended the run.',
          }
        : {
            disposition: 'execute',
            reason: 'Runs again if the code still awaits it: no outcome is recorded.',
            condition: 'if-awaited',
          };
    default:
      return assertNever(row.kind, 'step kind');
  }
}

// ── steps that change the world ──────────────────────────────────────────────────────────────────────────────────

/** What helps where a confirmed effect is asked for with other arguments. */
export const conflictAdvice =
  'Rewind or fork to before the step that gave the new arguments, or fork with an edit that brings the old ones.';

function effectBeforePoint(row: StepRecord, effect: EffectRecord | undefined, context: StepContext): Answer {
  const waits = context.at.open[row.stepKey] ?? context.at.stopped[row.stepKey];
  if (waits?.waitsFor === 'conflict') {
    return {
      disposition: 'blocked',
      reason: `Nothing is sent: it is confirmed with other arguments than those that the code asks for now. ${conflictAdvice}`,
    };
  }
  if (effect === undefined) return withoutLedger(row);
  // What ended the run is tried again; any other recorded failure is an outcome that the code went on from.
  const failedBefore = row.status === 'failed' || (row.status === 'reused' && row.error !== undefined);
  if (failedBefore && !isCulprit(row, context)) {
    const since = sinceThen(effect, context);
    return {
      disposition: 'reuse',
      reason: `Nothing is sent: the recorded failure is given again; the code went on from it.${since ?? ''}`,
      ...equal(context),
      ...(since !== undefined && effect.runId !== context.runId && { ownerRunId: effect.runId }),
    };
  }
  // Its own record answers, whatever is known elsewhere of what it answered.
  const isRecorded = hasOutcome(row) && !isCulprit(row, context);
  return byLedger(effect, row, context, equal(context), isRecorded);
}

/** A warning: what the code was told to have failed was sent again by another run, or happened after all. */
function sinceThen(effect: EffectRecord, context: StepContext): string | undefined {
  if (effect.status === 'confirmed') return ` Since then ${confirmation(effect, context)}.`;
  if (effect.runId === context.runId)
    return effect.status === 'in-doubt'
      ? ' Since then something says that it happened after all.'
      : undefined;
  return isUnsettled(effect)
    ? ` Since then run ${effect.runId} has intended it, outcome unknown.`
    : undefined;
}

const equal = (context: StepContext): Partial<PlannedStep> => (context.anew ? { condition: 'if-equal' } : {});

/** A trace from elsewhere may hold effects without intents: what it recorded stands, what it left open nobody can decide here. */
function withoutLedger(row: StepRecord): Answer {
  if (!hasOutcome(row))
    return {
      disposition: 'blocked',
      reason: 'It left no intent in the record, so nobody can tell whether it was sent.',
    };
  return row.effect === 'external'
    ? { disposition: 'skip', reason: 'Never sent again: recorded as done.' }
    : { disposition: 'reuse', reason: 'Not sent again: recorded as done, the recorded result is returned.' };
}

/** `isRecorded`: the run has the answer in its own record. */
function byLedger(
  effect: EffectRecord,
  row: StepRecord,
  context: StepContext,
  extra: Partial<PlannedStep>,
  isRecorded = false,
): Answer {
  const elsewhere = effect.runId !== context.runId || context.mode === 'fork';
  const owner = effect.runId !== context.runId && { ownerRunId: effect.runId };
  switch (effect.status) {
    case 'confirmed': {
      if (!isEqualTo(row, effect)) {
        return {
          disposition: 'blocked',
          reason: `Nothing is sent: ${confirmation(effect, context)}, with other arguments than those that are asked for here.`,
          ...owner,
        };
      }
      if (isResultUnknown(effect) && !isRecorded) {
        return {
          disposition: 'blocked',
          reason: `Never sent again: ${confirmation(effect, context)}, ${UNANSWERABLE}`,
          ...owner,
        };
      }
      return effect.effect === 'external'
        ? { disposition: 'skip', reason: `${notAgain(effect, context)}.`, ...extra }
        : {
            disposition: 'reuse',
            reason: `${notAgain(effect, context)}; the recorded result is returned.`,
            ...extra,
          };
    }
    case 'failed':
    case 'compensated':
      return isEqualTo(row, effect)
        ? {
            disposition: 'retry-same-key',
            reason: `Goes out under the same key: ${refutation(effect, row, context)}.`,
          }
        : {
            disposition: 'execute',
            reason: 'Goes out under a key of its own: it was surely never sent with these arguments.',
          };
    case 'in-doubt':
    case 'intended':
      if (elsewhere) {
        return {
          disposition: 'blocked',
          reason: `Nothing is sent: ${effect.runId === context.runId ? 'this run' : `run ${effect.runId}`} intended it, outcome unknown. That has to be known ${effect.runId === context.runId ? '' : 'there '}first.`,
          ownerRunId: effect.runId,
        };
      }
      if (
        effect.effect === 'idempotent' &&
        effect.status === 'intended' &&
        isEqualTo(row, effect) &&
        keyIsValid(effect, context.now)
      ) {
        return {
          disposition: 'retry-same-key',
          reason: 'Goes out again under the same key, which may be repeated: intended, outcome unknown.',
        };
      }
      return doubtful(effect, context);
    default:
      return assertNever(effect.status, 'effect status');
  }
}

const UNANSWERABLE =
  'but what it answered is not known, so it cannot answer either. Decide that it happened, with its result.';

function doubtful(effect: EffectRecord, context: StepContext): Answer {
  const when = { askAgainAt: askAgainAt(effect) };
  if (context.decisions[effect.stepKey]?.outcome === 'hold') {
    return {
      disposition: 'blocked',
      reason: 'On hold by decision. Nothing runs until it is decided.',
      ...when,
    };
  }
  const expired = effect.status === 'intended' && isInDoubt(effect, context.now);
  const why = expired
    ? 'Its key is no longer valid, so a repetition could happen twice'
    : 'Intended, outcome unknown';
  const told = effect.evidence?.some(
    (one) => one.intentSeq === effect.intentSeq && one.runId === effect.runId,
  )
    ? ' Something says that it happened, without its result.'
    : '';
  const elsewhere = sentElsewhere(effect);
  const how = effect.intent.verifiable
    ? 'Ask downstream, or decide'
    : 'Nothing can be asked downstream: decide';
  const held = effect.held ? ' It is on hold.' : '';
  const unguarded = effect.intent.guarded
    ? ''
    : ' Unguarded: downstream knows no key, so a late send cannot be stopped.';
  return {
    disposition: 'needs-decision',
    reason: `${why}.${told}${elsewhere} ${how}.${held}${unguarded}`,
    ...when,
  };
}

/** What an uploaded journal says of the same occurrence, where its run intended it at another console. */
function sentElsewhere({ beside = [] }: EffectRecord): string {
  const done = beside.find(({ status }) => status === 'confirmed');
  if (done !== undefined)
    return ` Run ${done.runId} intended it as well, at another console, and there it is confirmed: if this one did not happen, that is what answers.`;
  const [open] = beside;
  return open === undefined
    ? ''
    : ` Run ${open.runId} intended it as well, at another console; its outcome is not known here.`;
}

/** What a confirmed effect does not do again, and the ground. */
function notAgain(effect: EffectRecord, context: StepContext): string {
  const receipt = effect.receipt === undefined ? '' : `, receipt ${effect.receipt}`;
  return `${effect.effect === 'external' ? 'Never' : 'Not'} sent again: ${confirmation(effect, context)}${receipt}`;
}

/** Who or what says that it happened: a person's word is no certainty. */
function confirmation(effect: EffectRecord, context: StepContext): string {
  const other = effect.runId === context.runId ? undefined : effect.runId;
  const inRun = other === undefined ? '' : ` in run ${other}`;
  switch (effect.confirmedBy) {
    case 'probe':
      return `confirmed by asking downstream${inRun}`;
    case 'late-worker':
      return `confirmed by the late answer of a fenced worker${inRun}`;
    case 'decision':
      return isDecidedHere(effect, context, 'happened')
        ? 'it is decided here that it happened'
        : `a person said that it happened${inRun}`;
    case 'outcome':
    case undefined:
      return effect.confirmedSeq === undefined
        ? `confirmed${inRun}`
        : `confirmed at seq ${effect.confirmedSeq}${other === undefined ? '' : ` of run ${other}`}`;
    default:
      return assertNever(effect.confirmedBy, 'confirmation');
  }
}

/** Why it may go out: a worker's own word that nothing left is sure, what was said of it since is no more than that. */
function refutation(effect: EffectRecord, row: StepRecord, context: StepContext): string {
  if (effect.status === 'compensated') return 'it was compensated';
  if (isDecidedHere(effect, context, 'did-not-happen')) return 'it is decided here that it did not happen';
  const isOwn = effect.runId === context.runId && effect.intentSeq === row.attemptSeq;
  return isOwn && (row.failure === 'rejected' || row.failure === 'not-sent')
    ? `it surely did not happen, ${row.failure}`
    : 'a worker, a probe or a person said that it did not happen';
}

/** Whether the plan's own decisions are the ground, not yet or only just recorded. */
const isDecidedHere = (
  effect: EffectRecord,
  { decisions }: StepContext,
  outcome: Decision['outcome'],
): boolean => {
  const decision = own(decisions, effect.stepKey);
  return decision?.outcome === outcome && decision.intentSeq === effect.intentSeq;
};

// ── beyond the point ─────────────────────────────────────────────────────────────────────────────────────────────

/** Begun after the point: runs again only where the code asks for it again. */
function afterPoint(row: StepRecord, effect: EffectRecord | undefined, context: StepContext): Answer {
  const maybe = { condition: 'if-awaited' } as const;
  if (row.effect === 'pure')
    return { disposition: 'recompute', reason: 'Pure. Runs again where the code comes to it.', ...maybe };
  if (row.effect === 'external' || row.effect === 'idempotent') {
    return { ...effectAfterPoint(row, effect, context), ...maybe };
  }
  if (row.kind === 'human')
    return {
      disposition: 'execute',
      reason: 'Asks again: the old answer belongs to what is left behind.',
      ...maybe,
    };
  return {
    disposition: 'execute',
    reason: 'Runs again where the code comes to it: begun after the point.',
    ...maybe,
  };
}

function effectAfterPoint(row: StepRecord, effect: EffectRecord | undefined, context: StepContext): Answer {
  if (effect === undefined) return withoutLedger(row);
  if (effect.status !== 'confirmed') {
    const answer = byLedger(effect, row, context, {});
    // Nothing beyond the point is sure to be asked for: edits, reads and people may lead the code another way, and that
    // is what a fork is made for. So this is part of the envelope and no obstacle to the order, and the promise is kept by
    // what runs: the store refuses the intent, and the fork waits.
    return context.mode === 'fork' && answer.disposition === 'blocked'
      ? { ...answer, reason: `${answer.reason} Where the fork comes to it, it waits for that.` }
      : answer;
  }
  if (isResultUnknown(effect)) return byLedger(effect, row, context, {});
  if (context.mode === 'rewind' && !context.options.keep?.includes(row.stepKey)) {
    return {
      disposition: 'blocked',
      reason:
        'Confirmed and left behind. Keep it in force, and it answers from the record where it is asked for again.',
    };
  }
  const answer = byLedger(effect, row, context, {});
  if (answer.disposition === 'blocked') return answer;
  return {
    ...answer,
    reason: `${notAgain(effect, context)}. Asked again with the same arguments, it answers from the record.`,
  };
}

// ── replay ───────────────────────────────────────────────────────────────────────────────────────────────────────

function replayed(row: StepRecord, effect: EffectRecord | undefined): Answer {
  if (row.status === 'abandoned')
    return { disposition: 'restored', reason: 'Not run again: its scope ended without it.' };
  if (row.effect === 'pure')
    return { disposition: 'recompute', reason: 'Pure. Runs again; the result is compared with the record.' };
  if (row.status === 'not-recorded')
    return { disposition: 'blocked', reason: 'The replay stops here: its value could not be recorded.' };
  if (row.status === 'failed')
    return { disposition: 'reuse', reason: 'The recorded failure is given again.' };
  const confirmed = effect?.status === 'confirmed' && isEqualTo(row, effect) && !isResultUnknown(effect);
  if (row.effect === 'external' && (confirmed || hasOutcome(row))) {
    return { disposition: 'skip', reason: 'Nothing is sent: answers from the record.' };
  }
  if (!hasOutcome(row) && !confirmed)
    return { disposition: 'blocked', reason: 'The replay stops here: it has no record.' };
  return { disposition: 'reuse', reason: 'Nothing is asked: answers from the record.' };
}

/** Steps by disposition. */
export function totalsOf(steps: readonly PlannedStep[]): Readonly<Record<Disposition, number>> {
  const totals: Record<Disposition, number> = {
    restored: 0,
    reuse: 0,
    skip: 0,
    recompute: 0,
    execute: 0,
    'retry-same-key': 0,
    'needs-decision': 0,
    blocked: 0,
  };
  for (const step of steps) totals[step.disposition]++;
  return totals;
}
