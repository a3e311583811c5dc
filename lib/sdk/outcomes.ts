import type { Allowance } from './allowance';
import type { Checkpoints } from './checkpoints';
import { NotRecordable } from './errors';
import type { FailureExtras, LateAnswer, ResultExtras } from './hub';
import type { JournalPort } from './journal-port';
import type { Draft } from './journal-writer';
import { type Attempt, type Operation, type Outcome, recordedError } from './operation';
import type { RunHold } from './run-hold';
import type { SessionDeps } from './session-deps';
import { type Stored, store } from './values';

type Evidence = Omit<Parameters<JournalPort['evidence']>[1], 'epoch' | 'intentSeq'>;
/** What an attempt answered, and the call that it belongs to. */
interface Word {
  readonly op: Operation;
  readonly evidence: Evidence;
}

/** What recording outcomes needs from the session. */
export interface OutcomesDeps {
  readonly session: SessionDeps;
  readonly hold: RunHold;
  readonly checkpoints: Checkpoints;
  readonly allowance: Allowance;
  /** Lines a recorded outcome up for release. */
  readonly onArrived: (op: Operation, outcome: Outcome) => void;
}

/** Records how calls end. What an effect's outcome says is not lost where another epoch holds the run by then. */
export class Outcomes {
  private readonly deps: OutcomesDeps;
  /** Outcomes of effects that are not durable yet. */
  private readonly unplaced = new Map<Attempt, Word>();
  /** Evidence on its way. */
  private readonly telling = new Set<Promise<void>>();
  private toldSoFar = 0;

  constructor(deps: OutcomesDeps) {
    this.deps = deps;
  }

  /** A value that is yet to be encoded; where it cannot be, the run fails as `not-recorded`. */
  completeWith(op: Operation, value: unknown, extras: ResultExtras, attempt?: Attempt): void {
    let stored: Stored;
    try {
      stored = store(value, `the result of ${op.key}`);
    } catch (error) {
      if (!(error instanceof NotRecordable)) throw error;
      this.notRecorded(op, error, extras, attempt);
      return;
    }
    this.complete(op, stored, extras, attempt);
  }

  /** `attempt`: the effect's that answered; none where the ledger or a person did. */
  complete(op: Operation, value: Stored, extras: ResultExtras, attempt?: Attempt): void {
    if (this.deps.hold.isStopped() || op.arrived || op.scope.over) return;
    const placed = this.keepUntilPlaced(op, attempt, happened(extras, value));
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
    this.deps.allowance.spent(extras.usage?.costMicroUsd ?? 0);
    this.settle(op, { ok: true, value });
    this.deps.checkpoints.stepEnded();
  }

  fail(
    op: Operation,
    outcome: Extract<Outcome, { readonly ok: false }>,
    { partial, attempt }: FailureExtras = {},
  ): void {
    if (this.deps.hold.isStopped() || op.arrived || op.scope.over) return;
    const placed = this.keepUntilPlaced(op, attempt, { outcome: 'did-not-happen' });
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
  notRecorded(op: Operation, problem: NotRecordable, extras: ResultExtras, attempt?: Attempt): void {
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
      ...this.keepUntilPlaced(op, attempt, happened(extras)),
    });
    hold.push({
      event: { kind: 'run.failed', cause: 'not-recorded', error: recordedError(problem), stepKey: op.key },
    });
    hold.finish('done');
  }

  /** What an effect's attempt answered, where that is not its call's outcome here. */
  evidence(op: Operation, attempt: Attempt, answer: LateAnswer): void {
    if (this.deps.hold.isDead()) return;
    let result: Stored | undefined;
    try {
      result = answer.outcome === 'happened' ? store(answer.result, `the result of ${op.key}`) : undefined;
    } catch {
      result = undefined; // It happened all the same; the person who decides is asked for the result.
    }
    const evidence = {
      outcome: answer.outcome,
      ...(result === undefined ? {} : { result }),
      ...(answer.receipt === undefined ? {} : { receipt: answer.receipt }),
    };
    const { hold } = this.deps;
    // While the last events are being written it waits for them.
    if (hold.isStopped() && !hold.isOver()) this.unplaced.set(attempt, { op, evidence });
    else this.tell(attempt, { op, evidence });
  }

  /** The run is not this worker's any more: outcomes that did not become durable are told as evidence. */
  tellUnplaced(): void {
    for (const [attempt, word] of this.unplaced) this.tell(attempt, word);
    this.unplaced.clear();
  }

  /** Resolves once every piece of evidence was taken or refused, with how many that are so far. */
  async told(): Promise<number> {
    while (this.telling.size > 0) await Promise.all(this.telling);
    return this.toldSoFar;
  }

  private tell({ intentSeq }: Attempt, { op, evidence }: Word): void {
    const { port, held, options } = this.deps.session;
    const sent = port
      .evidence(held.runId, { epoch: held.epoch, intentSeq, ...evidence })
      .catch((error: unknown) => {
        options.warn(`evidence on ${op.key} was not taken: ${String(error)}`);
      })
      .finally(() => {
        this.telling.delete(sent);
        this.toldSoFar++;
      });
    this.telling.add(sent);
  }

  /** An effect's outcome that is on its way to the journal: should another epoch hold the run, it is evidence. */
  private keepUntilPlaced(
    op: Operation,
    attempt: Attempt | undefined,
    evidence: Evidence,
  ): Pick<Draft, 'onPlaced'> {
    if (attempt === undefined) return {};
    this.unplaced.set(attempt, { op, evidence });
    const { hold } = this.deps;
    return {
      onPlaced: () => {
        this.unplaced.delete(attempt);
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
