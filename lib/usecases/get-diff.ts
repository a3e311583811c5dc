import type { RunId, Seq, Sha256 } from '@/lib/core/events/ids';
import type { PayloadRef } from '@/lib/core/events/payload';
import { diffStates, type StateChange } from '@/lib/core/projections/diff';
import type { RunState } from '@/lib/core/projections/records';
import { ok, type Result } from '@/lib/core/shared/result';
import type { UsecaseDeps } from './deps';
import { ofOneEdition } from './one-edition';
import { jsonOf } from './payload-of';
import type { NotFound } from './problems';
import { clampToHead, stateAt } from './state-at';

/** Larger variables are compared as wholes: the reader opens them side by side. */
export const LARGEST_COMPARED_BYTES = 256 * 1024;

/** What differs between the states at two seqs. */
export async function getDiff(
  deps: Pick<UsecaseDeps, 'store'>,
  ask: { readonly runId: RunId; readonly from: Seq; readonly to: Seq | undefined },
): Promise<
  Result<{ readonly from: Seq; readonly to: Seq; readonly changes: readonly StateChange[] }, NotFound>
> {
  return ofOneEdition(deps, ask.runId, async (run) => {
    const [left, right] = await Promise.all([
      stateAt(deps, run, clampToHead(run, ask.from)),
      stateAt(deps, run, clampToHead(run, ask.to)),
    ]);
    const values = await deps.store.payloads.many(differing(left.state, right.state));
    const changes = diffStates(left.state, right.state, (ref) => jsonOf(ref, values.get(ref.sha256)));
    return ok({ from: left.state.seq, to: right.state.seq, changes });
  });
}

/** Payloads that stand on one side only; equal ones need no look inside. */
function differing(left: RunState, right: RunState): readonly Sha256[] {
  const names = new Set([...Object.keys(left.variables), ...Object.keys(right.variables)]);
  const digests = new Set<Sha256>();
  for (const name of names) {
    const [a, b] = [own(left, name), own(right, name)];
    if (a === undefined || b === undefined || a.sha256 === b.sha256) continue;
    if (a.bytes > LARGEST_COMPARED_BYTES || b.bytes > LARGEST_COMPARED_BYTES) continue;
    digests.add(a.sha256).add(b.sha256);
  }
  return [...digests];
}

const own = (state: RunState, name: string): PayloadRef | undefined =>
  Object.hasOwn(state.variables, name) ? state.variables[name] : undefined;
