import { afterEach, beforeEach } from 'vitest';
import { type EpochMs, epochMs } from '@/lib/core/events/ids';
import { assertDefined } from '@/lib/core/shared/assert';
import { ApiClient } from './api-client';
import { memoryStore } from './memory-store';
import { startTestConsole, type TestConsole } from './test-console';

/** Length of its leases: what has to pass for a worker to be lost. */
export const LEASE_MS = 60_000;

export interface ClockedConsole {
  /** Speaks to the console of the test that runs. */
  readonly api: ApiClient;
  readonly console: () => TestConsole;
  readonly now: () => EpochMs;
  readonly pass: (ms: number) => void;
}

/** A console for each test, on an empty memory store whose clock begins with 2026 and moves only by `pass`. */
export function clockedConsole(): ClockedConsole {
  let at: EpochMs;
  let running: TestConsole | undefined;
  const api = new ApiClient('');
  const now = () => at;
  beforeEach(async () => {
    at = epochMs(Date.UTC(2026, 0, 1));
    running = await startTestConsole({ store: memoryStore({ now }), leaseMs: LEASE_MS });
    Object.assign(api, { url: running.url });
  });
  afterEach(() => running?.close());
  return {
    api,
    console: () => assertDefined(running, 'a console runs while a test does'),
    now,
    pass: (ms) => {
      at = epochMs(at + ms);
    },
  };
}
