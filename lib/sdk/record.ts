import type { Seq, StepKey } from '../core/events/ids';
import type { EventOf, RunEvent } from '../core/events/run-event';
import { scopeOf, within } from '../core/events/step-key';
import { isOutcome } from '../core/projections/answers';
import { endedBy, unhandledAfter } from '../core/projections/went-on';

/** Addresses of what has no key of its own. */
export const leftKey = (scope: string): string => `${scope}/$left`;
/** The run's end, as the code asks for it. */
export const END = '$end';
/** Where edits belong that were made before the first state. */
export const BEFORE_FIRST = '';

type Started = EventOf<'step.started'>;
type Answered = EventOf<'step.reused'> | EventOf<'step.skipped'>;
/** An event by which code asks for something, or says something. */
export type CallEvent = Extract<
  RunEvent,
  {
    readonly kind:
      | 'step.started'
      | 'step.reused'
      | 'step.skipped'
      | 'variables.patched'
      | 'message.appended'
      | 'value.recorded'
      | 'scope.left'
      | 'state.left'
      | 'state.entered'
      | 'run.completed'
      | 'run.failed';
  }
>;
/** An event that answers a call. */
export type OutcomeEvent = EventOf<'step.completed'> | EventOf<'step.failed'> | Answered;

/** One line of the record, in journal order. */
export interface RecordItem {
  readonly key: string;
  readonly event: CallEvent | OutcomeEvent;
  readonly asCall: boolean;
  readonly asOutcome: boolean;
}

/** What is recorded from the entry of the open visit on: what the code must ask for again, and what it is answered. */
export interface RecordedRun {
  readonly items: readonly RecordItem[];
  readonly calls: ReadonlyMap<string, CallEvent>;
  readonly outcomes: ReadonlyMap<string, OutcomeEvent>;
  /** Newest attempt of each call. */
  readonly attempts: ReadonlyMap<string, Started>;
  /** What a person changed, by the visit that was open then. */
  readonly edits: ReadonlyMap<
    string,
    readonly (EventOf<'variables.patched'> | EventOf<'message.appended'>)[]
  >;
  readonly answers: ReadonlyMap<string, EventOf<'question.answered'>>;
  readonly asked: ReadonlyMap<string, EventOf<'question.asked'>>;
  /** Of each effect, the intents that a probe, a person or a late worker has settled. */
  readonly settled: ReadonlyMap<string, ReadonlySet<Seq>>;
  readonly manualCheckpoints: number;
}

/** What a rewind left behind is not part of the record. `events` are ascending and begin before or at every `toSeq`. */
export function pathOf(events: readonly RunEvent[]): readonly RunEvent[] {
  const path: RunEvent[] = [];
  for (const event of events) {
    if (event.kind === 'run.rewound') {
      while ((path.at(-1)?.seq ?? 0) > event.toSeq) path.pop();
    }
    path.push(event);
  }
  return path;
}

/**
 * Reads the record from the effective path after the open visit's entry (or from the start of the run). `openVisit` is
 * the visit that was entered before it. `retry`: a failure that ended the run is tried again, where false (replay) the
 * newest one is a result like any other.
 */
