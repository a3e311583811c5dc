import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type RunId, seq } from '@/lib/core/events/ids';
import { presentGraph } from '@/lib/server/present/state';
import { storeOfLineage } from '@/lib/testing/lineage-store';
import { arbitraryLineage } from '@/lib/testing/random-journal';
import { getGraph } from '@/lib/usecases/get-graph';
import { withLists } from './to-graph';

it('a moment’s part of the head’s visits and checkpoints is what it has by itself but for the time in what is open, as long as nothing was rewound', async () => {
  let compared = 0;
  await fc.assert(
    fc.asyncProperty(arbitraryLineage(100), async (lineage) => {
      const { run } = lineage.of();
      fc.pre(run.state.rewinds.length === 0);
      const store = await storeOfLineage(lineage);
      const graph = async (runId: RunId, at: number, lists: boolean) => {
        const found = await getGraph({ store }, { runId, at: seq(at), lists });
        if (!found.ok) throw new Error('the run is not there');
        return presentGraph(found.value);
      };
      const head = await graph(run.runId, run.headSeq, true);
      for (let at = 1; at <= run.headSeq; at += 1) {
        const own = await graph(run.runId, at, true);
        const visits = own.visits.map((visit) =>
          visit.leftSeq === null && at !== run.headSeq ? { ...visit, ms: null } : visit,
        );
        expect(withLists(await graph(run.runId, at, false), head)).toEqual({ ...own, visits });
        compared += 1;
      }
    }),
    { numRuns: 25 },
  );
  expect(compared).toBeGreaterThan(200);
});
