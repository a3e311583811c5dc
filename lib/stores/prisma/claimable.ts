import type { RunRecord } from '@/lib/core/projections/records';
import type { ClaimableAsk, RunCursor } from '@/lib/usecases/ports';
import { runsFromRows } from './read-context';
import { runFields, ticket } from './rows';
import { arms, MOST_ARMS, type Sql, type SqlRow, type SqlValue } from './sql';

/** Every offered machine finds what waits for it, and what waits for any machine of the agent. */
export function ticketsOf(agents: ClaimableAsk['agents']): readonly string[] {
  return [
    ...new Set(
      agents.flatMap(({ name, machineDigest }) => [ticket(name, machineDigest), ticket(name, undefined)]),
    ),
  ];
}

/** The first rows of each ticket in the index, then the first of those: none that waits for other workers is read. */
export function claimableQuery(
  tickets: readonly string[],
  limit: number,
  after: RunCursor | undefined,
): { readonly text: string; readonly args: readonly SqlValue[] } {
  const beyond = after === undefined ? '' : ' AND (w."wantedAt", w."key") > (?, ?)';
  const inOrder = (of: string) => `ORDER BY ${of}."wantedAt", ${of}."key"`;
  const first = arms(
    tickets.map(
      () => `SELECT w."key", w."wantedAt" FROM "Run" w WHERE w."wanted" = ?${beyond} ${inOrder('w')} LIMIT ?`,
    ),
  );
  return {
    text:
      `SELECT ${runFields}, w."wantedAt" FROM (SELECT * FROM (${first}) AS a ${inOrder('a')} LIMIT ?) AS w` +
      ` JOIN "Run" r ON r."key" = w."key" LEFT JOIN "Ledger" l ON l."root" = r."runId" ${inOrder('w')}`,
    args: [
      ...tickets.flatMap((one) => [one, ...(after === undefined ? [] : [after.value, after.key]), limit]),
      limit,
    ],
  };
}

/** See `RunReader.claimable`. */
export async function claimable(
  sql: Sql,
  { agents, cursor, limit }: ClaimableAsk,
): Promise<{ readonly items: readonly RunRecord[]; readonly nextCursor: RunCursor | undefined }> {
  const found: SqlRow[] = [];
  const tickets = ticketsOf(agents);
  for (let i = 0; i < tickets.length; i += MOST_ARMS) {
    const { text, args } = claimableQuery(tickets.slice(i, i + MOST_ARMS), limit, cursor);
    found.push(...(await sql.query(text, args)));
  }
  const placeOf = (row: SqlRow): RunCursor & { readonly value: number } => ({
    value: Number(row.at(-1)),
    key: Number(row[0]),
  });
  found.sort((a, b) => placeOf(a).value - placeOf(b).value || placeOf(a).key - placeOf(b).key);
  const first = found.slice(0, limit);
  const last = first.at(-1);
  return {
    items: (await runsFromRows(sql, first)).map(({ record }) => record),
    nextCursor: first.length === limit && last !== undefined ? placeOf(last) : undefined,
  };
}
