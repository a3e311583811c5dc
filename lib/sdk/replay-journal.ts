import type { NewEvent } from '../core/events/run-event';
import { callFields, type Operation, type Outcome } from './operation';
import type { CallEvent, OutcomeEvent, RecordedRun } from './record';
import type { RunHold } from './run-hold';
import type { SessionDeps } from './session-deps';
import type { Stored } from './values';

type Edit = NonNullable<ReturnType<RecordedRun['edits']['get']>>[number];

/** Writes a replay's own journal: what the record answered, what ran again, and how it compares. */
export class ReplayJournal {
  private readonly session: SessionDeps;
  private readonly hold: RunHold;

  constructor(session: SessionDeps, hold: RunHold) {
    this.session = session;
    this.hold = hold;
  }

  /** A call that answers at once was compared with its record and is equal. */
  called(recorded: CallEvent, event: NewEvent, payloads: readonly Stored[], joined: boolean): void {
    this.hold.push({
      event:
        recorded.kind === 'value.recorded' && event.kind === 'value.recorded'
          ? { ...event, value: recorded.value }
          : event,
      payloads,
      joined,
    });
  }

  /** What a person had edited in the record's run. */
  edited(edit: Edit, payloads: readonly Stored[]): void {
    this.hold.push({
      event:
        edit.kind === 'message.appended'
          ? { kind: 'message.appended', role: edit.role, message: edit.message }
          : { kind: 'variables.patched', patch: edit.patch },
      payloads,
    });
  }

  /** A pure step runs again. */
  recomputing(op: Operation): void {
    this.hold.push({ event: { kind: 'step.started', ...callFields(op), attempt: 1 }, payloads: [op.input] });
  }

  /** A pure step gave another value than recorded. */
  different(op: Operation, value: Stored): void {
    this.hold.push({
      event: {
        kind: 'step.completed',
        stepKey: op.key,
        attempt: 1,
        recorded: true,
        result: value.ref,
        verdict: 'different',
      },
      payloads: [value],
    });
  }

  /** The record answers a call; a pure one was found equal before. */
  answered(op: Operation, event: OutcomeEvent, outcome: Outcome): void {
    if (op.effect === 'pure') this.recomputed(op, outcome);
    else this.fromRecord(op, event, outcome);
  }

  /** There is no record to go on with, before the run's own end. */
  noRecord(message: string): void {
    this.hold.push({
      event: { kind: 'run.failed', cause: 'no-record', error: { type: 'NoRecord', message } },
    });
  }

  private recomputed(op: Operation, outcome: Outcome): void {
    const of = { stepKey: op.key, attempt: 1 } as const;
    this.hold.push(
      outcome.ok
        ? {
            event: {
              kind: 'step.completed',
              ...of,
              recorded: true,
              result: outcome.value.ref,
              verdict: 'equal',
            },
            payloads: [outcome.value],
          }
        : {
            event: {
              kind: 'step.failed',
              ...of,
              failure: outcome.failure,
              error: outcome.error,
              final: true,
            },
          },
    );
  }

  private fromRecord(op: Operation, event: OutcomeEvent, outcome: Outcome): void {
    const { replayOf } = this.session;
    const from = {
      ...callFields(op),
      ...(replayOf === undefined ? {} : { sourceRunId: replayOf }),
      sourceSeq: event.seq,
    };
    if (!outcome.ok) {
      this.hold.push({
        event: { kind: 'step.reused', ...from, failure: outcome.failure, error: outcome.error },
        payloads: [op.input],
      });
      return;
    }
    const receipt = 'receipt' in event && event.receipt !== undefined ? { receipt: event.receipt } : {};
    this.hold.push({
      event:
        op.effect === 'external'
          ? { kind: 'step.skipped', ...from, result: outcome.value.ref, ...receipt }
          : { kind: 'step.reused', ...from, result: outcome.value.ref },
      payloads: [op.input, outcome.value],
    });
  }
}
