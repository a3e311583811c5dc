import { type RunId, type Seq, type Sha256, seq } from '@/lib/core/events/ids';
import { payloadRefsOf } from '@/lib/core/events/payload-refs';
import type { UsecaseDeps } from './deps';
import { eventPages } from './state-at';

interface Known {
  readonly edition: number;
  readonly digests: Set<Sha256>;
  /** Up to which event they were looked through. */
  upTo: Seq;
}

/** Runs whose references are kept; the one that was asked for longest ago goes. */
const MOST_RUNS = 8;
const known = new WeakMap<object, Map<RunId, Known>>();

/** Whether an event of the run refers to this payload. The journal is looked through once, and then what was added. */
export async function refersTo(
  { store }: Pick<UsecaseDeps, 'store'>,
  runId: RunId,
  digest: Sha256,
): Promise<boolean> {
  const run = await store.run(runId);
  if (run === undefined) return false;
  const runs = known.get(store) ?? new Map<RunId, Known>();
  known.set(store, runs);
  const before = runs.get(runId);
  // An assembled journal may have been made anew.
  const refs =
    before !== undefined && before.edition === run.edition && before.upTo <= run.headSeq
      ? before
      : { edition: run.edition, digests: new Set<Sha256>(), upTo: seq(0) };
  runs.delete(runId);
  runs.set(runId, refs);
  for (const oldest of runs.keys()) {
    if (runs.size <= MOST_RUNS) break;
    runs.delete(oldest);
  }
  const from = refs.upTo;
  for await (const page of eventPages(store, runId, from, run.headSeq)) {
    for (const event of page) for (const { sha256 } of payloadRefsOf(event)) refs.digests.add(sha256);
  }
  refs.upTo = run.headSeq;
  return refs.digests.has(digest);
}
