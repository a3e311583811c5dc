import type { EpochMs } from '@/lib/core/events/ids';
import type { WorkerOffer } from '@/lib/core/journal/lease';
import type { Store, WorkerRecord } from './ports';

/** A worker is written down again only after this long. */
const MARK_EVERY_MS = 2_000;
const marked = new WeakMap<Store, Map<string, WorkerRecord>>();

/** Notes that a worker was heard of, with what it offers. */
export async function markSeen(store: Store, offer: WorkerOffer): Promise<void> {
  const now = store.clock.now();
  const known = recordsOf(store);
  const before =
    known.get(offer.workerId) ??
    (await store.workers.list()).find(({ workerId }) => workerId === offer.workerId);
  const sameOffer = before !== undefined && JSON.stringify(before.agents) === JSON.stringify(offer.agents);
  if (sameOffer && known.has(offer.workerId) && now - before.seenAt < MARK_EVERY_MS) return;
  await write(store, {
    workerId: offer.workerId,
    agents: offer.agents,
    firstSeenAt: before?.firstSeenAt ?? now,
    seenAt: now,
  });
}

/** Notes that a worker which offered itself before was heard of again (a heartbeat). */
export async function markHeard(store: Store, workerId: WorkerRecord['workerId']): Promise<void> {
  const before = recordsOf(store).get(workerId);
  const now: EpochMs = store.clock.now();
  if (before !== undefined && now - before.seenAt >= MARK_EVERY_MS)
    await write(store, { ...before, seenAt: now });
}

function recordsOf(store: Store): Map<string, WorkerRecord> {
  const known = marked.get(store) ?? new Map<string, WorkerRecord>();
  marked.set(store, known);
  return known;
}

async function write(store: Store, record: WorkerRecord): Promise<void> {
  recordsOf(store).set(record.workerId, record);
  await store.workers.seen(record);
}
