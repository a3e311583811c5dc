import { type CommandId, epochMs } from '../core/events/ids';
import type { WaitingOn } from '../core/events/run-event';
import type { Difference } from './compare';
import { isEffect, type Operation } from './operation';
import type { RunHold } from './run-hold';
import type { SessionDeps } from './session-deps';

/** Why nothing new begins. */
export type Halt =
  /** The console appends `run.cancelled` when the run is given back. */
  | { readonly kind: 'cancel' }
  | { readonly kind: 'pause'; readonly commandId?: CommandId }
  /** `commandId`: of a pause that was asked for meanwhile. */
  | { readonly kind: 'before'; readonly what: string; readonly commandId?: CommandId }
  | { readonly kind: 'hand-over' };

/** What stopping needs from the session. */
export interface StopsDeps {
  readonly session: SessionDeps;
  readonly hold: RunHold;
  /** Calls made and not yet delivered. */
  readonly open: ReadonlySet<Operation>;
  readonly isLive: () => boolean;
  /** Looks again whether anything can be released, and with it whether the run is idle. */
  readonly kick: () => void;
}

/** How a run comes to rest here before its end: waiting, paused, handed over, diverged, refused. */
export class RunStops {
  private readonly deps: StopsDeps;
  private halt: Halt | undefined;
  private parked = false;

  constructor(deps: StopsDeps) {
    this.deps = deps;
  }

  isHalted(): boolean {
    return this.halt !== undefined;
  }

  /** The order that this claim carries out; an answer's command has ended already. */
  get orderId(): CommandId | undefined {
    const { command, plan } = this.deps.session.claim ?? {};
    return plan === undefined ? undefined : (command?.commandId as CommandId | undefined);
  }

  /** Hand-over and cancelling: open reads are abandoned, effects in flight awaited. */
  stopSoon(halt: Extract<Halt, { readonly kind: 'hand-over' | 'cancel' }>): void {
    if (this.deps.hold.isStopped() || this.halt?.kind === 'hand-over') return;
    this.halt = halt;
    for (const op of this.deps.open) {
      if (isEffect(op)) continue;
      op.running = false;
      op.abort?.abort();
    }
    this.deps.kick();
  }

  /** Comes to rest once what is under way has ended. */
  pauseSoon(halt: Extract<Halt, { readonly kind: 'pause' | 'before' }>): void {
    const { halt: first } = this;
    // A pause that comes while the run stops by itself is carried out with that stop.
    this.halt =
      first?.kind === 'before' && halt.commandId !== undefined
        ? { ...first, commandId: halt.commandId }
        : (first ?? halt);
    this.deps.kick();
  }

  /** Outside what the plan said may run: stops and asks. */
  stopBefore(what: string): void {
    this.pauseSoon({ kind: 'before', what });
  }

  /** An outcome came in, or something is under way again: the run no longer waits. */
  unpark(): void {
    this.parked = false;
  }

  /** Nothing is left to release: the run may be halted or waiting by now. */
  idle(): void {
    if (this.deps.hold.isStopped()) return;
    if (this.halt !== undefined) {
      this.haltNow(this.halt);
      return;
    }
    if (!this.deps.isLive() || this.parked) return;
    const on = this.waitingOn();
    if (on.length > 0) this.park(on);
  }

  /** What every open call waits for; nothing where one of them is under way. */
  private waitingOn(): readonly WaitingOn[] {
    const on: WaitingOn[] = [];
    for (const op of this.deps.open) {
      if (op.scope.over || op.arrived) continue;
      if (op.suspended === undefined || op.running || op.probes > 0) return [];
      const until = op.work.kind === 'human' ? op.work.question.until : undefined;
      on.push({
        stepKey: op.key,
        for: op.suspended,
        ...(until === undefined ? {} : { until: epochMs(until) }),
      });
    }
    return on;
  }

  /** Code and record differ: the run stops there, before anything is live. */
  diverge(difference: Difference): void {
    const { hold } = this.deps;
    if (hold.isStopped()) return;
    const { asked, recorded } = difference;
    hold.push({
      event: {
        kind: 'divergence.found',
        stepKey: difference.stepKey,
        what: difference.what,
        sentence: difference.sentence,
        ...(recorded === undefined ? {} : { recorded }),
        ...(asked === undefined ? {} : { asked: asked.ref }),
      },
      ...(asked === undefined ? {} : { payloads: [asked] }),
    });
    hold.push({
      event: {
        kind: 'run.failed',
        cause: 'diverged',
        error: { type: 'Diverged', message: difference.sentence },
      },
    });
    this.endOrder('refused', difference.sentence);
    hold.finish('done');
  }

  /** The order cannot be carried out as it was shown. Nothing has gone live. */
  refuse(detail: string): void {
    const { hold } = this.deps;
    this.endOrder('refused', detail);
    hold.push({ event: { kind: 'run.paused', before: `plan: ${detail}` } });
    hold.finish('paused');
  }

  private endOrder(outcome: 'refused' | 'withdrawn', detail: string): void {
    const commandId = this.orderId;
    if (commandId !== undefined)
      this.deps.hold.push({ event: { kind: 'command.ended', commandId, outcome, detail } });
  }

  /** Every open call waits for a person or for another run: the lease is given back. */
  private park(on: readonly WaitingOn[]): void {
    const { hold } = this.deps;
    this.parked = true;
    hold.push({ event: { kind: 'run.waiting', on } });
    void hold.durable().then(() =>
      hold.guard(() => {
        // What the console said with its answer may have set something going.
        if (!this.parked || hold.isStopped() || this.halt !== undefined) return;
        if (this.waitingOn().length > 0) hold.finish('waiting');
        else this.parked = false;
      }),
    );
  }

  private haltNow(halt: Halt): void {
    const { hold } = this.deps;
    for (const op of this.deps.open) {
      if (op.running && op.suspended === undefined && !op.scope.over) return;
    }
    if (halt.kind === 'hand-over') {
      hold.finish('hand-over');
      return;
    }
    if (!this.deps.isLive()) this.endOrder('withdrawn', `A ${halt.kind} came before anything of it ran.`);
    if (halt.kind === 'cancel') {
      hold.finish('done');
      return;
    }
    hold.push({ event: { kind: 'run.paused', ...(halt.kind === 'before' ? { before: halt.what } : {}) } });
    const { commandId } = halt;
    if (commandId !== undefined) hold.push({ event: { kind: 'command.ended', commandId, outcome: 'done' } });
    hold.finish('paused');
  }
}
