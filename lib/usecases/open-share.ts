import { fail, ok, type Result } from '@/lib/core/shared/result';
import type { UsecaseDeps } from './deps';
import { shareStatus } from './list-shares';
import type { ShareRecord } from './ports';

/** Why a link opens nothing. What it was of is not told. */
export type ShutShare =
  | { readonly kind: 'no-such-link' }
  | { readonly kind: 'link-expired' }
  | { readonly kind: 'link-revoked' };

/** The link that this secret is of. It is found by the secret's digest, so that no time tells how near a guess was. */
export async function openShare(
  deps: Pick<UsecaseDeps, 'store' | 'hash'>,
  secret: string,
): Promise<Result<ShareRecord, ShutShare>> {
  const share = await deps.store.shares.bySecret(deps.hash(secret));
  if (share === undefined) return fail({ kind: 'no-such-link' });
  const status = shareStatus(share, deps.store.clock.now());
  return status === 'open' ? ok(share) : fail({ kind: `link-${status}` });
}
