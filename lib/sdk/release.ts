import type { Clock } from './clock';
import { deliver, type Operation, type Outcome } from './operation';
import type { Scope } from './scope';

/** A call's outcome on its way to the code. */
export interface Arrival {
  readonly op: Operation;
  readonly outcome: Outcome;
}

/** What releasing needs from the session. */
export interface ReleaserDeps {
  readonly clock: Clock;
  /** Calls made and not yet delivered. */
  readonly open: ReadonlySet<Operation>;
  /** Nothing may be released any more. */
  readonly isStopped: () => boolean;
  /** Outcomes are recorded, but none is released: the run is being paused or handed over. */
  readonly isHalted: () => boolean;
  readonly isLive: () => boolean;
  /** Re-entry: goes on in the record up to its next outcome. `undefined`: nothing to release now. */
  readonly advance: () => Arrival | 'gate' | undefined;
  readonly onReleased: (op: Operation, outcome: Outcome) => void;
  /** Nothing is left to release. */
  readonly onIdle: () => void;
}

/**
 * Gives outcomes to code: in journal order, one in a macrotask turn, so that what code does with one is over before
 * the next. Live and re-entry share this loop. While an external call is open nothing is released to its scope nor to
 * the scopes above it; its outcome goes before those that it held back.
 */
export class Releaser {
  private readonly deps: ReleaserDeps;
  /** Recorded, in journal order (live). */
  private readonly inbox: Arrival[] = [];
  /** Lined up for release. */
  private readonly due: Arrival[] = [];
  private pumping = false;
  /** Counts releases; the code of one release runs in one window. */
  window = 0;
  /** The call whose outcome opened the current window. */
  cause: Operation | undefined;
  /** True while the code that runs was set off by a release. */
  inWindow = true;

  constructor(deps: ReleaserDeps) {
    this.deps = deps;
  }

  /** An outcome was recorded. */
  arrived(arrival: Arrival): void {
    this.inbox.push(arrival);
    this.kick();
  }

  /** The code begins: what it does first is set off by no release. */
  begin(): void {
    this.inWindow = true;
    this.endWindow();
    this.kick();
  }

  /** The window ends when the code has settled, before a timer could set it off again. */
  private endWindow(): void {
    const { window } = this;
    this.deps.clock.settled(() => {
      if (this.window === window) this.inWindow = false;
    });
  }

  kick(): void {
    if (this.pumping) return;
    this.pumping = true;
    this.deps.clock.turn(this.turn);
  }

  private readonly turn = (): void => {
    if (!this.deps.isStopped() && !this.deps.isHalted() && this.releaseOne()) {
      this.deps.clock.turn(this.turn);
      return;
    }
    this.pumping = false;
    if (!this.deps.isStopped()) this.deps.onIdle();
  };

  private releaseOne(): boolean {
    for (;;) {
      const index = this.due.findIndex(({ op }) => !this.isHeld(op.scope));
      const next = index < 0 ? undefined : this.due.splice(index, 1)[0];
      if (next !== undefined) {
        this.release(next);
        return true;
      }
      if (this.deps.isLive()) {
        const arrival = this.inbox.shift();
        if (arrival === undefined) return false;
        this.lineUp(arrival);
        continue;
      }
      const step = this.deps.advance();
      if (step === undefined || this.deps.isStopped()) return false;
      // The code settles once more before what the gate let begin is looked at.
      if (step === 'gate') return true;
      this.lineUp(step);
    }
  }

  private lineUp(arrival: Arrival): void {
    arrival.op.open = false;
    arrival.op.arrived = true;
    // An external outcome goes before those that it held back, behind external ones that came earlier.
    const at =
      arrival.op.effect === 'external'
        ? this.due.findLastIndex(({ op }) => op.effect === 'external') + 1
        : this.due.length;
    this.due.splice(at, 0, arrival);
  }

  /** An external call is open in the scope or below it: nothing is given to its code until that has an outcome. */
  isHeld(scope: Scope): boolean {
    for (const op of this.deps.open) {
      if (op.open && op.effect === 'external' && op.scope.within(scope)) return true;
    }
    return false;
  }

  private release({ op, outcome }: Arrival): void {
    this.window++;
    this.cause = op;
    this.inWindow = true;
    if (!op.scope.over) deliver(op, outcome);
    this.deps.onReleased(op, outcome);
    this.endWindow();
  }
}
