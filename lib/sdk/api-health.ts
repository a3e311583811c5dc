import type { AttemptFailure, NewEvent } from '../core/events/run-event';

const TIMEOUTS = 3;

/** Three consecutive time-outs make an API unavailable; its next answer makes it well again. */
export class ApiHealth {
  private readonly tell: (event: NewEvent) => void;
  private readonly timeouts = new Map<string, number>();
  private readonly down = new Set<string>();

  constructor(tell: (event: NewEvent) => void) {
    this.tell = tell;
  }

  answered(api: string): void {
    this.timeouts.delete(api);
    if (this.down.delete(api)) this.tell({ kind: 'api.recovered', api });
  }

  failed(api: string, failure: AttemptFailure): void {
    if (failure !== 'timeout') {
      this.timeouts.delete(api);
      return;
    }
    const failures = (this.timeouts.get(api) ?? 0) + 1;
    this.timeouts.set(api, failures);
    if (failures < TIMEOUTS || this.down.has(api)) return;
    this.down.add(api);
    this.tell({ kind: 'api.unavailable', api, failures, failure });
  }
}
