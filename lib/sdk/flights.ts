import type { Operation } from './operation';

/** Effects that have left and are neither answered nor timed out. */
export class Flights {
  private readonly out = new Set<Operation>();
  private waiting: (() => void)[] = [];

  get size(): number {
    return this.out.size;
  }

  add(op: Operation): void {
    this.out.add(op);
  }

  delete(op: Operation): void {
    this.out.delete(op);
    if (this.out.size > 0) return;
    for (const resolve of this.waiting.splice(0)) resolve();
  }

  /** Resolves once none is out. */
  async landed(): Promise<void> {
    while (this.out.size > 0) await new Promise<void>((resolve) => this.waiting.push(resolve));
  }
}