export function recordOf(
  path: readonly RunEvent[],
  openVisit: string | undefined,
  options: { readonly retry: boolean },
): RecordedRun {
  const items = new Map<string, RecordItem>();
  const attempts = new Map<string, Started>();
  const edits = new Map<string, (EventOf<'variables.patched'> | EventOf<'message.appended'>)[]>();
  const answers = new Map<string, EventOf<'question.answered'>>();
  const asked = new Map<string, EventOf<'question.asked'>>();
  const settled = new Map<string, Set<Seq>>();
  let manualCheckpoints = 0;
  let unhandled: Readonly<Record<string, StepKey>> = {};
  let visit = openVisit ?? BEFORE_FIRST;
  const lastStop = path.findLastIndex((event) => event.kind === 'run.failed');
  const endsThere = !path
    .slice(lastStop + 1)
    .some((event) => event.by === 'worker' && addressOf(event) !== undefined);

  // Of what lies before the path, nothing answers a call that is on it.
  const onPath = new Set(path.map((event) => event.seq));

  path.forEach((event, index) => {
    unhandled = unhandledAfter(unhandled, event, ({ stepKey }) => stepKey);
    if (event.kind === 'effect.decided' || event.kind === 'effect.verified') {
      const { outcome, intentSeq } = event.kind === 'effect.decided' ? event.decision : event;
      if (outcome === 'happened' || outcome === 'did-not-happen')
        settled.set(event.stepKey, (settled.get(event.stepKey) ?? new Set()).add(intentSeq));
    }
    // No code asked for it: a person's edit, or its copy in the journal of a replay.
    if (
      (event.kind === 'variables.patched' || event.kind === 'message.appended') &&
      event.key === undefined
    ) {
      edits.set(visit, [...(edits.get(visit) ?? []), event]);
      return;
    }
    if (event.by === 'console') {
      if (event.kind === 'question.answered') answers.set(event.stepKey, event);
      return;
    }
    if (event.kind === 'question.asked') asked.set(event.stepKey, event);
    if (event.kind === 'checkpoint.saved' && event.trigger === 'manual') manualCheckpoints++;
    if (event.kind === 'state.entered') visit = event.key;
    if (event.kind === 'run.failed') {
      // Where a replay came to nothing is no end that code came to.
      const isOwn = event.cause !== 'no-record' && event.cause !== 'diverged';
      const isTheEnd = index === lastStop && endsThere && isOwn && !options.retry;
      if (isTheEnd) items.set(END, { key: END, event, asCall: true, asOutcome: false });
      else if (event.cause === 'error') dropWhatEndedTheRun(items, endedBy(unhandled, event.stepKey));
      return;
    }
    if (event.kind === 'step.started') attempts.set(event.stepKey, event);
    note(items, event, onPath);
  });

  // Every item lies where it was recorded: a call at its first event, an outcome at its newest one.
  const ordered = [...items.values()].sort((a, b) => a.event.seq - b.event.seq);
  const calls = new Map<string, CallEvent>();
  const outcomes = new Map<string, OutcomeEvent>();
  for (const item of ordered) {
    if (item.asCall) calls.set(item.key, item.event as CallEvent);
    if (item.asOutcome) outcomes.set(item.key, item.event as OutcomeEvent);
  }
  return { items: ordered, calls, outcomes, attempts, edits, answers, asked, settled, manualCheckpoints };
}

const callAt = (key: string) => `call ${key}`;
const outcomeAt = (key: string) => `outcome ${key}`;

function note(items: Map<string, RecordItem>, event: RunEvent, onPath: ReadonlySet<Seq>): void {
  const key = addressOf(event);
  if (key === undefined) return;
  const known = items.has(callAt(key));
  if (event.kind === 'step.reused' || event.kind === 'step.skipped') {
    const isOpen = known && !items.has(outcomeAt(key));
    if (known && !isOutcome(event, { isOpen, isInForce: (at) => onPath.has(at) })) return;
    if (!known) items.set(callAt(key), { key, event, asCall: true, asOutcome: false });
    items.set(outcomeAt(key), { key, event, asCall: false, asOutcome: true });
  } else if (event.kind === 'step.completed') {
    items.set(outcomeAt(key), { key, event, asCall: false, asOutcome: true });
  } else if (event.kind === 'step.failed') {
    if (event.final) items.set(outcomeAt(key), { key, event, asCall: false, asOutcome: true });
  } else if (!known) {
    items.set(callAt(key), { key, event: event as CallEvent, asCall: true, asOutcome: false });
  }
}

/**
 * A final failure after which its scope went on is a result. One after which nothing more was asked for in its scope,
 * nor in those above it, ended the run: it is tried again, and the ends of scopes that it caused are not the record's.
 * Of several that did, the one that the run names is tried again, else the last, as the plan says; the others answer as
 * recorded.
 */
function dropWhatEndedTheRun(items: Map<string, RecordItem>, culprit: StepKey | undefined): void {
  const failed = culprit === undefined ? undefined : items.get(outcomeAt(culprit));
  if (culprit === undefined || failed?.event.kind !== 'step.failed') return;
  const { seq } = failed.event;
  items.delete(outcomeAt(culprit));
  for (const { key, event, asCall } of [...items.values()]) {
    if (!asCall || event.seq < seq) continue;
    if (event.kind === 'scope.left' && within(scopeOf(culprit), event.scope)) items.delete(callAt(key));
  }
}

/** The address under which code asks for what the event records. */
function addressOf(event: RunEvent): string | undefined {
  switch (event.kind) {
    case 'step.started':
    case 'step.completed':
    case 'step.failed':
    case 'step.reused':
    case 'step.skipped':
      return event.stepKey;
    case 'variables.patched':
    case 'message.appended':
    case 'value.recorded':
    case 'state.entered':
      return event.key;
    case 'state.left':
      return leftKey(event.key);
    case 'scope.left':
      return leftKey(event.scope);
    case 'run.completed':
      return END;
    default:
      return undefined;
  }
}
