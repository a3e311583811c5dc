import { describe, expect, it } from 'vitest';
import { machineDigest, stepKey } from '@/lib/core/events/ids';
import { FOLD_VERSION, foldRun } from '@/lib/core/projections/run-state';
import { describeOnPostgres, sqliteDatabase } from '@/lib/testing/databases';
import { refOf, TestLineage } from '@/lib/testing/random-journal';
import type { RunFilter } from '@/lib/usecases/ports';
import { openStore } from './open-store';

async function isFoldedAnew(url: string): Promise<void> {
  let store = await openStore({ url });
  const lineage = new TestLineage();
  lineage.worker([{ kind: 'state.entered', key: 'plan#1', state: 'plan', visit: 1 }]);
  lineage.worker([{ kind: 'message.appended', role: 'user', message: refOf('hi') }]);
  // Somebody is waited for.
  lineage.console([
    {
      kind: 'command.accepted',
      commandId: lineage.nextCommand(),
      mode: 'verify',
      stepKey: stepKey('plan#1/refund#1'),
      actor: 'ann',
      reason: '',
    },
  ]);
  const { run, events } = lineage.of();
  const old = {
    ...run.state,
    fold: FOLD_VERSION - 1,
    tags: ['old'],
    visits: {},
    messages: { count: 99, headSeq: run.headSeq },
  };
  const rest = { payloads: [], steps: [], effects: [], questions: [], checkpoints: [], snapshots: [] };
  const write = (change: 'as it was' | 'as it is found') =>
    store.commit({
      runId: run.runId,
      decide: ({ run: found }) => ({
        ok: true,
        value: {
          value: found?.state,
          change:
            change === 'as it was' || found === undefined
              ? { ...rest, run: { ...run, state: old }, events }
              : { ...rest, run: found, events: [] },
        },
      }),
    });
  await write('as it was');
  await store.close();
  store = await openStore({ url });
  const folded = foldRun(events);
  expect((await store.run(run.runId))?.state).toEqual(folded);
  const page = await store.runs({ filter: {}, sort: 'created', descending: false, limit: 1 });
  const waiting = await store.claimable({
    agents: [{ name: run.state.agent, machineDigest: machineDigest('a'.repeat(64)) }],
    limit: 1,
  });
  for (const read of [page.items, await store.heldRuns(), await store.lineage(run.root), waiting.items])
    expect(read.map(({ state }) => state)).toEqual([folded]);
  expect(await write('as it is found')).toEqual({ ok: true, value: folded });
  const found = async (filter: RunFilter) =>
    (await store.runs({ filter, sort: 'created', descending: false, limit: 1 })).items;
  expect((await found({}))[0]?.state).toEqual(folded);
  expect(await found({ tag: ['old'] })).toEqual([]);
  await store.close();
}

const title =
  'a state that an older release folded is folded anew where the run is read, and stored with the next write';

describe('SQLite store', () => {
  it(title, async () => {
    const database = sqliteDatabase();
    await isFoldedAnew(database.url);
    await database.remove();
  });
});

describeOnPostgres('PostgreSQL store', (url) => {
  it(title, () => isFoldedAnew(url()));
});
