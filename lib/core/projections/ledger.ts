import { type EpochMs, epochMs, type RunId, type Seq, type StepKey } from '../events/ids';
import type { Decision, EventOf, NewEvent, RunEvent, WaitingOn } from '../events/run-event';
import type { EffectRecord, EffectStatus, Evidence, IntentPlace, OpenStep, RunState } from './records';
import { own, without } from './state-change';

/*
 * The effect ledger of a lineage (DESIGN §5). It is folded over every event of every run, those that a rewind left
 * behind included, but never over inherited copies: an occurrence stays with the run that owns its newest intent. Two
 * runs send one occurrence only at two consoles, each of which has a copy of what the other one executes. Where both
 * journals come together, one call is the row and the other stands beside it: what was confirmed anywhere is not sent
 * again once the row's own call is known not to have happened.
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
    case 'run.waiting':
      return doubtsAwaited(event).flatMap((key) => notRepeated(ledger, event, key, before.open));
    case 'run.cancelled':
      return [...ledger.keys()].flatMap((key) => doubted(ledger, event, key));
    case 'run.interrupted':
    case 'run.failed':
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

/** Steps for which the run waits until somebody says what became of their call. */
export const doubtsAwaited = ({ on }: { readonly on: readonly WaitingOn[] }): readonly StepKey[] =>
  on.flatMap(({ stepKey, for: what }) => (what === 'in-doubt' ? [stepKey] : []));

function intended(ledger: Ledger, root: RunId, event: EventOf<'step.started'>): readonly EffectRecord[] {
  const { intent, effect } = event;
  if (intent === undefined || (effect !== 'idempotent' && effect !== 'external')) return none;
  const row = ledger.get(event.stepKey)?.find((one) => one.generation === intent.generation);
  const elsewhere = row !== undefined && row.runId !== event.runId && row.status !== 'failed';
  const old = elsewhere ? row.beside?.find((one) => one.runId === event.runId) : row;
  // No journal takes back what is settled: one that was uploaded may claim anything.
  if (old?.status === 'confirmed' || old?.status === 'compensated') return none;
  const earlier = old === undefined ? [] : sentBy(old);
  const intends: EffectRecord = {
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
    // A call that surely never left has not shown its key to anybody.
    firstIntentAt: old === undefined || neverLeft(old) ? event.at : old.firstIntentAt,
    intentAt: event.at,
    attempt: event.attempt,
    executions: (old?.executions ?? 0) + 1,
    ...(event.input && { input: event.input }),
    // An earlier attempt that nobody settled may still have happened, whatever becomes of this one.
    doubtBefore: old !== undefined && (old.doubtBefore || isUnsettled(old)),
    ...(old?.evidence && { evidence: old.evidence }),
    ...(earlier.length > 0 && { earlier }),
    ...(old?.beside && { beside: old.beside }),
  };
  return [elsewhere ? withBeside(row, intends) : intends];
}

const neverLeft = ({ status, executions }: EffectRecord): boolean => status === 'failed' && executions === 0;

const placeOf = ({ runId, intentSeq }: EffectRecord): IntentPlace => ({ runId, intentSeq });

/** The call's intents that may have left, its newest last. */
const sentBy = (call: EffectRecord): readonly IntentPlace[] => [
  ...(call.earlier ?? []),
  ...(call.executions > 0 ? [placeOf(call)] : []),
];

const isOfOther =
  (place: IntentPlace) =>
  (one: IntentPlace): boolean =>
    one.runId !== place.runId || one.intentSeq !== place.intentSeq;

/** A call that is in the ledger, and the row that it is or stands beside. */
interface Call {
  readonly row: EffectRecord;
  readonly call: EffectRecord;
}

/** The row's own call, and those of other runs that stand beside it. */
export const callsIn = (row: EffectRecord): readonly EffectRecord[] =>
  row.beside === undefined ? [row] : [row, ...row.beside];

const callsOf = (ledger: Ledger, key: StepKey): readonly Call[] =>
  (ledger.get(key) ?? []).flatMap((row) => callsIn(row).map((call) => ({ row, call })));

