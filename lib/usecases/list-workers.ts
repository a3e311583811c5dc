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

const liveSince = (now: EpochMs, leaseMs: number): EpochMs =>
  (now - Math.max(LEAST_LIVE_MS, 2 * leaseMs)) as EpochMs;

/** Workers that are live at `now`, heard of most lately first. */
export const liveWorkers = (
  deps: Pick<UsecaseDeps, 'store' | 'leaseMs'>,
  now: EpochMs,
): Promise<readonly WorkerRecord[]> => deps.store.workers.list(liveSince(now, deps.leaseMs));

/** Workers heard of in the last 30 days, newest first. */
export async function listWorkers(
  deps: Pick<UsecaseDeps, 'store' | 'leaseMs' | 'judgedFrom'>,
): Promise<Result<readonly WorkerView[], never>> {
  const now = deps.store.clock.now();
  const held = await deps.store.heldRuns();
  const views = (await deps.store.workers.list()).map((worker) => ({
    worker,
    live: worker.seenAt >= liveSince(now, deps.leaseMs),
    runs: held.flatMap((run) =>
      liveLease(run, now, deps.judgedFrom)?.workerId === worker.workerId ? [run.runId] : [],
    ),
  }));
  return ok(views);
}
