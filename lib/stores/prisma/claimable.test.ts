import Database from 'better-sqlite3';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { epochMs, machineDigest, runId, seq } from '@/lib/core/events/ids';
import { describeOnPostgres, sqliteDatabase } from '@/lib/testing/databases';
import { append, newRunRecord, queued } from '@/lib/testing/store-rows';
import type { Store } from '@/lib/usecases/ports';
import { claimableQuery, ticketsOf } from './claimable';
import { openStore } from './open-store';
import { runColumns } from './rows';

/*
 * A poll costs what it finds: of ten thousand runs that wait for another machine, and have for longer, none is read. By the databases' own account, not by the clock.
 */

const OTHERS = 10_000;
const [mine, other] = [machineDigest('a'.repeat(64)), machineDigest('b'.repeat(64))];
const agents = [{ name: 'refund-desk', machineDigest: mine }];

async function someWait(store: Store): Promise<void> {
  const waiting = (id: string, machine: typeof mine, at: number) => {
    const { state } = newRunRecord(id);
    return append(store, id, {
      bodies: [queued],
      run: {
        updatedAt: epochMs(at),
        state: {
          ...state,
          status: 'queued',
          machineDigest: machine,
          queue: { reason: 'hand-over', seq: seq(1) },
        },
      },
    });
  };
  await waiting('other', other, 0);
  await waiting('mine_1', mine, OTHERS + 1);
  await waiting('mine_2', mine, OTHERS + 2);
}

/** Copies of the run that waits for the other machine: older than those that wait for this worker's. */
const crowd = (() => {
  const copied = (name: string) =>
    name === 'runId' ? `'other_' || s.i` : name === 'wantedAt' ? 's.i' : `r."${name}"`;
  return (
    `WITH RECURSIVE s(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < ${OTHERS})` +
    ` INSERT INTO "Run" (${runColumns.map((name) => `"${name}"`).join(', ')})` +
    ` SELECT ${runColumns.map(copied).join(', ')} FROM s, "Run" r WHERE r."runId" = 'other'`
  );
})();

async function findsMine(store: Store): Promise<void> {
  const { items } = await store.claimable({ agents, limit: 20 });
  expect(items.map((run) => run.runId)).toEqual([runId('mine_1'), runId('mine_2')]);
  const others = await store.claimable({
    agents: [{ name: 'refund-desk', machineDigest: other }],
    limit: 20,
  });
  expect(others.items.slice(0, 3).map((run) => run.runId)).toEqual(['other', 'other_1', 'other_2']);
}

const query = (after?: { readonly value: number; readonly key: number }) =>
  claimableQuery(ticketsOf(agents), 20, after);
const afterFirst = { value: OTHERS + 1, key: 2 };

describe('what a poll reads (SQLite)', () => {
  it('goes by the index of who is waited for alone', async () => {
    const database = sqliteDatabase();
    const store = await openStore({ url: database.url });
    await someWait(store);
    const db = new Database(database.file);
    db.exec(crowd);
    await findsMine(store);
    await store.close();
    for (const after of [undefined, afterFirst]) {
      const { text, args } = query(after);
      const steps = db.prepare(`EXPLAIN QUERY PLAN ${text}`).all(...args) as { readonly detail: string }[];
      const onRuns = steps
        .map(({ detail }) => detail)
        .filter((detail) => /^(SEARCH|SCAN) [rw]\b/.test(detail));
      const byTicket = onRuns.filter((detail) => detail.includes('Run_wanted_wantedAt_key_idx (wanted=?'));
      expect(byTicket).toHaveLength(ticketsOf(agents).length);
      // The rest joins what was found, row by row.
      expect(onRuns.filter((detail) => !byTicket.includes(detail))).toEqual([
        'SCAN w',
        'SEARCH r USING INTEGER PRIMARY KEY (rowid=?)',
      ]);
    }
    db.close();
    await database.remove();
  }, 60_000);
});

describeOnPostgres('what a poll reads (PostgreSQL)', (url) => {
  interface Node {
    readonly 'Node Type': string;
    readonly 'Relation Name'?: string;
    readonly 'Actual Rows': number;
    readonly 'Actual Loops': number;
    readonly 'Rows Removed by Filter'?: number;
    readonly Plans?: readonly Node[];
  }
  const nodes = (node: Node): readonly Node[] => [node, ...(node.Plans ?? []).flatMap(nodes)];

  it('reads the rows that it gives, each twice', async () => {
    const store = await openStore({ url: url() });
    await someWait(store);
    const client = new pg.Client({ connectionString: url() });
    await client.connect();
    await client.query(crowd);
    await client.query('ANALYZE');
    await findsMine(store);
    await store.close();
    for (const [after, found] of [
      [undefined, 2],
      [afterFirst, 1],
    ] as const) {
      const { text, args } = query(after);
      let n = 0;
      const { rows } = await client.query(
        `EXPLAIN (ANALYZE, FORMAT JSON) ${text.replace(/\?/g, () => `$${++n}`)}`,
        [...args],
      );
      const onRuns = nodes(rows[0]['QUERY PLAN'][0].Plan).filter((node) => node['Relation Name'] === 'Run');
      const read = onRuns.reduce(
        (sum, node) =>
          sum + (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'],
        0,
      );
      expect(read).toBe(2 * found);
    }
    await client.end();
  }, 60_000);
});
