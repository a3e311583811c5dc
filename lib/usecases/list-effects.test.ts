import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Seq } from '@/lib/core/events/ids';
import type { RunEvent } from '@/lib/core/events/run-event';
import { ledgerChanges, ledgerOf, putInLedger } from '@/lib/core/projections/ledger';
import { emptyState, foldRun } from '@/lib/core/projections/run-state';
import { storeOfLineage } from '@/lib/testing/lineage-store';
import { arbitraryLineage } from '@/lib/testing/random-journal';
import { listEffects } from './list-effects';

/** Every event folded from the first, with the state before it: what the quick way must agree with. */
function ledgerFolded(events: readonly RunEvent[], at: number) {
  const ledger = ledgerOf([]);
  const seen: RunEvent[] = [];
  for (const event of events.slice(0, at)) {
    const before = seen.length === 0 ? emptyState('random-agent') : foldRun(seen, emptyState('random-agent'));
    for (const row of ledgerChanges(ledger, events[0]?.runId as never, event, before))
      putInLedger(ledger, row);
    seen.push(event);
  }
  return [...ledger.values()].flat();
}

it('the ledger before the head is what folding the journal up to there gives, at every seq of a random run', async () => {
  await fc.assert(
    fc.asyncProperty(arbitraryLineage(120), fc.nat(0xffff), async (lineage, pick) => {
      const store = await storeOfLineage(lineage);
      const { run, events } = lineage.of();
      const at = (pick % run.headSeq) as Seq;
      const found = await listEffects({ store }, { runId: run.runId, at });
      const expected = ledgerFolded(events, at);
      const key = (row: { readonly stepKey: string; readonly generation: number }) =>
        `${row.stepKey} ${row.generation}`;
      const byKey = <Row extends Parameters<typeof key>[0]>(rows: readonly Row[]) =>
        [...rows].sort((a, b) => (key(a) < key(b) ? -1 : 1));
      expect(found.ok && byKey(found.value)).toEqual(byKey(expected));
    }),
    { numRuns: 60 },
  );
});
