import {
  type Epoch,
  type EpochMs,
  epochMs,
  type RunId,
  type Seq,
  type Sha256,
  type StepKey,
  seq,
} from '../events/ids';
import type { Hash } from '../events/payload';
import type { EventKind, Intent, NewEvent, RunEvent } from '../events/run-event';
import { within } from '../events/step-key';
import type { Effect } from '../machine/machine';
import {
  askAgainAt,
  effectStatusNow,
  generationsOf,
  keyIsValid,
  ledgerChanges,
  ledgerOf,
  putInLedger,
} from '../projections/ledger';
import type {
  EffectRecord,
  EffectStatus,
  OpenStep,
  RunRecord,
  RunStatus,
  StepRecord,
} from '../projections/records';
import { canonicalJson, type Json } from '../shared/canonical-json';
import { fail, ok, type Result } from '../shared/result';
import { type Draft, type Extension, extend } from './extend';
import { lapsed } from './lapsed';
import { revivalOf } from './lease';

/** What the store knows when a batch arrives; `WriteContext` fits. */
export interface AppendContext {
  readonly now: EpochMs;
  readonly run: RunRecord | undefined;
  readonly effects: readonly EffectRecord[];
  /** Rows of every line of the steps that the batch starts. */
  readonly steps: readonly StepRecord[];
  readonly batch: StoredBatch | undefined;
  readonly others: readonly RunEvent[];
  readonly missingPayloads: readonly Sha256[];
}

export interface StoredBatch {
  readonly epoch: Epoch;
  readonly batch: number;
  readonly digest: Sha256;
  readonly firstSeq: Seq;
  readonly headSeq: Seq;
  readonly seenSeq: Seq;
}

export interface AppendAsk {
  readonly epoch: Epoch;
  readonly batch: number;
  readonly seenSeq: Seq;
  readonly events: readonly NewEvent[];
}

/** `firstSeq`: of the batch's own first event. `others`: what the console appended after `seenSeq`, a revival included. */
export interface AppendAnswer {
  readonly firstSeq: Seq;
  readonly headSeq: Seq;
  readonly others: readonly RunEvent[];
}

export interface EffectExists {
  readonly kind: 'effect-exists';
  readonly stepKey: StepKey;
  readonly generation: number;
  readonly runId: RunId;
  readonly intentSeq: Seq;
  readonly status: EffectStatus;
}

export type AppendProblem =
  | { readonly kind: 'not-found' }
  | { readonly kind: 'mirror' }
  | { readonly kind: 'stale-epoch'; readonly epoch: Epoch }
  /** Same epoch, but the lease was given back, or the run has ended. */
  | { readonly kind: 'not-held'; readonly status: RunStatus }
  | { readonly kind: 'batch-gap'; readonly expected: number }
  | { readonly kind: 'batch-differs' }
  | EffectExists
  | { readonly kind: 'unknown-payloads'; readonly payloads: readonly Sha256[] }
  /** A kind that is not a worker's to write, or one that contradicts the record; `index` in the batch. */
  | {
      readonly kind: 'refused-event';
      readonly index: number;
      readonly event: EventKind;
      readonly sentence: string;
    }
  /** Never leaves the server: ask again with `effectKeys: 'all'`. */
  | { readonly kind: 'needs-ledger' };

/** Content digest of a batch, for telling the same batch from another one under its number. `seenSeq` is not content. */
export function batchDigest(ask: Pick<AppendAsk, 'events'>, hash: Hash): Sha256 {
  return hash(canonicalJson(ask.events as unknown as Json));
}

/**
 * Decides a lease holder's batch. `change: undefined`: it was stored before, `answer` is the first one.
 * On `needs-ledger` (a stop or a revival touches rows that were not asked for) commit again with `effectKeys: 'all'`.
 */
export function appendBatch(
  context: AppendContext,
  ask: AppendAsk,
  hash: Hash,
): Result<
  {
    readonly answer: AppendAnswer;
    readonly change: (Extension & { readonly batch: StoredBatch }) | undefined;
  },
  AppendProblem
