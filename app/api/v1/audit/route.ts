import { epochMs } from '@/lib/core/events/ids';
import { fail, ok } from '@/lib/core/shared/result';
import { decodeAuditCursor, encodeAuditCursor } from '@/lib/server/audit-cursor';
import { edgeStatus, endpoint } from '@/lib/server/endpoint';
import { invalid } from '@/lib/server/http';
import { presentAudit } from '@/lib/server/present/audit';
import { hasRole } from '@/lib/server/principal';
import { listAudit } from '@/lib/usecases/list-audit';
import { auditPage } from '@/lib/wire/v1/audit';
import { auditQuery } from '@/lib/wire/v1/queries';

export const GET = endpoint({
  doc: {
    id: 'listAudit',
    tag: 'Access',
    summary: 'Who did what',
    description:
      'Every order that this console accepted, with actor, reason and how it ended; links that were made and revoked. Newest first. Admins see sign-ins too. Filters are joined by and; several values of one filter by or.',
    answers: { 200: { says: 'A page of it.', json: auditPage } },
  },
  query: auditQuery,
  run: async (deps, { query, principal }) => {
    const { actor, action, run, q, from, to, limit } = query;
    const cursor = query.cursor === undefined ? undefined : decodeAuditCursor(query.cursor);
    if (query.cursor !== undefined && cursor === undefined)
      return fail(invalid('query.cursor', 'is no cursor of this list'));
    const page = await listAudit(deps, {
      filter: {
        ...(actor !== undefined && { actor }),
        ...(action !== undefined && { action }),
        ...(run !== undefined && { run }),
        ...(q !== undefined && { q }),
        ...(from !== undefined && { from: epochMs(from) }),
        ...(to !== undefined && { to: epochMs(to) }),
      },
      ...(cursor !== undefined && { cursor }),
      limit,
      whole: hasRole(principal, 'admin'),
    });
    return ok(page);
  },
  status: { ok: 200, ...edgeStatus },
  present: ({ items, total, nextCursor }) => ({
    items: items.map(presentAudit),
    total,
    nextCursor: nextCursor === undefined ? null : encodeAuditCursor(nextCursor),
  }),
});
