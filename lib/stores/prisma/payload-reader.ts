import type { Sha256 } from '@/lib/core/events/ids';
import type { Payload } from '@/lib/core/events/payload';
import type { PayloadStore } from '@/lib/usecases/ports';
import type { Writer } from './catalogue';
import { digestsInPacked } from './packed';
import { readMissing } from './read-context';
import { digestFrom, payloadFrom } from './rows';
import type { Sql } from './sql';

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

/**
 * Deletes loose payloads that became so before; the store's writes unmark what they refer to, also meanwhile. What a cut
 * took away may be referred to elsewhere, so every journal is looked through first, page by page: O(events), and nothing
 * where none is due. Returns those that are not marked any more.
 */
export async function sweepPayloads(
  sql: Sql,
  write: Writer,
  olderThan: number,
): Promise<{ readonly swept: number; readonly unmarked: readonly Sha256[] }> {
  const due = await sql.query('SELECT "sha256" FROM "Loose" WHERE "at" < ?', [olderThan]);
  if (due.length === 0) return { swept: 0, unmarked: [] };
  const unused = new Set(due.map(([digest]) => digestFrom(digest)));
  const used = new Set<Sha256>();
  for await (const bodies of packedBodies(sql)) {
    for (const body of bodies)
      for (const digest of digestsInPacked(body)) if (unused.delete(digest)) used.add(digest);
    if (unused.size === 0) break;
  }
  let gone: readonly Sha256[] = [];
  let kept: readonly Sha256[] = [];
  await write(async (transaction) => {
    kept = await unmark(transaction, used, olderThan);
    gone = await unmark(transaction, unused, olderThan);
    const { rows, unhex } = transaction.dialect;
    if (gone.length > 0)
      await transaction.execute(
        `DELETE FROM "Payload" WHERE "sha256" IN (SELECT ${unhex('v.value->>0')} FROM ${rows})`,
        [JSON.stringify(gone.map((digest) => [digest]))],
      );
  });
  return { swept: gone.length, unmarked: [...kept, ...gone] };
}

/** Those that were still loose, and had become so before. */
async function unmark(sql: Sql, digests: ReadonlySet<Sha256>, olderThan: number): Promise<readonly Sha256[]> {
  if (digests.size === 0) return [];
  const { rows, unhex } = sql.dialect;
  const found = await sql.query(
    `DELETE FROM "Loose" WHERE "sha256" IN (SELECT ${unhex('v.value->>0')} FROM ${rows}) AND "at" < ? RETURNING "sha256"`,
    [JSON.stringify([...digests].map((digest) => [digest])), olderThan],
  );
  return found.map(([digest]) => digestFrom(digest));
}

const PAGE = 1_000;

/** Bodies of every event; others have their turn between the pages. */
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
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}
