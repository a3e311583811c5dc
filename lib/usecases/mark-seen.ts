import type { EpochMs } from '@/lib/core/events/ids';
import type { WorkerOffer } from '@/lib/core/journal/lease';
import type { Store, WorkerRecord } from './ports';

/** A worker is written down again only after this long. */
const MARK_EVERY_MS = 2_000;
const MOST_KNOWN = 10_000;
const marked = new WeakMap<Store, Map<string, WorkerRecord>>();

/** Notes that a worker was heard of, with what it offers. */
export async function markSeen(store: Store, { workerId, agents }: WorkerOffer): Promise<void> {
  const now = store.clock.now();
  const before = recordsOf(store).get(workerId);
  const sameOffer = before !== undefined && JSON.stringify(before.agents) === JSON.stringify(agents);
  if (sameOffer && now - before.seenAt < MARK_EVERY_MS) return;
  await write(store, { workerId, agents, firstSeenAt: before?.firstSeenAt ?? now, seenAt: now });
}

/** Notes that a worker which offered itself before, to whichever console, was heard of again (a heartbeat). */
export async function markHeard(store: Store, workerId: WorkerRecord['workerId']): Promise<void> {
  const before = recordsOf(store).get(workerId) ?? (await store.workers.get(workerId));
  const now: EpochMs = store.clock.now();
  if (before !== undefined && now - before.seenAt >= MARK_EVERY_MS)
    await write(store, { ...before, seenAt: now });
}

function recordsOf(store: Store): Map<string, WorkerRecord> {
  const known = marked.get(store) ?? new Map<string, WorkerRecord>();
  marked.set(store, known);
  return known;
}

/** The one written least lately makes room: it is read again where it is heard of. */
async function write(store: Store, record: WorkerRecord): Promise<void> {
  const known = recordsOf(store);
  known.delete(record.workerId);
  known.set(record.workerId, record);
  const [oldest] = known.keys();
  if (known.size > MOST_KNOWN && oldest !== undefined) known.delete(oldest);
  await store.workers.seen(record);
}
