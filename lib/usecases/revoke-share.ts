import { assertDefined } from '@/lib/core/shared/assert';
import { fail, ok, type Result } from '@/lib/core/shared/result';
import type { UsecaseDeps } from './deps';
import { type ShareView, shareStatus } from './list-shares';
import { noteAudit } from './note-audit';
import type { NotFound } from './problems';

export type NotYours = { readonly kind: 'not-yours'; readonly detail: string };

/** Ends a link, from its next read on. Again: nothing changes. `anyones`: other people's too. */
export async function revokeShare(
  deps: Pick<UsecaseDeps, 'store' | 'actor'>,
  ask: { readonly shareId: string; readonly anyones: boolean },
): Promise<Result<ShareView, NotFound | NotYours>> {
  const { shares, clock } = deps.store;
  const share = await shares.get(ask.shareId);
  if (share === undefined) return fail({ kind: 'not-found', detail: `There is no link ${ask.shareId}.` });
  if (!ask.anyones && share.createdBy !== deps.actor)
    return fail({
      kind: 'not-yours',
      detail: `${share.createdBy} made this link: that person, or somebody with the role admin, ends it.`,
    });
  const now = clock.now();
  if (await shares.revoke(share.id, deps.actor, now))
    await noteAudit(deps, {
      action: 'link-revoked',
      runId: share.runId,
      detail: `${share.id}, made by ${share.createdBy}.`,
    });
  const ended = assertDefined(await shares.get(share.id), 'a link stays known');
  return ok({ share: ended, status: shareStatus(ended, now) });
}
