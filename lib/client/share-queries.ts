import { queryOptions } from '@tanstack/react-query';
import { fail, ok, type Result } from '@/lib/core/shared/result';
import type { ExportSizes } from '@/lib/wire/v1/export';
import type { ShareMade, ShareRow, SharesAnswer } from '@/lib/wire/v1/shares';
import { type ApiProblem, apiUrl, getJson, orThrow, postJson, runPath, toProblem, unreachable } from './api';
import { runKeys } from './run-queries';
import { source } from './source';

export type { ShareMade, ShareRow };

export const sharesQuery = (id: string) =>
  queryOptions({
    queryKey: [...runKeys.run(id), 'shares'],
    queryFn: async ({ signal }) =>
      orThrow(await getJson<SharesAnswer>(apiUrl(runPath(id, '/shares')), signal)).items,
  });

/** Of the run as it is now. */
export const exportSizesQuery = (id: string, headSeq: number) =>
  queryOptions({
    queryKey: [...runKeys.at(id, 'export-sizes', headSeq)],
    queryFn: async ({ signal }) =>
      orThrow(await getJson<ExportSizes>(apiUrl(runPath(id, '/export/sizes')), signal)),
    staleTime: Number.POSITIVE_INFINITY,
  });

export const makeShare = (id: string, expiresIn: string) =>
  postJson<ShareMade>(apiUrl(runPath(id, '/shares')), { expiresIn });

export async function revokeShare(shareId: string): Promise<Result<ShareRow, ApiProblem>> {
  const url = apiUrl(`/shares/${encodeURIComponent(shareId)}`);
  try {
    const response = await source().fetch(url, { method: 'DELETE' });
    return response.ok
      ? ok((await response.json()) as ShareRow)
      : fail(toProblem(response.status, await response.text()));
  } catch (error) {
    return fail(unreachable(`No answer came (${error instanceof Error ? error.message : String(error)}).`));
  }
}
