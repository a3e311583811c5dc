import type { EpochMs } from '../events/ids';
import type { Lease } from '../projections/records';

/**
 * True where the lease's time is over by the store's clock. Nothing lapses within one lease length of `judgedFrom`,
 * the console's start: while it was down nobody could have prolonged it.
 */
export function lapsed(lease: Lease, now: EpochMs, judgedFrom?: EpochMs): boolean {
  if (judgedFrom !== undefined && now < judgedFrom + lease.leaseMs) return false;
  return lease.expiresAt <= now;
}
