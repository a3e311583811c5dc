import type { RunId } from '@/lib/core/events/ids';
import type { AppendAnswer } from '@/lib/core/journal/append-batch';
import { ok, type Result } from '@/lib/core/shared/result';
import { type AppendEventsAsk, type AppendEventsProblem, appendEvents } from './append-events';
import type { UsecaseDeps } from './deps';

export interface AppendedOne {
  readonly runId: RunId;
  readonly result: Result<AppendAnswer, AppendEventsProblem>;
}

/**
 * Batches of several runs, each answered for itself, in the order asked. Runs are handed to the store together, which
 * puts what waits at the same time into one commit; batches of one run follow each other.
 */
export async function appendMany(
  deps: Pick<UsecaseDeps, 'store' | 'hash'>,
  ask: { readonly batches: readonly AppendEventsAsk[] },
): Promise<Result<readonly AppendedOne[], never>> {
  const last = new Map<RunId, Promise<unknown>>();
  const answers = ask.batches.map((batch) => {
    const before = last.get(batch.runId);
    const result =
      before === undefined ? appendEvents(deps, batch) : before.then(() => appendEvents(deps, batch));
    last.set(batch.runId, result);
    return result.then((answer) => ({ runId: batch.runId, result: answer }));
  });
  return ok(await Promise.all(answers));
}
