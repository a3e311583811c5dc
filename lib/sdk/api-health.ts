import type { AttemptFailure, NewEvent } from '../core/events/run-event';

const TIMEOUTS = 3;

/** Three consecutive time-outs make an API unavailable; its next answer, be it a refusal, makes it well again. */
export class ApiHealth {
  private readonly tell: (event: NewEvent) => void;
  private readonly timeouts = new Map<string, number>();
  private readonly down: Set<string>;

  /** `down`: APIs that the run's state has as unavailable. */
  constructor(down: readonly string[], tell: (event: NewEvent) => void) {
    this.down = new Set(down);
    this.tell = tell;
  }

  /** How an attempt ended. */
  ended(api: string, how: 'completed' | AttemptFailure): void {
    if (how === 'timeout') {
      this.timedOut(api);
      return;
    }
    this.timeouts.delete(api);
    if ((how === 'completed' || how === 'rejected') && this.down.delete(api))
      this.tell({ kind: 'api.recovered', api });
  }

  private timedOut(api: string): void {
    const failures = (this.timeouts.get(api) ?? 0) + 1;
    this.timeouts.set(api, failures);
    if (failures < TIMEOUTS || this.down.has(api)) return;
    this.down.add(api);
    this.tell({ kind: 'api.unavailable', api, failures, failure: 'timeout' });
  }
}
