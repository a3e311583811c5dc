import type { RunId } from '@/lib/core/events/ids';
import { type AuditEnd, type AuditRecord, auditedIn, auditText, ended } from '@/lib/core/journal/audit';
import { assertDefined } from '@/lib/core/shared/assert';
import type { AuditFilter, AuditStore, Change } from '@/lib/usecases/ports';
import type { Writer } from './catalogue';
import { codesOf } from './event-codes';
import { fromColumn, pack, toColumn, unpack } from './packed';
import { eventFromRow, eventSelect } from './rows';
import type { Sql, SqlValue } from './sql';

/** The audit's part of a write: orders that began and ended in these changes. */
export async function writeAudit(sql: Sql, changes: readonly Change[]): Promise<void> {
  for (const { run, events } of changes) {
    const { records, ends } = auditedIn(run, events);
    for (const record of records) await insertAudit(sql, record);
    if (ends.length > 0) await endOrders(sql, run.runId, ends);
  }
}

const INSERT =
  'INSERT INTO "Audit" ("at", "actor", "action", "runId", "seq", "search", "record") VALUES (?, ?, ?, ?, ?, ?, ?)';

async function insertAudit(sql: Sql, record: AuditRecord): Promise<void> {
  await sql.execute(INSERT, [
    record.at,
    toColumn(record.actor),
    record.action,
    toColumn(record.runId ?? ''),
    record.seq ?? 0,
    toColumn(auditText(record)),
    pack(record),
  ]);
}

/** The run's orders, the newest first: the one that ends is among the last. */
async function endOrders(sql: Sql, runId: string, ends: readonly AuditEnd[]): Promise<void> {
  const open = new Map(ends.map((end) => [end.commandId, end]));
  const rows = await sql.query(
    'SELECT "key", "record" FROM "Audit" WHERE "runId" = ? AND "seq" > 0 ORDER BY "seq" DESC',
    [toColumn(runId)],
  );
  for (const [key, packed] of rows) {
    const record = unpack(String(packed)) as AuditRecord;
    const end = record.commandId === undefined ? undefined : open.get(record.commandId);
    if (end === undefined) continue;
    open.delete(end.commandId);
    const after = ended(record, end);
    await sql.execute('UPDATE "Audit" SET "record" = ?, "search" = ? WHERE "key" = ?', [
      pack(after),
      toColumn(auditText(after)),
      Number(key),
    ]);
    if (open.size === 0) return;
  }
}

/** Rows outside of any run's write: sign-ins and links. Reads are of committed rows. */
export function auditStore(sql: Sql, write: Writer): AuditStore {
  return {
    add: (record) => write((transaction) => insertAudit(transaction, record)),
    async list({ filter, cursor, limit }) {
      const { where, args } = conditions(filter);
      const whole = where.length === 0 ? '' : ` WHERE ${where.join(' AND ')}`;
      const [counted] = await sql.query(`SELECT COUNT(*) FROM "Audit"${whole}`, args);
      if (cursor !== undefined) {
        where.push('("at" < ? OR ("at" = ? AND "key" < ?))');
        args.push(cursor.at, cursor.at, cursor.key);
      }
      const from = where.length === 0 ? '' : ` WHERE ${where.join(' AND ')}`;
      const rows = await sql.query(
        `SELECT "key", "record" FROM "Audit"${from} ORDER BY "at" DESC, "key" DESC LIMIT ?`,
        [...args, limit + 1],
      );
      const found = rows.map(([key, record]) => ({
        ...(unpack(String(record)) as AuditRecord),
        key: Number(key),
      }));
      const items = found.slice(0, limit);
      const last = items.at(-1);
      return {
        items,
        total: Number(assertDefined(counted, 'a count is one row')[0]),
        nextCursor: found.length > limit && last !== undefined ? { at: last.at, key: last.key } : undefined,
      };
    },
  };
}

function conditions(filter: AuditFilter): { readonly where: string[]; readonly args: SqlValue[] } {
  const where: string[] = [];
  const args: SqlValue[] = [];
  const among = (column: string, values: readonly string[] | undefined) => {
    if (values === undefined) return;
    where.push(`"${column}" IN (${values.map(() => '?').join(', ')})`);
    args.push(...values.map(toColumn));
  };
  among('actor', filter.actor);
  among('action', filter.action);
  if (filter.not !== undefined && filter.not.length > 0) {
    where.push(`"action" NOT IN (${filter.not.map(() => '?').join(', ')})`);
    args.push(...filter.not);
  }
  among('runId', filter.run === undefined ? undefined : [filter.run]);
  if (filter.q !== undefined && filter.q !== '') {
    where.push(`"search" LIKE ? ESCAPE '!'`);
    args.push(`%${toColumn(filter.q.toLowerCase()).replace(/[!%_]/g, '!$&')}%`);
  }
  if (filter.from !== undefined) {
    where.push('"at" >= ?');
    args.push(filter.from);
  }
  if (filter.to !== undefined) {
    where.push('"at" < ?');
    args.push(filter.to);
  }
  return { where, args };
}

const ORDERS = codesOf(['command.accepted', 'command.ended']);

/**
 * Fills the list with the orders of journals that were written before it was kept. Inside the caller's transaction:
 * all of them or none, so whoever finds none filled begins anew.
 */
export async function fillAudit(sql: Sql): Promise<void> {
  const [filled] = await sql.query('SELECT 1 FROM "Audit" WHERE "seq" > 0 LIMIT 1');
  if (filled !== undefined) return;
  const marks = ORDERS.map(() => '?').join(', ');
  const runs = await sql.query(
    `SELECT r."key", r."runId" FROM "Run" r WHERE r."home" = 'here'` +
      ` AND EXISTS (SELECT 1 FROM "Event" e WHERE e."run" = r."key" AND e."kind" IN (${marks})) ORDER BY r."key"`,
    [...ORDERS],
  );
  for (const [key, id] of runs) {
    const rows = await sql.query(
      `${eventSelect} WHERE e."run" = ? AND e."kind" IN (${marks}) ORDER BY e."seq"`,
      [Number(key), ...ORDERS],
    );
    const runId = fromColumn(String(id)) as RunId;
    const events = rows.map((row) => eventFromRow(runId, row));
    for (const record of auditedIn({ runId, home: 'here' }, events).records) await insertAudit(sql, record);
  }
}
