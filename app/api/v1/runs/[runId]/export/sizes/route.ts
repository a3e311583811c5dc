import { endpoint } from '@/lib/server/endpoint';
import { exportSizes } from '@/lib/server/export-answer';
import { exportSizesAnswer } from '@/lib/wire/v1/export';
import { runParams } from '@/lib/wire/v1/queries';

export const GET = endpoint({
  doc: {
    id: 'exportSizes',
    tag: 'Runs',
    summary: 'How large the files of a run are',
    description:
      'Makes both files and counts their bytes, which takes as long as to export them. `html` is null where this console was not built with its page.',
    answers: { 200: { says: 'The sizes, exactly.', json: exportSizesAnswer } },
  },
  params: runParams,
  run: (deps, { params, request }) => exportSizes(deps, params.runId, request.header('host')),
  status: { ok: 200, 'not-found': 404 },
});
