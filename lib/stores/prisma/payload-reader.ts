import type { Sha256 } from '@/lib/core/events/ids';
import type { Payload } from '@/lib/core/events/payload';
import type { PayloadStore } from '@/lib/usecases/ports';
import type { Writer } from './catalogue';
import { digestsInPacked } from './packed';
import { readMissing } from './read-context';
import { digestFrom, payloadFrom } from './rows';
import { column, type Sql } from './sql';

/** The reading half of a `PayloadStore`. */
export function payloadReader(sql: Sql): Pick<PayloadStore, 'get' | 'many' | 'missing'> {
  const { rows, unhex } = sql.dialect;
  const many = async (digests: readonly Sha256[]): Promise<ReadonlyMap<Sha256, Payload>> => {
    if (digests.length === 0) return new Map();
    const found = await sql.query(
      `SELECT p."sha256", p."codec", p."body" FROM "Payload" p WHERE p."sha256" IN (SELECT ${unhex('v.value->>0')} FROM ${rows})`,
      [JSON.stringify([...new Set(digests)].map((digest) => [digest]))],
    );
    return new Map(
      found.map(([digest, codec, body]) => {
        const payload = payloadFrom(digest, codec, body);
        return [payload.sha256, payload];
      }),
    );
  };
  return {
    many,
    get: async (digest) => (await many([digest])).get(digest),
    missing: (digests) => readMissing(sql, digests),
  };
}

/** Loose payloads with when they became so. */
type Marked = ReadonlyMap<Sha256, number>;
type Mark = readonly [digest: Sha256, at: number];
type Digests = readonly Sha256[];

/** So many payloads are deleted in one transaction. */
const TOGETHER = 500;

/**
 * Deletes loose payloads that became so before; the store's writes unmark what they refer to, also meanwhile. What a cut
 * took away may be referred to elsewhere, so every journal is looked through first, page by page, for all that are
 * marked by then. Those found nowhere are remembered by when they were marked, and need no other look: as sweeps go on,
 * the journals are looked through once for as long as a payload stays marked before it is due, at most. `unmarked`
 * hears of those that are not loose any more, before anything else is written. Returns how many were deleted.
 */
export function payloadSweep(
  sql: Sql,
  write: Writer,
  unmarked: (digests: readonly Sha256[]) => void = () => undefined,
): PayloadStore['sweep'] {
  let alone: Marked = new Map();
  return async (olderThan) => {
    const due = await marked(sql, '<', olderThan);
    let used: Marked = new Map();
    if ([...due].some(([digest, at]) => alone.get(digest) !== at)) {
      const all = new Map([...due, ...(await marked(sql, '>=', olderThan))]);
      used = await usedIn(sql, all);
      alone = new Map([...all].filter(([digest]) => !used.has(digest)));
    }
    const unused = [...due].filter(([digest, at]) => alone.get(digest) === at);
    const inGroups = async (
      all: readonly Mark[],
      each: (sql: Sql, some: readonly Mark[]) => Promise<Digests>,
    ) => {
      let count = 0;
      for (let at = 0; at < all.length; at += TOGETHER) {
        let done: Digests = [];
        await write(async (transaction) => {
          done = await each(transaction, all.slice(at, at + TOGETHER));
        });
        unmarked(done);
        count += done.length;
      }
      return count;
    };
    await inGroups([...used], unmark);
    const swept = await inGroups(unused, async (transaction, some) => {
      const digests = await unmark(transaction, some);
      const { rows, unhex } = transaction.dialect;
      if (digests.length > 0)
        await transaction.execute(
          `DELETE FROM "Payload" WHERE "sha256" IN (SELECT ${unhex('v.value->>0')} FROM ${rows})`,
          [JSON.stringify(digests.map((digest) => [digest]))],
        );
      return digests;
    });
    alone = new Map([...alone].filter(([digest]) => !due.has(digest)));
    return swept;
  };
}

async function marked(sql: Sql, when: '<' | '>=', at: number): Promise<Marked> {
  const all = new Map<Sha256, number>();
  let last = '';
  for (;;) {
    const page = await sql.query(
      `SELECT "sha256", "at" FROM "Loose" WHERE "at" ${when} ? AND "sha256" > ${sql.dialect.unhex('?')}` +
        ` ORDER BY "sha256" LIMIT ${PAGE}`,
      [at, last],
    );
    for (const [digest, since] of page) {
      const one = digestFrom(digest);
      all.set(one, Number(since));
      last = one;
    }
    if (page.length < PAGE) return all;
    await othersFirst();
  }
}

/** Those of them that any journal refers to: O(events). */
async function usedIn(sql: Sql, all: Marked): Promise<Marked> {
  const used = new Map<Sha256, number>();
  for await (const bodies of packedBodies(sql)) {
    for (const body of bodies)
      for (const digest of digestsInPacked(body)) {
        const at = all.get(digest);
        if (at !== undefined) used.set(digest, at);
      }
    if (used.size === all.size) break;
  }
  return used;
}

/** Those that have been loose since that very moment: one that was cut again meanwhile is marked anew. */
async function unmark(sql: Sql, some: readonly Mark[]): Promise<Digests> {
  const { rows, unhex } = sql.dialect;
  const found = await sql.query(
    'DELETE FROM "Loose" WHERE ("sha256", "at") IN' +
      ` (SELECT ${unhex('v.value->>0')}, ${column(1, 'BIGINT')} FROM ${rows}) RETURNING "sha256"`,
    [JSON.stringify(some)],
  );
  return found.map(([digest]) => digestFrom(digest));
}

const PAGE = 1_000;

/** Others have their turn. */
const othersFirst = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Bodies of every event. */
async function* packedBodies(sql: Sql): AsyncGenerator<readonly string[]> {
  let after: readonly [run: number, seq: number] = [-1, 0];
  for (;;) {
    const page = await sql.query(
      `SELECT "run", "seq", "body" FROM "Event" WHERE ("run", "seq") > (?, ?) ORDER BY "run", "seq" LIMIT ${PAGE}`,
      after,
    );
    const last = page.at(-1);
    if (last === undefined) return;
    yield page.map(([, , body]) => String(body));
    if (page.length < PAGE) return;
    after = [Number(last[0]), Number(last[1])];
    await othersFirst();
  }
}
