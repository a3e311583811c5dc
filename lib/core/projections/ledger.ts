import { type EpochMs, epochMs, type RunId, type Seq, type StepKey } from '../events/ids';
import type { Decision, EventOf, NewEvent, RunEvent } from '../events/run-event';
import type { EffectRecord, Lease, OpenStep, RunState } from './records';

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

/** Rows that the event changes, as they are afterwards. `before`: the run's state before the event. `lease`: its writer's. */
export function ledgerChanges(
  ledger: Ledger,
  root: RunId,
  event: RunEvent,
  before: RunState,
  lease?: Pick<Lease, 'leaseMs'>,
): readonly EffectRecord[] {
  if (event.inherited) return none;
  switch (event.kind) {
    case 'step.started':
      return intended(ledger, root, event, lease);
    case 'step.completed':
      return completed(ledger, event);
    case 'step.failed':
      return attemptFailed(ledger, event);
    case 'run.interrupted':
    case 'run.failed':
    case 'run.cancelled':
      return left(ledger, event.runId, before.open, {
        from: 'intended',
        status: 'in-doubt',
        doubtBy: 'stop',
      });
    case 'run.resumed':
      return event.revived
        ? left(ledger, event.runId, before.stopped, {
            from: 'in-doubt',
            status: 'intended',
            doubtBy: undefined,
          })
        : none;
    case 'effect.verified':
      return verified(ledger, event);
    case 'effect.decided':
      return decided(ledger, event);
    default:
      return none;
  }
}

const none: readonly EffectRecord[] = [];

function intended(
  ledger: Ledger,
  root: RunId,
  event: EventOf<'step.started'>,
  lease: Pick<Lease, 'leaseMs'> | undefined,
): readonly EffectRecord[] {
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
    ...(lease && { settlesFrom: epochMs(event.at + lease.leaseMs) }),
    attempt: event.attempt,
    executions: (old?.executions ?? 0) + 1,
    ...(event.input && { input: event.input }),
    // An earlier attempt that nobody settled may still have happened, whatever becomes of this one.
    doubtBefore:
      old !== undefined && (old.doubtBefore || old.status === 'intended' || old.status === 'in-doubt'),
  };
  return [row];
}

/** Newest row of the key that this run owns. */
function own(ledger: Ledger, runId: RunId, key: StepKey): EffectRecord | undefined {
  return ledger.get(key)?.findLast((row) => row.runId === runId);
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
  if (row === undefined || (row.status !== 'intended' && row.status !== 'in-doubt')) return none;
  const definite = event.failure === 'rejected' || event.failure === 'not-sent';
  const executions = event.failure === 'not-sent' ? row.executions - 1 : row.executions;
  if (definite && !row.doubtBefore) return [{ ...settledRow(row), status: 'failed', executions }];
  if (row.effect === 'external') return [{ ...row, status: 'in-doubt', doubtBy: 'worker', executions }];
  return [{ ...row, status: 'intended', doubtBefore: true, executions }];
}

/** External calls that a stop left in flight, or that a revival takes up again. */
function left(
  ledger: Ledger,
  runId: RunId,
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
    if (change.doubtBy === undefined && row.doubtBy !== 'stop') continue;
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

/** So is a decision; a run that owns nothing under the key may decide another's intent. */
function decidedOn(ledger: Ledger, runId: RunId, key: StepKey, intentSeq: Seq): EffectRecord | undefined {
  const rows = ledger.get(key) ?? [];
  return rows.some((row) => row.runId === runId)
    ? asked(ledger, runId, key, intentSeq)
    : rows.findLast((row) => row.intentSeq === intentSeq);
}

function verified(ledger: Ledger, event: EventOf<'effect.verified'>): readonly EffectRecord[] {
  const row = asked(ledger, event.runId, event.stepKey, event.intentSeq);
  if (row === undefined || row.status === 'confirmed' || row.status === 'compensated') return none;
  switch (event.outcome) {
    case 'happened':
      return [confirmed(row, event, event.source, event.seq)];
    case 'did-not-happen':
      // A late worker's refusal settles its own attempt only.
      return event.source === 'late-worker' && row.doubtBefore ? none : [unhappened(row)];
    case 'unknown':
      return none;
  }
}

const unhappened = (row: EffectRecord): EffectRecord => ({
  ...settledRow(row),
  status: 'failed',
  doubtBefore: false,
});

function decided(ledger: Ledger, event: EventOf<'effect.decided'>): readonly EffectRecord[] {
  const row = decidedOn(ledger, event.runId, event.stepKey, event.decision.intentSeq);
  if (row === undefined || row.status === 'confirmed' || row.status === 'compensated') return none;
  const after = withDecision(row, event.decision, event.seq);
  return after === row ? none : [after];
}

/** The row as it would be after the decision; the same row where the decision settles nothing. */
export function withDecision(effect: EffectRecord, decision: Decision, seq: Seq): EffectRecord {
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
 * store's own bound stands beside it, since that clock may run behind.
 */
export function askAgainAt(effect: Pick<EffectRecord, 'intent' | 'intentAt' | 'settlesFrom'>): EpochMs {
  const { sendBy, timeoutMs, settlesWithinMs } = effect.intent;
  const leavesBy = Math.max(sendBy, effect.settlesFrom ?? effect.intentAt + UNKNOWN_LEASE_MS);
  return epochMs(Math.min(leavesBy + timeoutMs + settlesWithinMs, END_OF_TIME));
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
