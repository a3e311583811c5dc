import type { RunId } from '@/lib/core/events/ids';
import { onlyRow } from '@/lib/usecases/heartbeat';
import type { Store } from '@/lib/usecases/ports';

/** Makes the run one that was uploaded: no worker executes it. */
export async function asUploaded(store: Store, id: string): Promise<void> {
  const run = await store.run(id as RunId);
  if (run === undefined) throw new Error('the run was made');
  const { lease: _lease, ...free } = run;
  await store.commit({
    runId: run.runId,
    decide: () => ({
      ok: true,
      value: { value: undefined, change: onlyRow({ ...free, home: 'mirror', source: 'langgraph' }) },
    }),
  });
}
