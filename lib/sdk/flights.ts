import type { Attempt } from './operation';

/** Sends that have left and are neither answered nor timed out. */
export class Flights {
  private readonly out = new Set<Attempt>();
  private waiting: (() => void)[] = [];

  get size(): number {
    return this.out.size;
  }

  add(attempt: Attempt): void {
    this.out.add(attempt);
  }

  delete(attempt: Attempt): void {
    this.out.delete(attempt);
    if (this.out.size > 0) return;
    for (const resolve of this.waiting.splice(0)) resolve();
  }

  /** Resolves once none is out. */
  async landed(): Promise<void> {
    while (this.out.size > 0) await new Promise<void>((resolve) => this.waiting.push(resolve));
  }
}
