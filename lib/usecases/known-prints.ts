import type { RunId, Seq } from '@/lib/core/events/ids';
import { seq } from '@/lib/core/events/ids';
import type { RunRecord } from '@/lib/core/projections/records';
import { joinedPrints, type Prints, printsOf } from './assemble-parts';
import type { UsecaseDeps } from './deps';
import { pace } from './pace';
import { eventPages } from './state-at';

/* Prints of the journals that are growing by parts, so that the journal need not be read for each of them. */

interface Known {
  readonly headSeq: Seq;
  readonly edition: number;
  readonly prints: Prints;
}

/** 16 bytes for an event. */
const MOST_BYTES = 32 * 1024 * 1024;

const known = new WeakMap<object, Map<RunId, Known>>();

/** The newest come last; the oldest make room. */
export function rememberPrints(store: object, id: RunId, of: Known): void {
  const runs = known.get(store) ?? new Map<RunId, Known>();
  known.set(store, runs);
  runs.delete(id);
  runs.set(id, of);
  let bytes = 0;
  for (const { prints } of runs.values()) bytes += prints.byteLength;
  for (const [oldest, { prints }] of runs) {
    if (bytes <= MOST_BYTES) return;
    runs.delete(oldest);
    bytes -= prints.byteLength;
  }
}

export function forgetPrints(store: object, id: RunId): void {
  known.get(store)?.delete(id);
}

/** Prints of the stored journal; `undefined` where it is not any more as the record says. In turns of the loop. */
export async function printsOfRun(
  { store, hash }: Pick<UsecaseDeps, 'store' | 'hash'>,
  { runId, headSeq, edition }: RunRecord,
): Promise<Prints | undefined> {
  const before = known.get(store)?.get(runId);
  if (before?.headSeq === headSeq && before.edition === edition) return before.prints;
  const parts: Prints[] = [];
  const turn = pace();
  let read = 0;
  for await (const page of eventPages(store, runId, seq(0), headSeq)) {
    parts.push(printsOf(page, hash));
    read += page.length;
    await turn();
  }
  const isWhole = read === headSeq && (await store.edition(runId)) === edition;
  return isWhole ? joinedPrints(parts) : undefined;
}
