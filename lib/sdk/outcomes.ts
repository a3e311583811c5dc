import type { Checkpoints } from './checkpoints';
import { NotRecordable } from './errors';
import type { ResultExtras } from './hub';
import type { JournalPort } from './journal-port';
import type { Draft } from './journal-writer';
import { isEffect, type Operation, type Outcome, recordedError } from './operation';
import type { RunHold } from './run-hold';
import type { SessionDeps } from './session-deps';
import { type Stored, store } from './values';

type Evidence = Omit<Parameters<JournalPort['evidence']>[1], 'epoch' | 'intentSeq'>;

/** What recording outcomes needs from the session. */
export interface OutcomesDeps {
  readonly session: SessionDeps;
  readonly hold: RunHold;
  readonly checkpoints: Checkpoints;
  /** Lines a recorded outcome up for release. */
  readonly onArrived: (op: Operation, outcome: Outcome) => void;
}

/** Records how calls end. What an effect's outcome says is not lost where another epoch holds the run by then. */
export class Outcomes {
  private readonly deps: OutcomesDeps;
  /** Outcomes of effects that are not durable yet. */
  private readonly unplaced = new Map<Operation, Evidence>();
  /** Evidence on its way. */
  private readonly telling = new Set<Promise<void>>();

  constructor(deps: OutcomesDeps) {
    this.deps = deps;
  }

  /** A value that is yet to be encoded; where it cannot be, the run fails as `not-recorded`. */
  completeWith(op: Operation, value: unknown, extras: ResultExtras): void {
    let stored: Stored;
    try {
      stored = store(value, `the result of ${op.key}`);
    } catch (error) {
      if (!(error instanceof NotRecordable)) throw error;
      this.notRecorded(op, error, extras);
      return;
    }
    this.complete(op, stored, extras);
  }

  complete(op: Operation, value: Stored, extras: ResultExtras): void {
    if (this.deps.hold.isStopped() || op.arrived || op.scope.over) return;
    const placed = isEffect(op) ? this.keepUntilPlaced(op, happened(extras, value)) : {};
    this.deps.hold.push({
      event: {
        kind: 'step.completed',
        stepKey: op.key,
        attempt: Math.max(1, op.attempt),
        recorded: true,
        result: value.ref,
        ...extras,
      },
      payloads: [value],
      ...placed,
    });
    this.settle(op, { ok: true, value });
    this.deps.checkpoints.stepEnded();
  }

  fail(op: Operation, outcome: Extract<Outcome, { readonly ok: false }>, partial?: Stored): void {
    if (this.deps.hold.isStopped() || op.arrived || op.scope.over) return;
    const placed =
      isEffect(op) && !op.doubtful ? this.keepUntilPlaced(op, { outcome: 'did-not-happen' }) : {};
    this.deps.hold.push({
      event: {
        kind: 'step.failed',
        stepKey: op.key,
        attempt: Math.max(1, op.attempt),
        failure: outcome.failure,
        error: outcome.error,
        final: true,
        ...(partial === undefined ? {} : { partial: partial.ref }),
      },
      ...(partial === undefined ? {} : { payloads: [partial] }),
      ...placed,
    });
    this.settle(op, outcome);
    this.deps.checkpoints.stepEnded();
  }

  /** The outcome is recorded already. */
  settle(op: Operation, outcome: Outcome): void {
    if (this.deps.hold.isStopped() || op.arrived) return;
    op.arrived = true;
    op.running = false;
    op.suspended = undefined;
    this.deps.onArrived(op, outcome);
  }

  /** Ran, but its value cannot be recorded: loud, with the path, and nothing goes on from there. */
  notRecorded(op: Operation, problem: NotRecordable, extras: ResultExtras): void {
    const { hold } = this.deps;
    if (hold.isStopped() || op.arrived) return;
    op.arrived = true;
    hold.push({
      event: {
        kind: 'step.completed',
        stepKey: op.key,
        attempt: Math.max(1, op.attempt),
        recorded: false,
        problem: problem.message,
        ...extras,
      },
      ...(isEffect(op) ? this.keepUntilPlaced(op, happened(extras)) : {}),
    });
    hold.push({
      event: { kind: 'run.failed', cause: 'not-recorded', error: recordedError(problem), stepKey: op.key },
    });
    hold.finish('done');
  }

  /** An effect's answer that came when nothing could be recorded any more. */
  evidence(
    op: Operation,
    answer: {
      readonly outcome: 'happened' | 'did-not-happen';
      readonly result?: unknown;
      readonly receipt?: string;
    },
  ): void {
    if (this.deps.hold.isDead() || op.arrived || op.intentSeq === undefined) return;
    op.arrived = true;
    let result: Stored | undefined;
    try {
      result = answer.outcome === 'happened' ? store(answer.result, `the result of ${op.key}`) : undefined;
    } catch {
      result = undefined; // It happened all the same; the person who decides is asked for the result.
    }
    this.tell(op, {
      outcome: answer.outcome,
      ...(result === undefined ? {} : { result }),
      ...(answer.receipt === undefined ? {} : { receipt: answer.receipt }),
    });
  }

  /** The run is not this worker's any more: outcomes that did not become durable are told as evidence. */
  tellUnplaced(): void {
    for (const [op, told] of this.unplaced) this.tell(op, told);
    this.unplaced.clear();
  }

  /** Resolves once every piece of evidence was taken or refused. */
  async told(): Promise<void> {
    while (this.telling.size > 0) await Promise.all(this.telling);
  }

  private tell(op: Operation, told: Evidence): void {
    const { port, held, options } = this.deps.session;
    if (op.intentSeq === undefined) return;
    if (!this.deps.hold.isOver()) {
      // The last events are being written: it is told once they are.
      this.unplaced.set(op, told);
      return;
    }
    const sent = port
      .evidence(held.runId, { epoch: held.epoch, intentSeq: op.intentSeq, ...told })
      .catch((error: unknown) => {
        options.warn(`evidence on ${op.key} was not taken: ${String(error)}`);
      })
      .finally(() => this.telling.delete(sent));
    this.telling.add(sent);
  }

  /** An effect's outcome that is on its way to the journal: should another epoch hold the run, it is evidence. */
  private keepUntilPlaced(op: Operation, told: Evidence): Pick<Draft, 'onPlaced'> {
    // What the ledger answered was not learnt by this worker.
    if (op.tries === 0) return {};
    this.unplaced.set(op, told);
    const { hold } = this.deps;
    return {
      onPlaced: () => {
        this.unplaced.delete(op);
        hold.guard(() => hold.point('effect:recorded'));
      },
    };
  }
}

const happened = ({ receipt }: ResultExtras, result?: Stored): Evidence => ({
  outcome: 'happened',
  ...(result === undefined ? {} : { result }),
  ...(receipt === undefined ? {} : { receipt }),
});
