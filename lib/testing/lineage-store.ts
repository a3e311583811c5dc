import { memoryStore } from './memory-store';
import type { TestLineage } from './random-journal';

/** A store in memory that holds every run of the lineage as it stands. */
export async function storeOfLineage(lineage: TestLineage) {
  const store = memoryStore();
  for (const { run, events, steps, questions, checkpoints, snapshots } of lineage.runs.values())
    await store.commit({
      runId: run.runId,
      root: run.root,
      decide: () => ({
        ok: true,
        value: {
          value: undefined,
          change: {
            run,
            events,
            payloads: [],
            steps: [...steps.values()],
            effects: [...lineage.effects.values()].filter((effect) => effect.runId === run.runId),
            questions: [...questions.values()],
            checkpoints,
            snapshots,
          },
        },
      }),
    });
  return store;
}