> {
  const { run } = context;
  if (run === undefined) return fail({ kind: 'not-found' });
  if (run.home === 'mirror') return fail({ kind: 'mirror' });
  if (ask.epoch !== run.epoch) return fail({ kind: 'stale-epoch', epoch: run.epoch });
  const digest = batchDigest(ask, hash);
  if (context.batch) {
    if (context.batch.digest !== digest) return fail({ kind: 'batch-differs' });
    const { firstSeq, headSeq } = context.batch;
    return ok({
      answer: { firstSeq, headSeq, others: context.others.filter((event) => event.seq <= headSeq) },
      change: undefined,
    });
  }
  if (ask.batch !== run.lastBatch + 1) return fail({ kind: 'batch-gap', expected: run.lastBatch + 1 });
  if (context.missingPayloads.length > 0)
    return fail({ kind: 'unknown-payloads', payloads: context.missingPayloads });
  const refused = refusal(run, ask.events);
  if (refused) return fail(refused);

  const revived: readonly Draft[] = revival(run);
  const drafts = [
    ...revived,
    ...withLateEnds(
      ask.events.map((event) => settledLate(stamped(event, run, context.now), context)),
      run,
    ),
  ];
  if (lacksRows(run, context.effects, drafts)) return fail({ kind: 'needs-ledger' });
  const exists = againstLedger(run, context, drafts, revived.length);
  if (exists) return fail(exists);

  const extension = extend(
    { ...held(run, context.now), lastBatch: ask.batch },
    context.effects,
    drafts,
    { at: context.now, epoch: ask.epoch, by: 'worker' },
    { steps: context.steps },
  );
  const firstSeq = seq(run.headSeq + 1 + revived.length);
  const { headSeq } = extension.run;
  return ok({
    answer: { firstSeq, headSeq, others: [...context.others, ...extension.events.slice(0, revived.length)] },
    change: {
      ...extension,
      batch: { epoch: ask.epoch, batch: ask.batch, digest, firstSeq, headSeq, seenSeq: ask.seenSeq },
    },
  });
}

/**
 * What a holder appends shows that it lives: a lease that had lapsed runs for another length, so that nobody judges it
 * dead again before its next heartbeat.
 */
function held(run: RunRecord, now: EpochMs): RunRecord {
  const { lease } = run;
  if (lease === undefined || !lapsed(lease, now)) return run;
  return { ...run, lease: { ...lease, expiresAt: epochMs(now + lease.leaseMs) } };
}

/** What a batch of a worker that was thought dead begins with. */
function revival({ lease, state }: RunRecord): readonly Draft[] {
  if (state.status !== 'interrupted' || lease === undefined || lease.mode === 'verify') return [];
  return [{ ...revivalOf(lease, state), by: 'console' }];
}

/**
 * Marks ends of orders that are not open any more: the console ended them, for a cancel or a decision, while the worker
 * had its own word about them on its way. Such a word is no reason to lose a batch, and each event keeps its place in it.
 */
function withLateEnds(events: readonly NewEvent[], { state }: RunRecord): readonly NewEvent[] {
  if (!events.some(({ kind }) => kind === 'command.ended')) return events;
  const { pending, interruption, verifies } = state;
  const orders = [pending, interruption?.order, ...verifies];
  const open = new Set(orders.flatMap((order) => (order === undefined ? [] : [order.commandId])));
  return events.map((event) =>
    event.kind === 'command.ended' && !open.delete(event.commandId) ? { ...event, late: true } : event,
  );
}

/** What a worker does; the rest is the console's to append. */
export const workerKinds: ReadonlySet<EventKind> = new Set([
  'run.waiting',
  'run.paused',
  'run.completed',
  'run.failed',
  'run.cancelled',
  'state.entered',
  'state.left',
  'scope.left',
  'step.started',
  'step.completed',
  'step.failed',
  'step.reused',
  'step.skipped',
  'value.recorded',
  'api.unavailable',
  'api.recovered',
  'variables.patched',
  'message.appended',
  'context.compacted',
  'checkpoint.saved',
  'effect.verified',
  'effect.conflict',
  'question.asked',
  'command.ended',
  'divergence.found',
] as const);
/** What a probe's holder may write. */
const verifyKinds: ReadonlySet<EventKind> = new Set(['effect.verified', 'command.ended'] as const);
/** What may still follow the end of a run in its epoch. */
const afterEnd: ReadonlySet<EventKind> = new Set(['command.ended', 'effect.verified'] as const);