/** The row with its call, or one beside it, as it is now. */
const changed = ({ row, call }: Call, now: EffectRecord): EffectRecord =>
  call === row ? now : withBeside(row, now);

function withBeside(row: EffectRecord, call: EffectRecord): EffectRecord {
  const others = (row.beside ?? []).filter((one) => one.runId !== call.runId);
  // What surely did not happen is told by its place alone, as where it came before the row's own call.
  return call.status === 'failed'
    ? joined({ ...without(row, 'beside'), ...besides(others) }, call)
    : { ...row, beside: [...others, call] };
}

const besides = (calls: readonly EffectRecord[]): Pick<EffectRecord, 'beside'> =>
  calls.length === 0 ? {} : { beside: calls };

/** The row of an occurrence of which another call is known not to have happened. */
function joined(row: EffectRecord, gone: EffectRecord): EffectRecord {
  const earlier = [...sentBy(gone), ...(row.earlier ?? [])];
  const evidence = [...(gone.evidence ?? []), ...(row.evidence ?? [])];
  return {
    ...row,
    firstIntentAt: neverLeft(gone)
      ? row.firstIntentAt
      : epochMs(Math.min(row.firstIntentAt, gone.firstIntentAt)),
    executions: row.executions + gone.executions,
    ...(earlier.length > 0 && { earlier }),
    ...(evidence.length > 0 && { evidence }),
  };
}

/** The run's newest call under the key. */
export function newestOf(ledger: Ledger, runId: RunId, key: StepKey): Call | undefined {
  return callsOf(ledger, key)
    .filter(({ call }) => call.runId === runId)
    .reduce<Call | undefined>(
      (newest, one) => (newest === undefined || one.call.intentSeq > newest.call.intentSeq ? one : newest),
      undefined,
    );
}

function completed(ledger: Ledger, event: EventOf<'step.completed'>): readonly EffectRecord[] {
  const mine = newestOf(ledger, event.runId, event.stepKey);
  if (mine === undefined || mine.call.status === 'confirmed' || mine.call.status === 'compensated')
    return none;
  return [changed(mine, confirmed(mine.call, event, 'outcome', event.seq))];
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
  const mine = newestOf(ledger, event.runId, event.stepKey);
  if (mine === undefined || !isUnsettled(mine.call)) return none;
  const { call } = mine;
  const definite = event.failure === 'rejected' || event.failure === 'not-sent';
  const executions = event.failure === 'not-sent' ? call.executions - 1 : call.executions;
  if (definite && !call.doubtBefore) return [changed(mine, unhappened({ ...call, executions }))];
  return [
    changed(
      mine,
      call.effect === 'external'
        ? { ...call, status: 'in-doubt', doubtBy: 'worker', executions }
        : { ...call, status: 'intended', doubtBefore: true, executions },
    ),
  ];
}

/** This run's open call under the key, an idempotent one as well, is nobody's to repeat any more. */
function doubted(ledger: Ledger, { runId }: RunEvent, key: StepKey): readonly EffectRecord[] {
  const mine = newestOf(ledger, runId, key);
  if (mine?.call.status !== 'intended') return none;
  return [changed(mine, { ...mine.call, status: 'in-doubt', doubtBy: 'worker' })];
}

/**
 * A holder waits for the outcome of a call that its step did not make: a rewind left it behind, and it is asked for with
 * other arguments now. A step's own idempotent call can be repeated by a resume.
 */
function notRepeated(
  ledger: Ledger,
  event: RunEvent,
  key: StepKey,
  open: Readonly<Record<string, OpenStep>>,
): readonly EffectRecord[] {
  const isItsOwn = own(open, key)?.attemptSeq === newestOf(ledger, event.runId, key)?.call.intentSeq;
  return isItsOwn ? none : doubted(ledger, event, key);
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
  const rows: EffectRecord[] = [];
  for (const step of Object.values(steps)) {
    if (step.intent === undefined || step.effect !== 'external') continue;
    const mine = newestOf(ledger, runId, step.stepKey);
    if (mine === undefined) continue;
    const { call } = mine;
    if (call.status !== change.from || call.intentSeq !== step.attemptSeq) continue;
    // A revived worker has its own calls in flight, not those of an epoch before it.
    if (change.doubtBy === undefined && (call.doubtBy !== 'stop' || call.epoch !== epoch)) continue;
    const now = change.doubtBy ? { ...call, doubtBy: change.doubtBy } : settledRow(call);
    rows.push(changed(mine, { ...now, status: change.status }));
  }
  return rows;
}

