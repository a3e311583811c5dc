import type { RunId } from '@/lib/core/events/ids';
import { ok, type Result } from '@/lib/core/shared/result';
import type { UsecaseDeps } from './deps';
import { ofOneEdition } from './one-edition';
import type { Bucket } from './ports';
import type { NotFound } from './problems';

/** The journal cut into at most `n` even parts, counted. */
export async function buckets(
  deps: Pick<UsecaseDeps, 'store'>,
  ask: { readonly runId: RunId; readonly n: number },
): Promise<Result<readonly Bucket[], NotFound>> {
  return ofOneEdition(deps, ask.runId, async () => {
    return ok(await deps.store.buckets(ask.runId, ask.n));
  });
}
