import { type EpochMs, epochMs, type RunId } from '@/lib/core/events/ids';
import { fail, ok, type Result } from '@/lib/core/shared/result';
import type { UsecaseDeps } from './deps';
import { noteAudit } from './note-audit';
import type { ShareRecord } from './ports';
import { type NotFound, noRun } from './problems';

const DAY_MS = 24 * 60 * 60 * 1_000;
export const USUAL_MS = 7 * DAY_MS;
export const LONGEST_MS = 90 * DAY_MS;

export type BadExpiry = { readonly kind: 'bad-expiry'; readonly detail: string };

/** Makes a link to one run. `secret` is what whoever has the link shows; only its digest is kept. */
export async function makeShare(
  deps: Pick<UsecaseDeps, 'store' | 'ids' | 'hash' | 'actor'>,
  ask: {
    readonly runId: RunId;
    readonly secret: string;
    /** Absent: seven days from now. */
    readonly until?: { readonly inMs: number } | { readonly at: EpochMs };
  },
): Promise<Result<ShareRecord, NotFound | BadExpiry>> {
  if ((await deps.store.run(ask.runId)) === undefined) return fail(noRun(ask.runId));
  const createdAt = deps.store.clock.now();
  const until = ask.until ?? { inMs: USUAL_MS };
  const expiresAt = epochMs('at' in until ? until.at : createdAt + until.inMs);
  if (expiresAt <= createdAt)
    return fail({ kind: 'bad-expiry', detail: 'A link must expire later than now.' });
  if (expiresAt > createdAt + LONGEST_MS)
    return fail({ kind: 'bad-expiry', detail: `A link lasts at most ${LONGEST_MS / DAY_MS} days.` });
  const share = {
    id: deps.ids.next('link'),
    runId: ask.runId,
    createdBy: deps.actor,
    createdAt,
    expiresAt,
  };
  await deps.store.shares.add(share, deps.hash(ask.secret));
  await noteAudit(deps, {
    action: 'link-made',
    runId: ask.runId,
    detail: `${share.id}, until ${new Date(expiresAt).toISOString()}.`,
  });
  return ok(share);
}
