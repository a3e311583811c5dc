import { type EpochMs, epochMs, type RunId, type Seq, type StepKey } from '../events/ids';
import type { Decision, EventOf, NewEvent, RunEvent } from '../events/run-event';
import type { EffectRecord, EffectStatus, Evidence, OpenStep, RunState } from './records';

/*
 * The effect ledger of a lineage (DESIGN §5). It is folded over every event of every run, those that a rewind left
 * behind included, but never over inherited copies: an occurrence stays with the run that owns its newest intent.
 */

/** Rows of a lineage by step key, generations ascending. */
export type Ledger = ReadonlyMap<StepKey, readonly EffectRecord[]>;

/** Builds the ledger from rows in any order. */
export function ledgerOf(effects: readonly EffectRecord[]): Map<StepKey, readonly EffectRecord[]> {
  const ledger = new Map<StepKey, readonly EffectRecord[]>();
  for (const effect of effects) putInLedger(ledger, effect);
  return ledger;
}

/** Writes a row over its older self. */
export function putInLedger(ledger: Map<StepKey, readonly EffectRecord[]>, effect: EffectRecord): void {
  const others = (ledger.get(effect.stepKey) ?? []).filter((row) => row.generation !== effect.generation);
  ledger.set(
    effect.stepKey,
    [...others, effect].sort((a, b) => a.generation - b.generation),
  );
}

/** Rows of `key`, newest generation last. */
export function generationsOf(effects: readonly EffectRecord[], key: StepKey): readonly EffectRecord[] {
  return effects.filter((effect) => effect.stepKey === key).sort((a, b) => a.generation - b.generation);
}

/**
 * Rows that the event changes, as they are afterwards. `before`: the run's state before the event. `isOurs`: whose effects
 * are decided in their own journal alone, because their home is here; given where the event comes from elsewhere.
 */
export function ledgerChanges(
  ledger: Ledger,
  root: RunId,
  event: RunEvent,
  before: RunState,
  isOurs?: (id: RunId) => boolean,
): readonly EffectRecord[] {
  if (event.inherited) return none;
  switch (event.kind) {
    case 'step.started':
      return intended(ledger, root, event);
    case 'step.completed':
      return completed(ledger, event);
    case 'step.failed':
      return attemptFailed(ledger, event);
    case 'run.interrupted':
    case 'run.failed':
    case 'run.cancelled':
      return left(ledger, event, before.open, {
        from: 'intended',
        status: 'in-doubt',
        doubtBy: 'stop',
      });
    case 'run.resumed':
      return event.revived
        ? left(ledger, event, before.stopped, {
            from: 'in-doubt',
            status: 'intended',
            doubtBy: undefined,
          })
        : none;
    case 'effect.verified':
      return verified(ledger, event);
    case 'effect.decided':
      return decided(ledger, event, isOurs);
    default:
      return none;
  }
}

const none: readonly EffectRecord[] = [];

function intended(ledger: Ledger, root: RunId, event: EventOf<'step.started'>): readonly EffectRecord[] {
  const { intent, effect } = event;
  if (intent === undefined || (effect !== 'idempotent' && effect !== 'external')) return none;
  const old = ledger.get(event.stepKey)?.find((row) => row.generation === intent.generation);
  // No journal takes back what is settled, or another run's open call: one that was uploaded may claim anything.
  if (old?.status === 'confirmed' || old?.status === 'compensated') return none;
  if (old !== undefined && old.status !== 'failed' && old.runId !== event.runId) return none;
  const row: EffectRecord = {
    root,
    stepKey: event.stepKey,
    generation: intent.generation,
    idempotencyKey: intent.idempotencyKey,
    runId: event.runId,
    name: event.name,
    effect,
    status: 'intended',
    intent,
    intentSeq: event.seq,
    epoch: event.epoch,
    firstIntentAt: old?.firstIntentAt ?? event.at,
    intentAt: event.at,
    attempt: event.attempt,
    executions: (old?.executions ?? 0) + 1,
    ...(event.input && { input: event.input }),
    // An earlier attempt that nobody settled may still have happened, whatever becomes of this one.
    doubtBefore: old !== undefined && (old.doubtBefore || isUnsettled(old)),
    ...(old?.evidence && { evidence: old.evidence }),
    ...(old &&
      old.executions > 0 &&
      effect === 'external' && {
        earlier: [...(old.earlier ?? []), { runId: old.runId, intentSeq: old.intentSeq }],
      }),
    ...(old && old.executions === 0 && old.earlier && { earlier: old.earlier }),
  };
  return [row];
}

