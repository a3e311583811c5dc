import type { CommandId } from '../core/events/ids';
import type { NewEvent, RunEvent } from '../core/events/run-event';
import { Stopped } from './errors';
import { JournalForm } from './journal-form';
import { type Draft, JournalWriter } from './journal-writer';
import { HeldLease } from './lease';
import { recordedError } from './operation';
import type { SessionDeps, SessionEnd } from './session-deps';
import { bounded } from './texts';

/** What a hold tells its session. */
export interface HoldDeps {
  readonly session: SessionDeps;
  /** The order that the run was claimed for has ended by going live. */
  readonly isLive: () => boolean;
  readonly onOthers: (others: readonly RunEvent[]) => void;
  readonly onEffectExists: (refused: NewEvent) => void;
  /** The last events are on their way: what only asks is not waited for any more. */
  readonly onEnding: () => void;
  /** The run is not this worker's to write any more, however that came. */
  readonly onOver: () => void;
}

/** This process's hold on one run: the journal's writing end and the lease, from the claim until both are given back. */
export class RunHold {
  readonly lease: HeldLease;
  /** Resolves when this process has nothing more to do with the run. */
  readonly ended: Promise<SessionEnd>;

  private readonly deps: HoldDeps;
  private readonly form: JournalForm;
  private readonly writer: JournalWriter;
  private readonly abort = new AbortController();
  private resolveEnded: (end: SessionEnd) => void = () => undefined;
  /** Resolves when this process is to wait for nothing more of the run. */
  readonly abandoned: Promise<void>;
  private resolveAbandoned: () => void = () => undefined;
  /** A test killed this worker: nothing more happens, not even evidence. */
  private dead = false;
  /** The run is no longer this worker's. */
  private over = false;
  /** The last events are being written. */
  private ending = false;
  /** The journal refused a batch, and was told so as the run's end. */
  private isRefused = false;
  /** `ended` is resolved. */
  private settled = false;

  constructor(deps: HoldDeps) {
    this.deps = deps;
    this.ended = new Promise((resolve) => {
      this.resolveEnded = resolve;
    });
    this.abandoned = new Promise((resolve) => {
      this.resolveAbandoned = resolve;
    });
    const { port, clock, held, sentAt, options, loaded, replayOf } = deps.session;
    // A replay writes its journal from the first message on.
    this.form = new JournalForm(replayOf === undefined ? loaded.conversation : []);
    const onFenced = (why: string) => this.fenced(why);
    this.writer = new JournalWriter({
      port,
      held,
      clock,
      batchSize: options.batchSize,
      point: (name) => this.quietPoint(name),
      onOthers: (others) => this.guard(() => deps.onOthers(others)),
      onFenced,
      onRefused: (why) => this.refused(why),
      onEffectExists: (event) => this.guard(() => deps.onEffectExists(event)),
    });
    this.lease = new HeldLease({
      port,
      held,
      clock,
      sentAt,
      seenSeq: () => this.writer.seenSeq,
      onOthers: (others) => this.writer.sawOthers(others),
      onFenced,
    });
  }

  /** Aborted when the session ends, whatever the end. */
  get signal(): AbortSignal {
    return this.abort.signal;
  }

  /** Nothing may be done for this run here any more. */
  isStopped(): boolean {
    return this.dead || this.over || this.ending;
  }

  /** The run is no longer this worker's to write: an answer that comes now is evidence. */
  isOver(): boolean {
    return this.over && !this.dead;
  }

  /** A test killed this worker. */
  isDead(): boolean {
    return this.dead;
  }

  /** Runs `fn`; swallows the unwinding of a stopped run, and takes anything else as a bug. */
  guard(fn: () => void): void {
    if (this.dead) return;
    try {
      fn();
    } catch (error) {
      if (!(error instanceof Stopped)) this.bug(error);
    }
  }

  /** Work that nobody waits for: where it fails, that is a bug, unless the run is given up here by then. */
  background(work: Promise<unknown>): void {
    work.catch((error: unknown) => {
      if (!this.isStopped()) this.guard(() => this.bug(error));
    });
  }