/** An answer is bound to one intent of the run that it stands in. */
const asked = (calls: readonly Call[], runId: RunId, intentSeq: Seq): Call | undefined =>
  calls.findLast(({ call }) => call.runId === runId && call.intentSeq === intentSeq);

/**
 * So is a decision: the call that it is about. A run may decide another's intent, where it has none of its own there. A seq is the run's own first:
 * runs of a lineage may share that number.
 */
export function decidedOn(
  ledger: Ledger,
  runId: RunId,
  key: StepKey,
  intentSeq: Seq,
): EffectRecord | undefined {
  return callDecidedOn(ledger, runId, key, intentSeq)?.call;
}

function callDecidedOn(ledger: Ledger, runId: RunId, key: StepKey, intentSeq: Seq): Call | undefined {
  const calls = callsOf(ledger, key);
  const mine = asked(calls, runId, intentSeq);
  if (mine !== undefined || calls.some(({ call }) => isEarlier(call, runId, intentSeq))) return mine;
  return calls.findLast(({ call }) => call.intentSeq === intentSeq);
}

const isEarlier = (row: EffectRecord, runId: RunId, intentSeq: Seq): boolean =>
  row.earlier?.some((one) => one.runId === runId && one.intentSeq === intentSeq) === true;

function verified(ledger: Ledger, event: EventOf<'effect.verified'>): readonly EffectRecord[] {
  const calls = callsOf(ledger, event.stepKey);
  const found = asked(calls, event.runId, event.intentSeq);
  if (found === undefined) return event.outcome === 'happened' ? happenedEarlier(calls, event) : none;
  const { call } = found;
  if (isAnswered(call)) return none;
  switch (event.outcome) {
    case 'happened':
      return [changed(found, happened(call, event))];
    case 'did-not-happen':
      // A late worker's refusal settles its own attempt only.
      return call.status === 'confirmed' || (event.source === 'late-worker' && call.doubtBefore)
        ? none
        : [changed(found, unhappened(call))];
    case 'unknown':
      return none;
  }
}

/**
 * Late word of an intent that was sent again since. An external one was found not to have happened: perhaps it happened
 * twice. Attempts at an idempotent one have the same key: what one of them came to is what became of the call.
 */
function happenedEarlier(calls: readonly Call[], event: EventOf<'effect.verified'>): readonly EffectRecord[] {
  const found = calls.findLast(({ call }) => isEarlier(call, event.runId, event.intentSeq));
  if (found === undefined) return none;
  const { call } = found;
  if (call.effect === 'external') {
    const told = withEvidence(call, event);
    return [changed(found, told.status === 'failed' ? unhappened(told) : told)];
  }
  return isAnswered(call) ? none : [changed(found, happened(call, event, sentAt(call, event)))];
}

/** What became of the call is known, and nobody has anything to add. */
const isAnswered = (call: EffectRecord): boolean =>
  call.status === 'compensated' || (call.status === 'confirmed' && !isResultUnknown(call));

/**
 * The call once something says that it happened; `sent`: as that of the intent which is meant. What it answered is what its
 * code will be given: without it, it is for a person to say.
 */
const happened = (call: EffectRecord, event: EventOf<'effect.verified'>, sent = call): EffectRecord =>
  event.result !== undefined
    ? confirmed(sent, event, event.source, event.seq)
    : withEvidence(call.status === 'failed' ? doubtfulAgain(call) : call, event);

/** The row as that of one of its earlier intents. */
function sentAt(row: EffectRecord, place: IntentPlace): EffectRecord {
  const { runId, intentSeq } = place;
  return { ...row, runId, intentSeq, earlier: sentBy(row).filter(isOfOther(place)) };
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
  const others = (row.evidence ?? []).filter(isOfOther(event));
  return { ...row, evidence: [...others, told] };
}

