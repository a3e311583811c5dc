import { type RunId, runId } from '@/lib/core/events/ids';
import type { RunRecord, RunStatus } from '@/lib/core/projections/records';
import type { Children } from '@/lib/usecases/ports';
import { fromColumn, toColumn, unpack } from './packed';
import { arms, MOST_ARMS, type Sql, type SqlRow } from './sql';

/** See `RunReader.children`. `status`: the status of the row `r` as SQL. */
export async function children(
  sql: Sql,
  of: readonly RunId[],
  limit: number,
  status: string,
): Promise<ReadonlyMap<RunId, Children>> {
  const counted = await sql.query(
    `SELECT "parentId", COUNT(*) FROM "Run" WHERE "parentId" IN (SELECT v.value->>0 FROM ${sql.dialect.rows}) GROUP BY "parentId"`,
    [JSON.stringify(of.map((id) => [toColumn(id)]))],
  );
  const parents = counted.map(([parent]) => String(parent));
  const found: SqlRow[] = [];
  for (let i = 0; i < parents.length; i += MOST_ARMS) {
    const some = parents.slice(i, i + MOST_ARMS);
    const select =
      `SELECT r."parentId", r."createdAt", r."key", r."runId", r."parent", ${status} FROM "Run" r` +
      ' WHERE r."parentId" = ? ORDER BY r."createdAt" DESC, r."key" DESC LIMIT ?';
    found.push(
      ...(await sql.query(
        arms(some.map(() => select)),
        some.flatMap((parent) => [parent, limit]),
      )),
    );
  }
  found.sort(
    ([, at, key], [, otherAt, otherKey]) => Number(at) - Number(otherAt) || Number(key) - Number(otherKey),
  );
  const newest = new Map<string, Children['newest'][number][]>(parents.map((parent) => [parent, []]));
  for (const [parent, , , id, lineage, now] of found)
    newest.get(String(parent))?.push({
      runId: runId(fromColumn(String(id))),
      mode: (unpack(String(lineage)) as NonNullable<RunRecord['parent']>).mode,
      status: String(now) as RunStatus,
    });
  return new Map(
    counted.map(([parent, total]) => [
      runId(fromColumn(String(parent))),
      { total: Number(total), newest: newest.get(String(parent)) ?? [] },
    ]),
  );
}
