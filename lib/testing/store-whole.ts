import { expect } from 'vitest';
import { runId, seq } from '@/lib/core/events/ids';
import { assertDefined } from '@/lib/core/shared/assert';
import { openStore } from '@/lib/stores/prisma/open-store';

/**
 * What `store-child` wrote, as a killed one left it: every row of every run that it had acknowledged (the head that it
 * said, by run) belongs to the same commit.
 */
export async function expectWhole(url: string, acknowledged: ReadonlyMap<string, number>): Promise<void> {
  const store = await openStore({ url });
  for (const [id, head] of acknowledged) {
    const run = assertDefined(await store.run(runId(id)), 'an acknowledged run is there');
    expect(run.headSeq).toBeGreaterThanOrEqual(head);
    expect(run.state.seq).toBe(run.headSeq);
    const events = await store.events(runId(id), { limit: 1_000_000 });
    expect(events.map((event) => event.seq)).toEqual(Array.from({ length: run.headSeq }, (_, i) => i + 1));
    const refs = events.flatMap((event) => (event.kind === 'message.appended' ? [event.message.sha256] : []));
    expect(await store.payloads.missing(refs)).toEqual([]);
    expect((await store.steps(runId(id))).length).toBe(run.headSeq);
    const page = await store.runs({ filter: { q: id }, sort: 'created', descending: true, limit: 2 });
    expect(page.items.map((one) => one.headSeq)).toContain(run.headSeq);
    expect((await store.snapshot(runId(id), seq(2 ** 31 - 1)))?.seq).toBe(run.headSeq);
    expect(await store.ledgerVersion(runId(id))).toBe(run.lastBatch);
    expect(await store.effects(runId(id))).toHaveLength(run.lastBatch);
  }
  await store.close();
}

/** Takes up what a child of `store-child` acknowledged. */
export function noteAcknowledged(lines: readonly string[], acknowledged: Map<string, number>): void {
  for (const line of lines) {
    const [word, run, head] = line.split(' ');
    if (word === 'ack' && run !== undefined)
      acknowledged.set(run, Math.max(acknowledged.get(run) ?? 0, Number(head)));
  }
}
