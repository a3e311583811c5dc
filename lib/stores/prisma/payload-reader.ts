import type { Sha256 } from '@/lib/core/events/ids';
import type { Payload } from '@/lib/core/events/payload';
import type { PayloadStore } from '@/lib/usecases/ports';
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

/** Deletes loose payloads that were stored before; the caller's transaction holds no lock on them yet. */
export async function sweepPayloads(sql: Sql, olderThan: number): Promise<readonly Sha256[]> {
  const gone = await sql.query('DELETE FROM "Loose" WHERE "at" < ? RETURNING "sha256"', [olderThan]);
  const digests = gone.map(([digest]) => digestFrom(digest));
  if (digests.length > 0) {
    const { rows, unhex } = sql.dialect;
    await sql.execute(
      `DELETE FROM "Payload" WHERE "sha256" IN (SELECT ${unhex('v.value->>0')} FROM ${rows})`,
      [JSON.stringify(digests.map((digest) => [digest]))],
    );
  }
  return digests;
}
