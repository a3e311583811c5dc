import { type Clock, settled } from '@/lib/sdk/clock';

const BEGIN = 1_700_000_000_000;

/** Seeded, virtual time for workers and a console in one process. Nothing waits for real time. */
export class SimClock implements Clock {
  /** The console's time; timers go by it. */
  private time = BEGIN;
  private wallAhead = 0;
  private monoAhead = 0;
  private timers: { readonly at: number; readonly n: number; readonly fn: () => void }[] = [];
  private count = 0;
  private activity = 0;
  private state: number;

  constructor(seed: number) {
    this.state = seed | 0;
  }

  now(): number {
    return this.time + this.wallAhead;
  }

  mono(): number {
    return this.time - BEGIN + this.monoAhead;
  }

  /** What the console's clock says, wherever the workers' were moved to. */
  atConsole(): number {
    return this.time;
  }

  /** So much time passes at once, and no timer runs meanwhile; by the workers' clocks as much, or what is said here. */
  skip(ms: number, by: { readonly wall?: number; readonly mono?: number } = {}): void {
    this.time += ms;
    this.wallAhead += (by.wall ?? ms) - ms;
    this.monoAhead += (by.mono ?? ms) - ms;
  }

  after(ms: number, fn: () => void): () => void {
    const timer = { at: this.time + Math.max(0, ms), n: this.count++, fn };
    this.activity++;
    this.timers.push(timer);
    return () => {
      this.timers = this.timers.filter((other) => other !== timer);
    };
  }

  turn(fn: () => void): void {
    this.activity++;
    setImmediate(fn);
  }

  settled(fn: () => void): void {
    settled(fn);
  }

  /** mulberry32 */
  random(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let t = this.state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  }

  int(low: number, high: number): number {
    return low + Math.floor(this.random() * (high - low + 1));
  }

  uuid(): string {
    return `u${this.int(0, 2 ** 31 - 1).toString(36)}${(this.count++).toString(36)}`;
  }

  delay(ms: number): Promise<void> {
    return new Promise((resolve) => this.after(ms, resolve));
  }

  /** Runs timers in order until `done`. False: nothing is left to happen, or `limit` timers have passed. */
  async run(done: () => boolean, limit = 20_000): Promise<boolean> {
    for (let i = 0; i < limit; i++) {
      await this.settle();
      if (done()) return true;
      const next = this.timers.reduce<(typeof this.timers)[number] | undefined>(
        (first, timer) =>
          first === undefined || timer.at < first.at || (timer.at === first.at && timer.n < first.n)
            ? timer
            : first,
        undefined,
      );
      if (next === undefined) return false;
      this.timers = this.timers.filter((timer) => timer !== next);
      this.time = Math.max(this.time, next.at);
      next.fn();
    }
    return false;
  }

  /** Waits until nothing is going on but what waits for time. */
  private async settle(): Promise<void> {
    for (let before = -1; before !== this.activity; ) {
      before = this.activity;
      for (let i = 0; i < 3; i++) await new Promise<void>((resolve) => setImmediate(resolve));
    }
  }
}
