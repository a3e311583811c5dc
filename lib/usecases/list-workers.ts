import type { EpochMs, RunId } from '@/lib/core/events/ids';
import { liveLease } from '@/lib/core/journal/lease';
import { ok, type Result } from '@/lib/core/shared/result';
import type { UsecaseDeps } from './deps';
import type { WorkerRecord } from './ports';

export interface WorkerView {
  readonly worker: WorkerRecord;
  readonly live: boolean;
  /** Runs that it holds now. */
  readonly runs: readonly RunId[];
}

/** A worker is live while it was heard of within two lease lengths, at least this long: it marks itself every 2 s. */
const LEAST_LIVE_MS = 10_000;

export const isLive = (worker: WorkerRecord, now: EpochMs, leaseMs: number): boolean =>
  now - worker.seenAt <= Math.max(LEAST_LIVE_MS, 2 * leaseMs);

/** Workers heard of, newest first. */
export async function listWorkers(
  deps: Pick<UsecaseDeps, 'store' | 'leaseMs' | 'judgedFrom'>,
): Promise<Result<readonly WorkerView[], never>> {
  const now = deps.store.clock.now();
  const held = await deps.store.heldRuns();
  const views = (await deps.store.workers.list()).map((worker) => ({
    worker,
    live: isLive(worker, now, deps.leaseMs),
    runs: held.flatMap((run) =>
      liveLease(run, now, deps.judgedFrom)?.workerId === worker.workerId ? [run.runId] : [],
    ),
  }));
  return ok(views.sort((a, b) => b.worker.seenAt - a.worker.seenAt));
}
