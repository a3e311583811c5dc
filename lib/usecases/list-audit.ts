import type { DoorAction } from '@/lib/core/journal/audit';
import type { UsecaseDeps } from './deps';
import type { AuditCursor, AuditEntry, AuditFilter, Page } from './ports';

/** Who came and went is for admins; what was done to runs is for everybody who may see runs. */
const OF_PEOPLE: readonly DoorAction[] = ['sign-in', 'sign-in-refused', 'sign-out'];

/** Who did what, newest first. `whole`: with sign-ins. */
export const listAudit = (
  { store }: Pick<UsecaseDeps, 'store'>,
  ask: {
    readonly filter: Omit<AuditFilter, 'not'>;
    readonly cursor?: AuditCursor;
    readonly limit: number;
    readonly whole: boolean;
  },
): Promise<Page<AuditEntry, AuditCursor>> => {
  const { whole, filter, ...page } = ask;
  return store.audit.list({ ...page, filter: whole ? filter : { ...filter, not: OF_PEOPLE } });
};
