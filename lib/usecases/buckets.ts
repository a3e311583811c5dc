import type { RunId } from '@/lib/core/events/ids';
import { fail, ok, type Result } from '@/lib/core/shared/result';
import type { UsecaseDeps } from './deps';
import type { Bucket } from './ports';
import { type NotFound, noRun } from './problems';

/** The journal cut into at most `n` even parts, counted. */
export async function buckets(
  deps: Pick<UsecaseDeps, 'store'>,
  ask: { readonly runId: RunId; readonly n: number },
): Promise<Result<readonly Bucket[], NotFound>> {
  if ((await deps.store.run(ask.runId)) === undefined) return fail(noRun(ask.runId));
  return ok(await deps.store.buckets(ask.runId, ask.n));
}
