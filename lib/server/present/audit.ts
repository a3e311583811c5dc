import type { AuditEntry } from '@/lib/usecases/ports';
import type { AuditRow } from '@/lib/wire/v1/audit';
import { iso, orNull } from './common';

/** One deed as the API shows it. */
export const presentAudit = (record: AuditEntry): AuditRow => ({
  id: record.key,
  at: iso(record.at),
  actor: record.actor,
  action: record.action,
  runId: orNull(record.runId),
  seq: orNull(record.seq),
  commandId: orNull(record.commandId),
  reason: orNull(record.reason),
  planDigest: orNull(record.planDigest),
  outcome: orNull(record.outcome),
  detail: orNull(record.detail),
});