/** All that says of the occurrence that it happened, beyond what confirmed it: calls that stand beside it included. */
export const evidenceOf = (effect: EffectRecord): readonly Evidence[] => [
  ...(effect.evidence ?? []),
  ...(effect.beside ?? []).flatMap((call) =>
    call.status === 'confirmed' ? [confirmationOf(call), ...(call.evidence ?? [])] : (call.evidence ?? []),
  ),
];

const confirmationOf = (call: EffectRecord): Evidence => ({
  ...placeOf(call),
  source: call.confirmedBy ?? 'outcome',
  seq: call.confirmedSeq ?? call.intentSeq,
  ...(call.receipt !== undefined && { receipt: call.receipt }),
  ...(call.result && { result: call.result }),
});

/**
 * Something says that another intent than this one happened, and this one may have happened as well: an alarm. Attempts at
 * an idempotent call have one key; another generation has a key of its own, and is there since the one before surely had
 * not happened. `generations`: rows of the occurrence, this one or not.
 */
export const mayHaveHappenedTwice = (
  effect: EffectRecord,
  generations: readonly EffectRecord[] = [],
): boolean =>
  effect.status !== 'failed' &&
  ((effect.effect === 'external' && evidenceOf(effect).some(isOfOther(effect))) ||
    (effect.status !== 'compensated' &&
      generations.some((other) => other.generation !== effect.generation && isSaidToHaveHappened(other))));

const isSaidToHaveHappened = ({ status, evidence = [] }: EffectRecord): boolean =>
  status === 'confirmed' || (isUnsettled({ status }) && evidence.some(({ overruled }) => !overruled));

/**
 * Confirmed, but what it answered is not known, because it could not be recorded or nobody said it. It is never sent
 * again, and cannot answer either, until a person gives the result.
 */
export const isResultUnknown = (effect: Pick<EffectRecord, 'status' | 'result'>): boolean =>
  effect.status === 'confirmed' && effect.result === undefined;

/**
 * The row once its call is known not to have happened. What is known of the occurrence's other calls is then what became
 * of it: the one beside it that is confirmed, else one that may have happened, else an earlier one that something says did.
 */
function unhappened(row: EffectRecord): EffectRecord {
  const isOther = isOfOther(row);
  const evidence = row.evidence?.map((one) => (isOther(one) ? one : { ...one, overruled: true as const }));
  const gone: EffectRecord = {
    ...settledRow(row),
    status: 'failed',
    doubtBefore: false,
    ...(evidence && { evidence }),
  };
  const calls = row.beside ?? [];
  const next = calls.find(({ status }) => status === 'confirmed') ?? calls[0];
  if (next !== undefined) return joined({ ...next, ...besides(calls.filter((one) => one !== next)) }, gone);
  const told = (evidence ?? []).filter(({ overruled }) => !overruled);
  const word = told.findLast(({ result }) => result !== undefined) ?? told.at(-1);
  if (word === undefined) return gone;
  const that = sentAt(gone, word);
  return word.result === undefined ? doubtfulAgain(that) : confirmed(that, word, word.source, word.seq);
}

function decided(
  ledger: Ledger,
  event: EventOf<'effect.decided'>,
  isOurs?: (id: RunId) => boolean,
): readonly EffectRecord[] {
  const found = callDecidedOn(ledger, event.runId, event.stepKey, event.decision.intentSeq);
  if (found === undefined || found.call.status === 'compensated') return none;
  if (isOurs?.(found.call.runId)) return none;
  const after = withDecision(found.call, event.decision, event.seq);
  return after === found.call ? none : [changed(found, after)];
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

/** What the page of the run that owns it has to look at: it has no definite outcome, or may be one of two calls that happened. */
export const isWatched = (effect: EffectRecord): boolean =>
  isUnsettled(effect) || effect.generation > 1 || evidenceOf(effect).length > 0;

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
      case 'run.waiting':
        for (const key of doubtsAwaited(event)) keys.add(key);
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