  /** Passes a named kill point; throws `Stopped` where a test killed the worker there. */
  point(name: string): void {
    this.quietPoint(name);
    if (this.dead) throw new Stopped();
  }

  /** Nothing comes behind the last events. */
  push(draft: Draft): void {
    if (!this.isStopped()) this.writer.push(this.form.of(draft));
  }

  /** What the console appended since the claim, heard before the session began. */
  heard(others: readonly RunEvent[]): void {
    this.writer.sawOthers(others);
  }

  durable(): Promise<void> {
    return this.writer.durable();
  }

  /** Writes what is left and gives the run back. */
  finish(outcome: Exclude<SessionEnd, 'stopped'>): void {
    if (this.ending || this.over) return;
    this.end();
    this.giveBack(outcome).catch((error: unknown) => this.abandon(String(error)));
  }

  /**
   * Leaves the run as it is: nothing more is written, and the lease lapses by itself. What was not recorded is not lost
   * to the run: an effect's intent was durable before it left, all else is computed again.
   */
  abandon(why: string): void {
    this.resolveAbandoned();
    if (this.settled || this.dead) return;
    this.deps.session.options.warn(`${this.deps.session.held.runId}: left without being given back: ${why}`);
    this.isOverNow(new Stopped(why));
    this.settle('stopped');
  }

  /** Another epoch holds the run, or it was cancelled: nothing more is written. */
  fenced(why: string): void {
    if (this.over || this.dead) return;
    this.isOverNow(new Stopped(why));
    this.settle('stopped');
  }

  /**
   * The journal takes a batch for no reason that the rules know. What was written so far stands, and the run's end, with
   * the reason, takes the place of the rest: left open it would be taken up again and be refused again.
   */
  private refused(why: string): void {
    if (this.over || this.dead) return;
    const { held, options, claim } = this.deps.session;
    options.warn(`${held.runId}: ${why}`);
    if (this.isRefused) {
      this.fenced(why);
      return;
    }
    this.isRefused = true;
    const error = { type: 'JournalRefused', message: bounded(why) };
    const order = claim?.plan === undefined ? undefined : (claim.command?.commandId as CommandId | undefined);
    this.writer.insteadOfAll([
      { event: { kind: 'run.failed', cause: 'error', error } },
      ...(order === undefined || this.deps.isLive()
        ? []
        : [
            {
              event: {
                kind: 'command.ended' as const,
                commandId: order,
                outcome: 'refused' as const,
                detail: error.message,
              },
            },
          ]),
    ]);
    if (!this.ending) this.end();
    this.giveBack('done').catch((thrown: unknown) => this.abandon(String(thrown)));
  }

  private end(): void {
    this.ending = true;
    this.abort.abort();
    this.deps.onEnding();
  }

  private isOverNow(reason?: Stopped): void {
    this.over = true;
    this.writer.stop();
    this.lease.stop();
    this.abort.abort(reason);
    this.deps.onOver();
  }

  /** For tests that drop a worker: as if its process had died here. */
  kill(): void {
    this.dead = true;
    this.writer.stop();
    this.lease.stop();
  }

  /** An error that no rule accounts for: loud, and the run fails. */
  bug(error: unknown): void {
    const { held, options } = this.deps.session;
    const recorded = recordedError(error, true);
    options.warn(`${held.runId}: ${recorded.stack ?? recorded.message}`);
    if (this.isStopped()) return;
    this.push({ event: { kind: 'run.failed', cause: 'error', error: recorded } });
    this.finish('done');
  }

  private async giveBack(outcome: Exclude<SessionEnd, 'stopped'>): Promise<void> {
    await this.writer.durable();
    if (this.over || this.dead) return;
    this.writer.stop();
    this.lease.stop();
    await this.deps.session.port.release(this.deps.session.held, outcome);
    if (this.over || this.dead) return;
    this.isOverNow();
    this.settle(outcome);
  }

  private settle(end: SessionEnd): void {
    this.settled = true;
    this.resolveEnded(end);
  }

  private quietPoint(name: string): void {
    if (!this.dead) this.deps.session.options.onPoint?.(name);
  }
}
