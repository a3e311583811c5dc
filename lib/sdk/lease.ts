import type { Seq } from '../core/events/ids';
import type { RunEvent } from '../core/events/run-event';
import type { Clock } from './clock';
import type { Held, JournalPort } from './journal-port';

/** What keeping a lease needs from the hold that it is part of. */
export interface LeaseDeps {
  readonly port: JournalPort;
  readonly held: Held;
  readonly clock: Clock;
  /** When the claim was sent, on both clocks: the lease counts from there. */
  readonly sentAt: Instants;
  readonly seenSeq: () => Seq;
  readonly onOthers: (others: readonly RunEvent[]) => void;
  readonly onFenced: (why: string) => void;
}

/** One moment on the wall clock and on the monotonic one. */
export interface Instants {
  readonly wall: number;
  readonly mono: number;
}

/** Now, on both clocks. */
export const instants = (clock: Clock): Instants => ({ wall: clock.now(), mono: clock.mono() });

/** A beat at least this often, so that answers and orders for a held run are heard soon. */
const BEAT_MS = 1_000;

/**
 * A worker's hold on a run, kept by heartbeats. It ends `leaseMs` after the newest answered heartbeat was *sent*, by
 * either clock: a suspended machine stops the monotonic one, a set clock moves the other.
 */
export class HeldLease {
  private readonly deps: LeaseDeps;
  private until: Instants;
  private leaseMs: number;
  private readonly stopped = new AbortController();
  private cancelBeat: () => void = () => undefined;

  constructor(deps: LeaseDeps) {
    this.deps = deps;
    this.leaseMs = deps.held.leaseMs;
    this.until = { wall: deps.sentAt.wall + this.leaseMs, mono: deps.sentAt.mono + this.leaseMs };
    // A claim that waited long was sent long ago: what is left of the lease is known only by a beat.
    this.beatLater(deps.clock.mono() - deps.sentAt.mono > this.leaseMs / 3 ? 0 : undefined);
  }

  /** Length of the lease. */
  get length(): number {
    return this.leaseMs;
  }

  /** Last moment at which an effect may leave; `undefined` where that is past. */
  sendBy(): Instants | undefined {
    const margin = Math.min(2_000, this.leaseMs / 5);
    const sendBy = { wall: Math.floor(this.until.wall - margin), mono: this.until.mono - margin };
    return this.isPast(sendBy) ? undefined : sendBy;
  }

  /** Whether a moment is past by either clock. */
  isPast(moment: Instants): boolean {
    return this.deps.clock.now() >= moment.wall || this.deps.clock.mono() >= moment.mono;
  }

  stop(): void {
    this.cancelBeat();
    this.stopped.abort();
  }

  private beatLater(ms = Math.min(BEAT_MS, this.leaseMs / 3)): void {
    this.cancelBeat = this.deps.clock.after(ms, () => void this.beat());
  }

  private async beat(): Promise<void> {
    const { port, held, clock } = this.deps;
    const sent = instants(clock);
    const answer = await port
      .heartbeat(held, this.deps.seenSeq(), this.stopped.signal)
      .catch((error: unknown) => {
        // Refused for good: whatever holds the run, it is not this lease.
        if (!this.stopped.signal.aborted) this.deps.onFenced(String(error));
        return 'stopped' as const;
      });
    if (answer === 'stopped' || this.stopped.signal.aborted) return;
    if (answer === undefined) {
      this.deps.onFenced('another worker holds the run');
      return;
    }
    this.leaseMs = answer.leaseMs;
    this.until = { wall: sent.wall + answer.leaseMs, mono: sent.mono + answer.leaseMs };
    this.deps.onOthers(answer.others);
    if (!this.stopped.signal.aborted) this.beatLater();
  }
}

/** Keeps a lease alive while `work` runs; `onOthers` hears what the console says meanwhile, perhaps more than once. */
export async function keepLease<Value>(
  port: JournalPort,
  clock: Clock,
  held: Held,
  work: () => Promise<Value>,
  onOthers: (others: readonly RunEvent[]) => void = () => undefined,
): Promise<Value> {
  const lease = new HeldLease({
    port,
    held,
    clock,
    sentAt: instants(clock),
    seenSeq: () => held.headSeq,
    onOthers,
    onFenced: () => undefined,
  });
  try {
    return await work();
  } finally {
    lease.stop();
  }
}
