import type { ShareView } from '@/lib/usecases/list-shares';
import type { ShareRecord } from '@/lib/usecases/ports';
import type { SharedAnswer, ShareRow } from '@/lib/wire/v1/shares';
import { iso, orNull } from './common';

export const presentShare = ({ share, status }: ShareView): ShareRow => ({
  id: share.id,
  runId: share.runId,
  createdBy: share.createdBy,
  createdAt: iso(share.createdAt),
  expiresAt: iso(share.expiresAt),
  revokedAt: share.revoked === undefined ? null : iso(share.revoked.at),
  revokedBy: orNull(share.revoked?.by),
  status,
});

/** As its holder sees it. */
export const presentShared = ({ runId, createdBy, expiresAt }: ShareRecord): SharedAnswer => ({
  runId,
  sharedBy: createdBy,
  expiresAt: iso(expiresAt),
});
