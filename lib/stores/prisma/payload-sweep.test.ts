import Database from 'better-sqlite3';
import { afterEach, expect, it, vi } from 'vitest';
import { type EpochMs, epochMs, runId, type Sha256, seq } from '@/lib/core/events/ids';
import type { Payload } from '@/lib/core/events/payload';
import { assertDefined } from '@/lib/core/shared/assert';
import { sqliteDatabase } from '@/lib/testing/databases';
import { append, appendTo, message, payload, queued } from '@/lib/testing/store-rows';
import type { Store } from '@/lib/usecases/ports';
import { openStore } from './open-store';
import { openSqliteStore } from './sqlite-store';

/* How the sweep works, asked of the database itself: what it deletes, the store contract says. */

afterEach(() => vi.restoreAllMocks());

const HOUR = 3_600_000;

/** Every statement that is run, of any connection. */
function watched(): readonly string[] {
  const run: string[] = [];
  const { prepare } = Database.prototype;
  vi.spyOn(Database.prototype, 'prepare').mockImplementation(function (this: Database.Database, sql) {
    const statement = prepare.call(this, sql);
    for (const way of ['run', 'all'] as const) {
      const original = statement[way].bind(statement) as (...args: unknown[]) => unknown;
      statement[way] = ((...args: unknown[]) => {
        run.push(sql);
        return original(...args);
      }) as never;
    }
    return statement;
  } as typeof prepare);
  return run;
}

async function cut(store: Store, id: string, after: number): Promise<void> {
  const done = await store.commit<void, never>({
    runId: runId(id),
    decide: (context) => {
      const before = assertDefined(context.run, 'the run is there');
      const run = { ...before, headSeq: seq(after), edition: before.edition + 1 };
      const rest = { cut: { after: seq(after), effects: [] } };
      return {
        ok: true,
        value: {
          value: undefined,
          change: appendTo(runId(id), { ...context, run }, { bodies: [queued], rest }),
        },
      };
    },
  });
  expect(done.ok).toBe(true);
}

it('looks through the journals once a day however often something is cut, and is right at every hour', async () => {
  const database = sqliteDatabase();
  const run = watched();
  let now: EpochMs = epochMs(Date.UTC(2026, 0, 1));
  const sqlite = await openSqliteStore({ file: database.file, now: () => now });
  const lives = Array.from({ length: 60 }, (_, n) => payload(JSON.stringify(`said ${n}`)));
  await append(sqlite, 'growing', { bodies: [queued, ...lives.map(message)], payloads: lives });
  const shared = lives.filter((_, n) => n % 3 === 0);
  await append(sqlite, 'other', { bodies: [queued, ...shared.map(message)], payloads: shared });
  const isThere = async (one: Payload) => (await sqlite.payloads.missing([one.sha256])).length === 0;

  const looks = () => run.filter((sql) => sql.includes('FROM "Event" WHERE ("run", "seq") >')).length;
  let swept = 0;
  for (let hour = 0; hour < 48; hour++) {
    // The newest thing that was said is taken away: two of three are said nowhere else.
    if (hour < 24) await cut(sqlite, 'growing', 60 - hour);
    swept += await sqlite.payloads.sweep(epochMs(now - 24 * HOUR));
    now = epochMs(now + HOUR);
  }
  expect(swept).toBe(16);
  for (const [n, one] of lives.entries()) expect(await isThere(one), `said ${n}`).toBe(n < 36 || n % 3 === 0);
  expect(looks()).toBeGreaterThan(0);
  expect(looks()).toBeLessThanOrEqual(2);

  // What was found alone, is said again elsewhere and is then taken away there too, may be said by a third.
  const again = payload(JSON.stringify('again'));
  await append(sqlite, 'first', { bodies: [queued, message(again)], payloads: [again] });
  await cut(sqlite, 'first', 1);
  now = epochMs(now + HOUR);
  const other = payload(JSON.stringify('due before it'));
  await sqlite.payloads.put([other]);
  await sqlite.payloads.sweep(epochMs(now - HOUR + 1));
  await append(sqlite, 'second', { bodies: [queued, message(again)], payloads: [again] });
  await append(sqlite, 'third', { bodies: [queued, message(again)], payloads: [again] });
  await cut(sqlite, 'second', 1);
  now = epochMs(now + 25 * HOUR);
  await sqlite.payloads.sweep(epochMs(now - 24 * HOUR));
  expect(await isThere(again)).toBe(true);
  await sqlite.close();
  await database.remove();
});

it('deletes many in several transactions, between which others have their turn', async () => {
  const database = sqliteDatabase();
  const store = await openStore({ url: database.url });
  const many = Array.from({ length: 2_000 }, (_, n) => payload(JSON.stringify(`alone ${n}`)));
  await store.payloads.put(many);
  const sweeping = store.payloads.sweep(epochMs(store.clock.now() + HOUR));
  let written = 0;
  const writing = (async () => {
    for (let over = false; !over; written++) {
      over = await Promise.race([
        sweeping.then(() => true),
        append(store, 'meanwhile', { bodies: [queued] }).then(() => false),
      ]);
    }
  })();
  expect(await sweeping).toBe(2_000);
  await writing;
  expect(written).toBeGreaterThan(3);
  const left: readonly Sha256[] = await store.payloads.missing(many.map(({ sha256 }) => sha256));
  expect(left).toHaveLength(2_000);
  await store.close();
  await database.remove();
});
