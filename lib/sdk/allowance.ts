import type { PlanToCheck } from './journal-port';
import type { Operation } from './operation';

type Limits = PlanToCheck['envelope']['limits'];

/** What an order may do beyond its record. Another order has an allowance of its own. */
export class Allowance {
  private readonly limits: Limits;
  private steps = 0;
  private costMicroUsd = 0;

  constructor(limits: Limits) {
    this.limits = limits;
  }

  /** Counts a call that is about to begin; where it is beyond the limits, why, as a sentence without its full stop. */
  begins({ key, work }: Operation): string | undefined {
    const { steps, costMicroUsd } = this.limits;
    if (steps != null && this.steps >= steps)
      return `The plan allowed ${steps === 1 ? 'one step' : `${steps} steps`} beyond its record, and ${key} would be one more; resuming allows as many again`;
    // Nothing but a model tells what it costs.
    if (costMicroUsd != null && work.kind === 'llm' && this.costMicroUsd >= costMicroUsd)
      return `The plan allowed a cost of ${dollars(costMicroUsd)}, and ${dollars(this.costMicroUsd)} was spent before ${key}; resuming allows as much again`;
    this.steps++;
    return undefined;
  }

  spent(costMicroUsd: number): void {
    this.costMicroUsd += costMicroUsd;
  }
}

const dollars = (microUsd: number): string => `$${microUsd / 1_000_000}`;