/** The row of this run's newest intent under the key. */
function own(ledger: Ledger, runId: RunId, key: StepKey): EffectRecord | undefined {
  return ledger
    .get(key)
    ?.filter((row) => row.runId === runId)
    .reduce<EffectRecord | undefined>(
      (newest, row) => (newest === undefined || row.intentSeq > newest.intentSeq ? row : newest),
      undefined,
    );
}

function completed(ledger: Ledger, event: EventOf<'step.completed'>): readonly EffectRecord[] {
  const row = own(ledger, event.runId, event.stepKey);
  if (row === undefined || row.status === 'confirmed' || row.status === 'compensated') return none;
  return [confirmed(row, event, 'outcome', event.seq)];
}

function confirmed(
  row: EffectRecord,
  answer: Pick<Decision, 'result' | 'receipt'>,
  by: NonNullable<EffectRecord['confirmedBy']>,
  seq: Seq,
): EffectRecord {
  return {
    ...settledRow(row),
    status: 'confirmed',
    confirmedBy: by,
    confirmedSeq: seq,
    doubtBefore: false,
    ...(answer.result && { result: answer.result }),
    ...(answer.receipt !== undefined && { receipt: answer.receipt }),
  };
}

function settledRow(row: EffectRecord): EffectRecord {
  const { doubtBy: _doubtBy, held: _held, ...rest } = row;
  return rest;
}

function attemptFailed(ledger: Ledger, event: EventOf<'step.failed'>): readonly EffectRecord[] {
  const row = own(ledger, event.runId, event.stepKey);
  if (row === undefined || !isUnsettled(row)) return none;
  const definite = event.failure === 'rejected' || event.failure === 'not-sent';
  const executions = event.failure === 'not-sent' ? row.executions - 1 : row.executions;
  if (definite && !row.doubtBefore) return [{ ...settledRow(row), status: 'failed', executions }];
  if (row.effect === 'external') return [{ ...row, status: 'in-doubt', doubtBy: 'worker', executions }];
  return [{ ...row, status: 'intended', doubtBefore: true, executions }];
}

/** External calls that a stop left in flight, or that a revival takes up again. */
function left(
  ledger: Ledger,
  { runId, epoch }: RunEvent,
  steps: Readonly<Record<string, OpenStep>>,
  change: {
    readonly from: EffectRecord['status'];
    readonly status: EffectRecord['status'];
    readonly doubtBy: 'stop' | undefined;
  },
): readonly EffectRecord[] {
  const changed: EffectRecord[] = [];
  for (const step of Object.values(steps)) {
    if (step.intent === undefined || step.effect !== 'external') continue;
    const row = own(ledger, runId, step.stepKey);
    if (row === undefined || row.status !== change.from || row.intentSeq !== step.attemptSeq) continue;
    // A revived worker has its own calls in flight, not those of an epoch before it.
    if (change.doubtBy === undefined && (row.doubtBy !== 'stop' || row.epoch !== epoch)) continue;
    changed.push(
      change.doubtBy
        ? { ...row, status: change.status, doubtBy: change.doubtBy }
        : { ...settledRow(row), status: change.status },
    );
  }
  return changed;
}

/** An answer is bound to one intent of the run that it stands in. */
function asked(ledger: Ledger, runId: RunId, key: StepKey, intentSeq: Seq): EffectRecord | undefined {
  return ledger.get(key)?.findLast((row) => row.runId === runId && row.intentSeq === intentSeq);
}

/**
 * So is a decision: the row that it is about. A run may decide another's intent, where it has none of its own there. A seq is the run's own first:
 * runs of a lineage may share that number.
 */
