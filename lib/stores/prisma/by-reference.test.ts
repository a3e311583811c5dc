import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SNAPSHOT_EVERY } from '@/lib/core/journal/extend';
import { ApiClient, TestWorker } from '@/lib/testing/api-client';
import { sqliteDatabase } from '@/lib/testing/databases';
import { startTestConsole, type TestConsole } from '@/lib/testing/test-console';

/*
 * A snapshot refers to payloads and holds none, and it is bounded by what is open. So the rows of a checkpoint and its
 * state stay as small as they are however much an agent has said, read and kept in variables. Asked of the file itself.
 */

/** Eight events: what an agent says, keeps and reads before each of its checkpoints. */
function turn(worker: TestWorker, n: number, bytes: number) {
  const value = (what: string) => `${what} ${n} `.padEnd(bytes, '.');
  const says = (role: string) => ({
    kind: 'message.appended',
    role,
    message: worker.value({ role, content: value(role) }),
  });
  const keeps = (path: string) => ({
    kind: 'variables.patched',
    patch: [{ op: 'add', path, value: worker.value(value(path)) }],
  });
  const key = `plan#1/lookup#${n}`;
  const saved = { kind: 'checkpoint.saved', trigger: 'manual', visit: 'plan#1', name: '' };
  return [
    says('user'),
    keeps('/question'),
    worker.read(key, value('input')),
    worker.done(key, value('result')),
    says('tool'),
    says('assistant'),
    keeps('/answer'),
    { ...saved, entrySeq: 0, othersSeq: 0 },
  ];
}

const SNAPSHOTS = 4;
const TURNS = (SNAPSHOTS * SNAPSHOT_EVERY) / 8;
const SMALL = 100;
const LARGE = 5_000;
/** Counts, seqs and sizes grow by a digit now and then. */
const DIGITS = 16;

type Row = readonly [table: string, column: string, count: number];
const rows: readonly Row[] = [
  ['Checkpoint', 'record', TURNS],
  ['Snapshot', 'state', SNAPSHOTS],
];

describe('rows of checkpoints and snapshots', () => {
  const database = sqliteDatabase();
  let console: TestConsole;
  let file: Database.Database;
  beforeAll(async () => {
    console = await startTestConsole({ databaseUrl: database.url, leaseMs: 60_000 });
    const api = new ApiClient(console.url);
    for (const bytes of [SMALL, LARGE]) {
      const worker = await TestWorker.create(api, { runId: `payloads of ${bytes}` });
      await worker.write(worker.enter('plan'));
      for (let n = 1; n <= TURNS; n += 16)
        await worker.write(...Array.from({ length: 16 }, (_, i) => turn(worker, n + i, bytes)).flat());
    }
    file = new Database(database.file, { readonly: true });
  });
  afterAll(async () => {
    await console.close();
    file.close();
    await database.remove();
  });

  /** Bytes of each row of the run, in the order of `seq`. */
  const sizes = (bytes: number, [table, column]: Row) =>
    file
      .prepare(
        `SELECT length(t."${column}") FROM "${table}" t JOIN "Run" r ON r."key" = t."run" WHERE r."runId" = ? ORDER BY t."seq"`,
      )
      .pluck()
      .all(`payloads of ${bytes}`) as number[];

  it.each(rows)('a %s’s row is as large whatever its run’s payloads are', (...row) => {
    const [small, large] = [sizes(SMALL, row), sizes(LARGE, row)];
    expect(large).toHaveLength(row[2]);
    for (const [i, size] of large.entries()) expect(size - (small[i] ?? 0)).toBeLessThanOrEqual(DIGITS);
  });

  it.each(rows)('a %s’s row does not grow from one to the next', (...row) => {
    const all = sizes(LARGE, row);
    expect(Math.max(...all) - Math.min(...all)).toBeLessThanOrEqual(DIGITS);
    expect(Math.max(...all)).toBeLessThan(LARGE);
  });
});