function refusal(run: RunRecord, events: readonly NewEvent[]): AppendProblem | undefined {
  const { status, finished } = run.state;
  if (run.lease === undefined) return { kind: 'not-held', status };
  const verifying = run.lease.mode === 'verify';
  // What an accepted plan was made on stands until its claim: a holder that was thought dead comes too late.
  if (status === 'queued' && !verifying) return { kind: 'not-held', status };
  let over = finished;
  const open = openIntents(run);
  for (const [index, event] of events.entries()) {
    if (!workerKinds.has(event.kind)) {
      return {
        kind: 'refused-event',
        index,
        event: event.kind,
        sentence: `${event.kind} is the console's to append.`,
      };
    }
    if (verifying && !verifyKinds.has(event.kind)) {
      return {
        kind: 'refused-event',
        index,
        event: event.kind,
        sentence: 'A lease for a probe writes its answer and nothing else.',
      };
    }
    if (over && !afterEnd.has(event.kind)) {
      if (index === 0 || finished) return { kind: 'not-held', status };
      return {
        kind: 'refused-event',
        index,
        event: event.kind,
        sentence: `${event.kind} comes after the end of the run.`,
      };
    }
    if (
      event.kind === 'step.started' &&
      (event.effect === 'external' || event.effect === 'idempotent') &&
      event.intent === undefined
    ) {
      return {
        kind: 'refused-event',
        index,
        event: event.kind,
        sentence: `${event.stepKey} is ${event.effect} and brings no intent.`,
      };
    }
    if (event.kind === 'step.started' && event.intent && run.parent?.mode === 'replay') {
      return {
        kind: 'refused-event',
        index,
        event: event.kind,
        sentence: `A replay sends nothing, and ${event.stepKey} brings an intent.`,
      };
    }
    if (event.kind === 'effect.verified' && event.source !== 'probe') {
      return {
        kind: 'refused-event',
        index,
        event: event.kind,
        sentence: 'A holder writes what its probe found; the late word of a fenced worker comes as evidence.',
      };
    }
    followIntents(open, event);
    const below = openBelow(open, event);
    if (below !== undefined) {
      return {
        kind: 'refused-event',
        index,
        event: event.kind,
        sentence: `${event.kind} ends a scope in which ${below} is still open.`,
      };
    }
    if (event.kind === 'run.completed' || event.kind === 'run.failed' || event.kind === 'run.cancelled')
      over = true;
  }
  return undefined;
}

/** Effects that may have left and have no outcome yet. A refusal settles its attempt: nothing of it is open. */
function openIntents({ state }: RunRecord): Map<StepKey, OpenStep['effect']> {
  const steps = [...Object.values(state.open), ...Object.values(state.stopped)];
  const isOpen = ({ intent, settled, failure }: OpenStep) =>
    intent !== undefined && settled === undefined && !isDefinite(failure);
  return new Map(steps.filter(isOpen).map((step) => [step.stepKey, step.effect]));
}

const isDefinite = (failure: OpenStep['failure']): boolean =>
  failure === 'rejected' || failure === 'not-sent';

function followIntents(open: Map<StepKey, OpenStep['effect']>, event: NewEvent): void {
  switch (event.kind) {
    case 'step.started':
      if (event.intent) open.set(event.stepKey, event.effect);
      break;
    case 'step.failed':
      if (isDefinite(event.failure) || (event.final && open.get(event.stepKey) !== 'external'))
        open.delete(event.stepKey);
      break;
    case 'step.completed':
    case 'step.reused':
    case 'step.skipped':
      open.delete(event.stepKey);
      break;
    default:
      break;
  }
}

/** An effect that is open below the scope which the event ends: such a scope does not end (DESIGN §6). */
function openBelow(open: ReadonlyMap<StepKey, unknown>, event: NewEvent): StepKey | undefined {
  switch (event.kind) {
    case 'run.completed':
      return [...open.keys()][0];
    case 'state.left':
      return [...open.keys()].find((key) => within(key, event.key));
    case 'scope.left':
      return [...open.keys()].find((key) => within(key, event.scope));
    default:
      return undefined;
  }
}

/**
 * A holder's events are stamped by the store alone: what is bounded by time here counts by one clock, and what a step was
 * before it was started again is the record's to say.
 */
function stamped(event: NewEvent, { lease }: RunRecord, now: EpochMs): NewEvent {
  const { at: _at, ...rest } = event;
  if (rest.kind === 'command.ended') {
    const { late: _said, ...end } = rest;
    return end;
  }
  if (rest.kind !== 'step.started') return rest;
  const { endedBefore: _told, ...start } = rest;
  if (start.intent === undefined || lease === undefined) return start;
  return { ...start, intent: { ...start.intent, leavesBy: epochMs(now + lease.leaseMs) } };
}