export function decidedOn(
  ledger: Ledger,
  runId: RunId,
  key: StepKey,
  intentSeq: Seq,
): EffectRecord | undefined {
  const rows = ledger.get(key) ?? [];
  const mine = asked(ledger, runId, key, intentSeq);
  if (mine !== undefined || rows.some((row) => isEarlier(row, runId, intentSeq))) return mine;
  return rows.findLast((row) => row.intentSeq === intentSeq);
}

const isEarlier = (row: EffectRecord, runId: RunId, intentSeq: Seq): boolean =>
  row.earlier?.some((one) => one.runId === runId && one.intentSeq === intentSeq) === true;

function verified(ledger: Ledger, event: EventOf<'effect.verified'>): readonly EffectRecord[] {
  const row = asked(ledger, event.runId, event.stepKey, event.intentSeq);
  if (row === undefined) return event.outcome === 'happened' ? happenedEarlier(ledger, event) : none;
  if (row.status === 'compensated' || (row.status === 'confirmed' && !isResultUnknown(row))) return none;
  switch (event.outcome) {
    case 'happened':
      // What the call answered is what its code will be given: without it, it is for a person to say.
      if (event.result !== undefined) return [confirmed(row, event, event.source, event.seq)];
      return [withEvidence(row.status === 'failed' ? doubtfulAgain(row) : row, event)];
    case 'did-not-happen':
      // A late worker's refusal settles its own attempt only.
      return row.status === 'confirmed' || (event.source === 'late-worker' && row.doubtBefore)
        ? none
        : [unhappened(row)];
    case 'unknown':
      return none;
  }
}

/** Late word of an intent that was found not to have happened, and was sent again since: perhaps it happened twice. */
function happenedEarlier(ledger: Ledger, event: EventOf<'effect.verified'>): readonly EffectRecord[] {
  const row = ledger.get(event.stepKey)?.findLast((one) => isEarlier(one, event.runId, event.intentSeq));
  if (row === undefined) return none;
  if (row.status !== 'failed') return [withEvidence(row, event)];
  // The newest one surely did not happen, so this one is what became of the occurrence.
  const that = { ...row, runId: event.runId, intentSeq: event.intentSeq };
  return [
    event.result === undefined
      ? withEvidence(doubtfulAgain(that), event)
      : confirmed(that, event, event.source, event.seq),
  ];
}

/** It was thought not to have happened. An idempotent one may be repeated under its key, and answers then. */
const doubtfulAgain = (row: EffectRecord): EffectRecord =>
  row.effect === 'external'
    ? { ...row, status: 'in-doubt', doubtBy: 'worker' }
    : { ...row, status: 'intended', doubtBefore: true };

function withEvidence(row: EffectRecord, event: EventOf<'effect.verified'>): EffectRecord {
  const { runId, intentSeq, source, seq, receipt, result } = event;
  const told: Evidence = {
    runId,
    intentSeq,
    source,
    seq,
    ...(receipt !== undefined && { receipt }),
    ...(result && { result }),
  };
  const others = (row.evidence ?? []).filter((one) => one.runId !== runId || one.intentSeq !== intentSeq);
  return { ...row, evidence: [...others, told] };
}

/** Something says that an intent before the newest one happened, and the newest may have happened as well: an alarm. */
export const mayHaveHappenedTwice = (effect: EffectRecord): boolean =>
  effect.effect === 'external' &&
  effect.status !== 'failed' &&
  (effect.evidence ?? []).some((one) => one.runId !== effect.runId || one.intentSeq !== effect.intentSeq);

/**
 * Confirmed, but what it answered is not known, because it could not be recorded or nobody said it. It is never sent
 * again, and cannot answer either, until a person gives the result.
 */
export const isResultUnknown = (effect: Pick<EffectRecord, 'status' | 'result'>): boolean =>
  effect.status === 'confirmed' && effect.result === undefined;

const unhappened = (row: EffectRecord): EffectRecord => ({
  ...settledRow(row),
  status: 'failed',
  doubtBefore: false,
});

