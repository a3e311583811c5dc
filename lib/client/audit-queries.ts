import { infiniteQueryOptions, keepPreviousData } from '@tanstack/react-query';
import type { AuditRow } from '@/lib/wire/v1/audit';
import { apiUrl, getJson, orThrow } from './api';
import type { Page } from './api-types';
import type { AuditView } from './url-state';

export type { AuditRow };

/** Rows in one read. */
const AUDIT_PAGE = 100;

export const auditQuery = (view: AuditView) =>
  infiniteQueryOptions({
    queryKey: ['audit', view],
    queryFn: async ({ pageParam, signal }) =>
      orThrow(
        await getJson<Page<AuditRow>>(
          apiUrl('/audit', { ...view, limit: AUDIT_PAGE, cursor: pageParam }),
          signal,
        ),
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.nextCursor ?? undefined,
    placeholderData: keepPreviousData,
  });
