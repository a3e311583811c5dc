import type { EpochMs, RunId } from '@/lib/core/events/ids';
import { fail, ok, type Result } from '@/lib/core/shared/result';
import type { UsecaseDeps } from './deps';
import type { ShareRecord } from './ports';
import { type NotFound, noRun } from './problems';

export type ShareStatus = 'open' | 'expired' | 'revoked';

export const shareStatus = ({ expiresAt, revoked }: ShareRecord, now: EpochMs): ShareStatus =>
  revoked !== undefined ? 'revoked' : expiresAt <= now ? 'expired' : 'open';

export interface ShareView {
  readonly share: ShareRecord;
  readonly status: ShareStatus;
}

/** Every link of a run, newest first. */
export async function listShares(
  { store }: Pick<UsecaseDeps, 'store'>,
  ask: { readonly runId: RunId },
): Promise<Result<readonly ShareView[], NotFound>> {
  if ((await store.run(ask.runId)) === undefined) return fail(noRun(ask.runId));
  const now = store.clock.now();
  return ok((await store.shares.of(ask.runId)).map((share) => ({ share, status: shareStatus(share, now) })));
}