/** Before the call had time to settle, a probe's "not found" means unknown, whatever the worker made of it. */
function settledLate(event: NewEvent, context: AppendContext): NewEvent {
  if (event.kind !== 'effect.verified' || event.source !== 'probe' || event.outcome !== 'did-not-happen')
    return event;
  const row = generationsOf(context.effects, event.stepKey).find(
    (one) => one.runId === context.run?.runId && one.intentSeq === event.intentSeq,
  );
  if (row === undefined || context.now >= askAgainAt(row)) return event;
  return { ...event, outcome: 'unknown', note: 'Not found, but asked before the call had time to settle.' };
}

/** Steps whose rows `appendBatch` wants to see. */
export const startedIn = (events: readonly NewEvent[]): readonly StepKey[] => [
  ...new Set(events.flatMap((event) => (event.kind === 'step.started' ? [event.stepKey] : []))),
];

/** Whether a stop or a revival changes ledger rows that the caller did not read. */
function lacksRows(run: RunRecord, effects: readonly EffectRecord[], drafts: readonly Draft[]): boolean {
  const touchesAll = drafts.some(
    ({ kind }) =>
      kind === 'run.failed' ||
      kind === 'run.cancelled' ||
      kind === 'run.resumed' ||
      kind === 'run.waiting' ||
      kind === 'run.paused',
  );
  if (!touchesAll) return false;
  const read = new Set(effects.map((effect) => effect.stepKey));
  return [...Object.values(run.state.open), ...Object.values(run.state.stopped)].some(
    (step) => step.intent !== undefined && !read.has(step.stepKey),
  );
}

/**
 * One declaration gates every path: an intent is refused while its occurrence is open or confirmed in the lineage. Nor
 * does a run come to rest over a call that is in flight: nobody would be left to say how it ended.
 */
function againstLedger(
  run: RunRecord,
  context: AppendContext,
  drafts: readonly Draft[],
  before: number,
): AppendProblem | undefined {
  if (!drafts.some((event) => rests(event) || (event.kind === 'step.started' && event.intent)))
    return undefined;
  const ledger = ledgerOf(context.effects);
  for (const [index, draft] of drafts.entries()) {
    const event: RunEvent = {
      ...draft,
      runId: run.runId,
      seq: seq(run.headSeq + 1 + index),
      at: draft.at ?? context.now,
      epoch: run.epoch,
      by: draft.by ?? 'worker',
      version: 1,
    };
    if (rests(event)) {
      const flying = [...ledger.values()].flat().find((row) => isInFlight(row, run));
      if (flying)
        return {
          kind: 'refused-event',
          index: index - before,
          event: event.kind,
          sentence: `${event.kind} comes while ${flying.stepKey} is in flight.`,
        };
    }
    if (event.kind === 'step.started' && event.intent) {
      const asked = { ...event.intent, effect: event.effect };
      const row = (ledger.get(event.stepKey) ?? []).findLast((one) =>
        standsInTheWay(one, run, asked, context.now),
      );
      if (row) {
        const { stepKey, generation, runId, intentSeq } = row;
        const status = effectStatusNow(row, context.now);
        return { kind: 'effect-exists', stepKey, generation, runId, intentSeq, status };
      }
    }
    for (const row of ledgerChanges(ledger, run.root, event, run.state)) putInLedger(ledger, row);
  }
  return undefined;
}

const rests = (event: NewEvent): boolean => event.kind === 'run.waiting' || event.kind === 'run.paused';

/** An external call that this holder has made and has not said a word about yet. */
const isInFlight = (row: EffectRecord, run: RunRecord): boolean =>
  row.runId === run.runId &&
  row.epoch === run.epoch &&
  row.effect === 'external' &&
  row.status === 'intended';

function standsInTheWay(
  row: EffectRecord,
  run: RunRecord,
  asked: Intent & { readonly effect: Effect | undefined },
  now: EpochMs,
): boolean {
  const { generation } = asked;
  // A generation is one set of arguments, whatever became of it: it has one key, and one answer.
  if (row.generation === generation && row.intent.argsDigest !== asked.argsDigest) return true;
  switch (row.status) {
    case 'failed':
      return false;
    case 'compensated':
      return row.generation === generation;
    case 'confirmed':
    case 'in-doubt':
      return true;
    case 'intended':
      // Only an idempotent call of this run may leave again, under the same key, while that is valid.
      return !(
        row.effect === 'idempotent' &&
        row.runId === run.runId &&
        row.generation === generation &&
        row.effect === asked.effect &&
        row.intent.idempotencyKey === asked.idempotencyKey &&
        keyIsValid(row, now)
      );
  }
}
