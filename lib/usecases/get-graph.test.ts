import fc from 'fast-check';
import { expect, it } from 'vitest';
import { seq } from '@/lib/core/events/ids';
import { storeOfLineage } from '@/lib/testing/lineage-store';
import { arbitraryLineage, testMachine } from '@/lib/testing/random-journal';
import { getGraph } from './get-graph';

it('without its lists a graph is what it is with them, at every seq of a random run, declared or not', async () => {
  let compared = 0;
  let rewound = 0;
  await fc.assert(
    fc.asyncProperty(arbitraryLineage(120), fc.boolean(), async (lineage, declared) => {
      const store = await storeOfLineage(lineage);
      const { run } = lineage.of();
      const digest = run.state.machineDigest;
      if (declared && digest !== undefined) await store.machines.put(digest, testMachine);
      if (run.state.rewinds.length > 0) rewound += 1;
      for (let at = 1; at <= run.headSeq; at += 1) {
        const ask = { runId: run.runId, at: seq(at) };
        const whole = await getGraph({ store }, ask);
        const bare = await getGraph({ store }, { ...ask, lists: false });
        if (!whole.ok || !bare.ok) throw new Error('the run is not there');
        const { visits: _visits, checkpoints: _checkpoints, ...rest } = whole.value.graph;
        expect(bare.value.graph).toEqual({ ...rest, visits: [], checkpoints: [] });
        compared += 1;
      }
    }),
    { numRuns: 40 },
  );
  expect(compared).toBeGreaterThan(200);
  expect(rewound).toBeGreaterThan(0);
});
