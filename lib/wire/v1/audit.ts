import { z } from 'zod';
import { auditActions } from '@/lib/core/journal/audit';
import { instant, wireRunId, wireSeq, wireSha256 } from './common';

export const auditRow = z.object({
  id: z.number().int().min(0),
  at: instant,
  /** The name that was signed in with, a token's name, or the operating system's user. */
  actor: z.string(),
  action: z.enum(auditActions),
  runId: wireRunId.nullable(),
  /** Of the order's `command.accepted` in that run. */
  seq: wireSeq.nullable(),
  commandId: z.string().nullable(),
  reason: z.string().nullable(),
  planDigest: wireSha256.nullable(),
  /** Of an order; `running` until it has ended. */
  outcome: z.enum(['running', 'done', 'refused', 'withdrawn']).nullable(),
  detail: z.string().nullable(),
});
export type AuditRow = z.output<typeof auditRow>;

export const auditPage = z.object({
  items: z.array(auditRow),
  total: z.number().int().min(0),
  nextCursor: z.string().nullable(),
});
