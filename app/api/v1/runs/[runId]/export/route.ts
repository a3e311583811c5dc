import { z } from 'zod';
import { ok } from '@/lib/core/shared/result';
import { endpoint } from '@/lib/server/endpoint';
import { exportFile } from '@/lib/server/present/export-file';
import { exportRun } from '@/lib/usecases/export-run';
import { wireRunId } from '@/lib/wire/v1/common';

/** The run as one file, streamed; `POST /api/v1/traces` elsewhere makes the identical run of it, as a mirror. */
export const GET = endpoint({
  params: z.object({ runId: wireRunId }),
  run: async (deps, { params }) => {
    const found = await exportRun(deps, params);
    return found.ok ? ok({ run: found.value.run, file: exportFile(found.value.parts) }) : found;
  },
  status: { ok: 200, 'not-found': 404 },
  answer: ({ run, file }) => ({
    status: 200,
    headers: {
      'content-type': 'application/x-ndjson; charset=utf-8',
      'cache-control': 'no-store',
      'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(run.runId)}.rerail.ndjson`,
    },
    body: file,
  }),
});
