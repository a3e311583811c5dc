import { type LeaseId, leaseId, type RunId, runId } from '@/lib/core/events/ids';
import type { IdSource } from './ports';

/** A lease's id names its run, so that a heartbeat finds it without an index: `lease_<random>.<run id, escaped>`. */
export const newLeaseId = (ids: IdSource, run: RunId): LeaseId =>
  leaseId(`${ids.next('lease')}.${encodeURIComponent(run)}`);

export function runOfLease(lease: LeaseId): RunId | undefined {
  const dot = lease.indexOf('.');
  if (dot === -1) return undefined;
  try {
    return runId(decodeURIComponent(lease.slice(dot + 1)));
  } catch {
    return undefined;
  }
}
