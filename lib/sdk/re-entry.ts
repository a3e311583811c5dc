import type { NewEvent } from '../core/events/run-event';
import { variableName } from '../core/projections/variables';
import { assertDefined } from '../core/shared/assert';
import { differenceOf } from './compare';
import { Stopped } from './errors';
import { inFormOf } from './journal-form';
import { found, outcomeIn } from './load-run';
import type { MachineLoop } from './machine-loop';
import { type Operation, type Outcome, recordedError } from './operation';
import { evaluate } from './pure';
import { type CallEvent, END, type OutcomeEvent } from './record';
import type { RecordedFold } from './recorded-fold';
import type { Arrival } from './release';
import type { ReplayJournal } from './replay-journal';
import type { RunHold } from './run-hold';
import type { RunStops } from './run-stops';
import type { SessionDeps } from './session-deps';
import { digest, type Stored } from './values';

/** What going through the record needs from the session. */
export interface ReEntryDeps {
  readonly session: SessionDeps;
  readonly hold: RunHold;
  readonly stops: RunStops;
  readonly machine: MachineLoop;
  readonly fold: RecordedFold;
  /** Calls made and not yet delivered. */
  readonly open: ReadonlySet<Operation>;
  readonly callOf: (key: string) => Operation | undefined;
  /** Set in a replay. */
  readonly replay: ReplayJournal | undefined;
  readonly kick: () => void;
  /** The record is out. True: the run went live. */
  readonly onOut: () => boolean;
  /** A call ended, and its value could not be recorded: nothing goes on from there. */
  readonly onNotRecorded: (op: Operation) => void;
}

/** A call that the record answered. */
export interface Answered {
  readonly op: Operation;
  readonly event: OutcomeEvent;
}

const isNotRecorded = (event: OutcomeEvent): boolean => event.kind === 'step.completed' && !event.recorded;

/** Goes through the record: every call is compared with it, every outcome given again in its recorded turn. */
export class ReEntry {
  /** In the order of the record. */
  readonly answered: Answered[] = [];
  private readonly deps: ReEntryDeps;
  private readonly matched = new Set<string>();
  private cursor = 0;
  /** Set once the code has ended: compares that with the recorded end. */
  private atEnd: (() => void) | undefined;
  private stuckSince: { readonly cursor: number; readonly at: number } | undefined;
  private lookAgain: (() => void) | undefined;

  constructor(deps: ReEntryDeps) {
    this.deps = deps;
  }

  /** The code came to the end that is recorded. */
  get cameToTheEnd(): boolean {
    return this.matched.has(END);
  }

  /** The run is live: nothing of this is asked for any more. */
  forget(): void {
    this.answered.length = 0;
    this.matched.clear();
  }

  /** Goes on up to the next recorded outcome. `undefined`: nothing to release now. */
  advance(): Arrival | 'gate' | undefined {
    try {
      return this.next();
    } catch (error) {
      if (!(error instanceof Stopped)) this.deps.hold.guard(() => this.deps.hold.bug(error));
      return undefined;
    }
  }

  /** A call that is answered later is made again. */
  match(op: Operation, record: CallEvent): void {
    const { stops, session } = this.deps;
    if (!('inputDigest' in record) || record.step !== op.step || record.name !== op.name) {
      stops.diverge({
        stepKey: op.key,
        what: 'kind',
        sentence: `${op.key} was recorded as another kind of call; the code now asks for ${op.step} ${op.name}`,
        asked: op.input,
      });
      return;
    }
    if (record.inputDigest !== op.inputDigest) {
      const { asked, sharesMessages } = inFormOf(record, op.input, session.loaded.conversation);
      stops.diverge({
        stepKey: op.key,
        what: 'input',
        sentence: `${op.key} is asked for with another input than recorded${sharesMessages ? '' : `, which began with the conversation’s first ${record.conversation === 1 ? 'message' : `${record.conversation} messages`}`}`,
        asked,
        ...(record.input === undefined ? {} : { recorded: record.input }),
      });
      return;
    }
    op.record = record;
    this.matched.add(op.key);
    const newest = session.loaded.record.attempts.get(op.key);
    if (newest !== undefined) {
      op.attempt = newest.attempt;
      op.intended = newest.intent !== undefined;
      op.generation = newest.intent?.generation ?? 1;
      op.idempotencyKey = newest.intent?.idempotencyKey;
      op.intentSeq = newest.intent === undefined ? undefined : newest.seq;
      op.settledByPerson = session.loaded.record.settled.get(op.key)?.has(newest.seq) === true;
    }
    if (op.effect === 'pure') this.recompute(op);
  }

