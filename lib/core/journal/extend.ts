import { type Epoch, type EpochMs, type RunId, type Seq, seq } from '../events/ids';
import {
  EVENT_VERSION,
  type EventOf,
  type EventStamp,
  type NewEvent,
  type Origin,
  type RunEvent,
  type Writer,
} from '../events/run-event';
import { ledgerChanges, ledgerOf, putInLedger } from '../projections/ledger';
import type {
  CheckpointRecord,
  EffectRecord,
  QuestionRecord,
  RunRecord,
  RunState,
  StepRecord,
} from '../projections/records';
import { rewindTransition } from '../projections/rewind-state';
import { applyEvent, checkpointId, transition } from '../projections/run-state';
import type { Transition } from '../projections/state-change';
import { startedBefore } from '../projections/step-transitions';
import { hasOutcome, stepAt } from '../projections/steps';

/** A new event; copies of other journals (a fork, an import) bring their own stamp: time, writer and epoch of it count. */
export type Draft = NewEvent & { readonly by?: Writer; readonly epoch?: Epoch; readonly inherited?: Origin };

export interface Stamp {
  readonly at: EpochMs;
  readonly epoch: Epoch;
  readonly by: Writer;
}

export interface ExtendOptions {
  /** State at an older seq, for `run.rewound`; needed where `toSeq` lies before the events at hand. */
  readonly stateAt?: (at: Seq) => RunState;
  /** Rows of every line of the steps that the events start: what had ended is told where it is started again. */
  readonly steps?: readonly StepRecord[];
  /** Writes a snapshot at the end whatever the count: imports and fork copies. */
  readonly snapshotAtEnd?: boolean;
  /** The events are a whole journal's copies: nothing is filled in, they stay as they were recorded. */
  readonly asRecorded?: boolean;
  /** The events come from elsewhere: whose effects they do not decide, because their home is here. */
  readonly isOurs?: (id: RunId) => boolean;
}

export interface Snapshot {
  readonly seq: Seq;
  readonly line: number;
  readonly state: RunState;
}

/** Everything that appended events change: `run`, `events`, and rows to be written whole (each at most once). */
export interface Extension {
  readonly run: RunRecord;
  readonly events: readonly RunEvent[];
  readonly steps: readonly StepRecord[];
  readonly effects: readonly EffectRecord[];
  readonly questions: readonly QuestionRecord[];
  readonly checkpoints: readonly CheckpointRecord[];
  readonly snapshots: readonly Snapshot[];
}

/** Snapshots are written at every multiple of this seq, and at every rewind. */
export const SNAPSHOT_EVERY = 256;

/**
 * The one place where appended events become rows. `effects`: ledger rows of the lineage for every key in
 * `effectKeysOf(events)`. Fills in a checkpoint's name (where empty), entrySeq, intentSeq and othersSeq, and what a
 * step had been that is started again.
 * Lease, epoch and batch number of the run's row are the caller's. O(events).
 */
export function extend(
  run: RunRecord,
  effects: readonly EffectRecord[],
  events: readonly Draft[],
  stamp: Stamp,
  options: ExtendOptions = {},
): Extension {
  const ledger = ledgerOf(effects);
  const placed: RunEvent[] = [];
  const steps = new Map<string, StepRecord>();
  const questions = new Map<string, QuestionRecord>();
  const changedEffects = new Map<string, EffectRecord>();
  const checkpoints: CheckpointRecord[] = [];
  const snapshots: Snapshot[] = [];
  let { state } = run;

  for (const [index, draft] of events.entries()) {
    const bare = place(run, state, draft, stamp);
    const isFilled = bare.inherited === undefined && options.asRecorded !== true;
    const event = isFilled ? filledIn(bare, state, events[index + 1], steps, options.steps) : bare;
    placed.push(event);
    for (const row of ledgerChanges(ledger, run.root, event, state, options.isOurs)) {
      putInLedger(ledger, row);
      changedEffects.set(`${row.generation} ${row.stepKey}`, row);
    }
    const change =
      event.kind === 'run.rewound'
        ? rewind(run, state, event, placed, snapshots, options)
        : transition(state, event);
    state = change.state;
    for (const row of change.steps) steps.set(`${row.line} ${row.stepKey}`, asRow(row));
    for (const row of change.questions) questions.set(`${row.line} ${row.questionId}`, row);
    if (event.kind === 'checkpoint.saved') checkpoints.push(checkpointOf(event, state));
    if (event.kind === 'run.rewound' || event.seq % SNAPSHOT_EVERY === 0)
      snapshots.push({ seq: event.seq, line: state.line, state });
  }
  if (options.snapshotAtEnd && placed.length > 0 && snapshots.at(-1)?.seq !== state.seq) {
    snapshots.push({ seq: state.seq, line: state.line, state });
  }
  return {
    run: { ...run, updatedAt: stamp.at, headSeq: state.seq, state },
    events: placed,
    steps: [...steps.values()],
    effects: [...changedEffects.values()],
    questions: [...questions.values()],
    checkpoints,
    snapshots,
  };
}