function decided(
  ledger: Ledger,
  event: EventOf<'effect.decided'>,
  isOurs?: (id: RunId) => boolean,
): readonly EffectRecord[] {
  const row = decidedOn(ledger, event.runId, event.stepKey, event.decision.intentSeq);
  if (row === undefined || row.status === 'compensated') return none;
  if (isOurs?.(row.runId)) return none;
  const after = withDecision(row, event.decision, event.seq);
  return after === row ? none : [after];
}

/** The row as it would be after the decision; the same row where the decision settles nothing. */
export function withDecision(effect: EffectRecord, decision: Decision, seq: Seq): EffectRecord {
  if (effect.status === 'confirmed') {
    // That it happened stands; what it answered may be filled in.
    return isResultUnknown(effect) && decision.outcome === 'happened' && decision.result !== undefined
      ? confirmed(effect, decision, 'decision', seq)
      : effect;
  }
  switch (decision.outcome) {
    case 'happened':
      return confirmed(effect, decision, 'decision', seq);
    case 'did-not-happen':
      return unhappened(effect);
    case 'hold':
      return { ...effect, held: true };
    case 'keep-recorded':
    case 'compensate-and-run':
    case 'run-additional':
      return effect;
  }
}

/** Taken for the length of a lease that is not known; the longest that anybody should need. */
const UNKNOWN_LEASE_MS = 60_000;
/** Last instant of a `Date`. */
const END_OF_TIME = 8_640_000_000_000_000;

/**
 * Instant from which a probe's "not found" means that it did not happen. `sendBy` is what the worker's clock says; the
 * store's own bound, `leavesBy`, stands beside it, since that clock may run behind.
 */
export function askAgainAt(effect: Pick<EffectRecord, 'intent' | 'intentAt'>): EpochMs {
  const { sendBy, leavesBy, timeoutMs, settlesWithinMs } = effect.intent;
  const lastSend = Math.max(sendBy, leavesBy ?? effect.intentAt + UNKNOWN_LEASE_MS);
  return epochMs(Math.min(lastSend + timeoutMs + settlesWithinMs, END_OF_TIME));
}

/** Whether the stored key of an idempotent call may still be used at `now`. */
export function keyIsValid(effect: EffectRecord, now: EpochMs): boolean {
  return now < effect.firstIntentAt + effect.intent.keyValidForMs;
}

/**
 * Whether nobody knows if it happened, so that a person or a probe must say: in doubt, or an idempotent one that is
 * still open past the validity of its key, which counts as external.
 */
export function isInDoubt(effect: EffectRecord, now: EpochMs): boolean {
  if (effect.status === 'in-doubt') return true;
  return effect.status === 'intended' && effect.effect === 'idempotent' && !keyIsValid(effect, now);
}

/** The effects of one run that nobody can say happened: the one expression for list, page, API, actions and orders. */
export const doubtsOf = (
  runId: RunId,
  effects: readonly EffectRecord[],
  now: EpochMs,
): readonly EffectRecord[] => effects.filter((effect) => effect.runId === runId && isInDoubt(effect, now));

/** An effect's status as it is shown: no event says that the validity of a key ran out. */
export const effectStatusNow = (effect: EffectRecord, now: EpochMs): EffectStatus =>
  isInDoubt(effect, now) ? 'in-doubt' : effect.status;

/** Whether it has no definite outcome: in flight, or in doubt. */
export const isUnsettled = (effect: Pick<EffectRecord, 'status'>): boolean =>
  effect.status === 'intended' || effect.status === 'in-doubt';

/** Which ledger rows a write of these events needs: those of the keys that they name, or `all` where a stop or a revival may touch any. */
export function effectKeysOf(events: readonly NewEvent[]): readonly StepKey[] | 'all' {
  const keys = new Set<StepKey>();
  for (const event of events) {
    switch (event.kind) {
      case 'run.interrupted':
      case 'run.failed':
      case 'run.cancelled':
      case 'run.resumed':
        return 'all';
      case 'step.started':
        if (event.intent) keys.add(event.stepKey);
        break;
      case 'step.completed':
      case 'step.failed':
      case 'effect.verified':
      case 'effect.decided':
        keys.add(event.stepKey);
        break;
      default:
        break;
    }
  }
  return [...keys];
}