  /** A call that answers at once is made again. Throws `Stopped` where it differs from its record. */
  matchSync(
    key: string,
    recorded: CallEvent,
    event: NewEvent,
    payloads: readonly Stored[],
    joined: boolean,
  ): void {
    const difference = differenceOf(key, recorded, event, payloads, this.deps.session.loaded.texts);
    const matches = () => {
      this.matched.add(key);
      this.deps.fold.apply(recorded);
      this.deps.replay?.called(recorded, event, payloads, joined);
    };
    if (key === END) {
      // The end is looked at in its turn: what is recorded before it and was not asked for is the first difference.
      this.atEnd = () => (difference === undefined ? matches() : this.deps.stops.diverge(difference));
    } else if (difference === undefined) {
      matches();
      if (recorded.kind === 'state.entered') this.applyEdits(recorded.key);
    } else {
      this.deps.stops.diverge(difference);
      throw new Stopped();
    }
    this.deps.kick();
  }

  /** What the console changed at the entry of a visit is part of what its code begins with. */
  applyEdits(visit: string): void {
    const { fold, replay, session } = this.deps;
    const { texts, record, view } = session.loaded;
    for (const edit of record.edits.get(visit) ?? []) {
      const payloads: Stored[] = [];
      if (edit.kind === 'message.appended') {
        const message = found(texts, edit.message);
        view.messages.push(message);
        payloads.push(message);
      } else {
        for (const { path, value } of edit.patch) {
          if (value === undefined) view.variables.delete(variableName(path));
          else {
            view.variables.set(variableName(path), found(texts, value));
            payloads.push(found(texts, value));
          }
        }
      }
      fold.apply(edit);
      replay?.edited(edit, payloads);
    }
  }

  /** Code has settled and does not ask for what is recorded next. It may still await something foreign, for a while. */
  stuckAt(key: string): void {
    const { session, stops, machine, open, kick } = this.deps;
    const { clock } = session;
    const { graceMs } = session.options;
    if (this.stuckSince?.cursor !== this.cursor) this.stuckSince = { cursor: this.cursor, at: clock.mono() };
    const left = graceMs - (clock.mono() - this.stuckSince.at);
    if (!machine.isOver && left >= 0) {
      // A timer may be early by its clock: it is asked for again until the time is over.
      this.lookAgain?.();
      this.lookAgain = clock.after(left + 1, kick);
      return;
    }
    const instead = [...open].filter((op) => op.record === undefined).map((op) => op.key);
    stops.diverge({
      stepKey: key,
      what: instead.length > 0 ? 'extra' : 'missing',
      sentence: `The code no longer asks for ${key}${instead.length > 0 ? `; it asks for ${instead.join(', ')}, which has no record` : ''}${machine.error === undefined ? '' : `; it failed: ${recordedError(machine.error).message}`}`,
    });
  }

  private next(): Arrival | 'gate' | undefined {
    const { session, callOf, replay, onOut } = this.deps;
    const { items } = session.loaded.record;
    for (;;) {
      const item = items[this.cursor];
      if (item === undefined) return onOut() ? 'gate' : undefined;
      if (item.key === END) this.atEnd?.();
      if (this.deps.hold.isStopped()) return undefined;
      if (item.asCall && !this.matched.has(item.key)) {
        this.stuckAt(item.key);
        return undefined;
      }
      this.cursor++;
      if (!item.asOutcome) continue;
      const op = callOf(item.key);
      if (op === undefined) continue;
      const event = item.event as OutcomeEvent;
      if (isNotRecorded(event)) {
        this.deps.onNotRecorded(op);
        return undefined;
      }
      this.answered.push({ op, event });
      const outcome = this.outcomeOf(event, op);
      replay?.answered(op, event, outcome);
      return { op, outcome };
    }
  }

  /** Pure steps run in every mode, and their results are compared with the record. */
  private recompute(op: Operation): void {
    const { session, stops, replay } = this.deps;
    const recorded = session.loaded.record.outcomes.get(op.key);
    if (recorded === undefined || isNotRecorded(recorded)) return;
    replay?.recomputing(op);
    const now = evaluate(op);
    const before = this.outcomeOf(recorded, op);
    const equal =
      now.ok && before.ok
        ? digest(now.value) === digest(before.value)
        : !now.ok && !before.ok && now.error.message === before.error.message;
    if (equal) return;
    if (now.ok) replay?.different(op, now.value);
    stops.diverge({
      stepKey: op.key,
      what: 'result',
      sentence: `${op.key} gives another result than recorded${now.ok ? '' : `: ${now.error.message}`}`,
      ...(before.ok ? { recorded: before.value.ref } : {}),
      ...(now.ok ? { asked: now.value } : {}),
    });
  }

  private outcomeOf(event: OutcomeEvent, op: Operation): Outcome {
    return assertDefined(
      outcomeIn(event, this.deps.session.loaded.texts),
      `${op.key} was recorded, or nothing would go on from there`,
    );
  }
}