/** A step's row, without what only an open step of the state carries. */
export function asRow(step: StepRecord): StepRecord {
  if (!('waitsFor' in step || 'settled' in step)) return step;
  const {
    waitsFor: _waits,
    settled: _settled,
    ...row
  } = step as StepRecord & { readonly waitsFor?: unknown; readonly settled?: unknown };
  return row;
}

function place(run: RunRecord, state: RunState, draft: Draft, stamp: Stamp): RunEvent {
  const common = {
    runId: run.runId,
    seq: seq(state.seq + 1),
    at: draft.at ?? stamp.at,
    epoch: draft.epoch ?? stamp.epoch,
    by: draft.by ?? stamp.by,
    version: EVENT_VERSION,
  };
  return standsAt(draft, common) ? draft : { ...draft, ...common };
}

/** Whether it is the very event already: a long journal that is imported need not be copied. */
const standsAt = (draft: Draft & Partial<EventStamp>, due: EventStamp): draft is RunEvent =>
  draft.seq === due.seq &&
  draft.runId === due.runId &&
  draft.at === due.at &&
  draft.epoch === due.epoch &&
  draft.by === due.by &&
  draft.version === due.version;

function filledIn(
  event: RunEvent,
  state: RunState,
  next: Draft | undefined,
  changed: ReadonlyMap<string, StepRecord>,
  stored: readonly StepRecord[] | undefined,
): RunEvent {
  switch (event.kind) {
    case 'checkpoint.saved':
      return filledCheckpoint(event, state, next);
    case 'step.started':
      return filledStart(event, state, changed, stored ?? []);
    default:
      return event;
  }
}

/** What only the rows tell of a step that is started again after it had ended. */
function filledStart(
  event: EventOf<'step.started'>,
  state: RunState,
  changed: ReadonlyMap<string, StepRecord>,
  stored: readonly StepRecord[],
): RunEvent {
  const { stepKey } = event;
  if (event.endedBefore !== undefined || startedBefore(state, stepKey) !== undefined) return event;
  const rows = new Map<number, StepRecord>();
  for (const row of stored) if (row.stepKey === stepKey) rows.set(row.line, row);
  for (let line = 0; line <= state.line; line++) {
    const row = changed.get(`${line} ${stepKey}`);
    if (row !== undefined) rows.set(line, row);
  }
  const row = rows.size === 0 ? undefined : stepAt([...rows.values()], stepKey, state);
  if (row === undefined) return event;
  const { attempt, executions, startedSeq, startedAt } = row;
  const counted = hasOutcome(row) || row.status === 'not-recorded';
  return { ...event, endedBefore: { attempt, executions, startedSeq, startedAt, counted } };
}

/** What a worker cannot know when it asks for a checkpoint: where its visit was entered, what the console appended meanwhile. */
function filledCheckpoint(
  event: EventOf<'checkpoint.saved'>,
  state: RunState,
  next: Draft | undefined,
): RunEvent {
  // Saved for the sake of the intent that comes right behind it, in the same append.
  const saves = event.trigger === 'before-effect' && next?.kind === 'step.started' && next.intent;
  const intentSeq = saves ? seq(event.seq + 1) : event.intentSeq;
  return {
    ...event,
    name: event.name === '' ? checkpointName(state) : event.name,
    visit: state.visit?.key ?? event.visit,
    entrySeq: state.visit?.entrySeq ?? event.entrySeq,
    othersSeq: event.by === 'console' ? event.seq : state.othersSeq,
    ...(intentSeq !== undefined && { intentSeq }),
  };
}

/** Named by what had just happened: "after check_balance", "after entering plan, visit 2". */
export const checkpointName = (state: RunState): string =>
  state.lastEndedStep === undefined ? 'at the start' : `after ${state.lastEndedStep}`;

function checkpointOf(event: EventOf<'checkpoint.saved'>, after: RunState): CheckpointRecord {
  return {
    id: checkpointId(event.seq),
    n: after.counts.checkpoints,
    line: after.line,
    seq: event.seq,
    entrySeq: event.entrySeq,
    othersSeq: event.othersSeq,
    name: event.name,
    trigger: event.trigger,
    visit: event.visit,
    at: event.at,
    ...(event.intentSeq !== undefined && { intentSeq: event.intentSeq }),
  };
}

function rewind(
  run: RunRecord,
  head: RunState,
  event: EventOf<'run.rewound'>,
  placed: readonly RunEvent[],
  snapshots: readonly Snapshot[],
  options: ExtendOptions,
): Transition {
  return rewindTransition(olderState(run, event.toSeq, placed, snapshots, options), event, head);
}

/** No rewind lies between a snapshot and the next one, so the tail after it folds plainly. */
function olderState(
  run: RunRecord,
  at: Seq,
  placed: readonly RunEvent[],
  snapshots: readonly Snapshot[],
  options: ExtendOptions,
): RunState {
  if (at < run.headSeq) {
    if (options.stateAt === undefined)
      throw new Error(`Broken invariant: extend needs the state at ${at} to rewind to it`);
    return options.stateAt(at);
  }
  let state = snapshots.findLast((snapshot) => snapshot.seq <= at)?.state ?? run.state;
  for (let i = state.seq - run.headSeq; ; i++) {
    const event = placed[i];
    if (event === undefined || event.seq > at) return state;
    state = applyEvent(state, event);
  }
}
