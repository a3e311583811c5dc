import { endpoint } from '@/lib/server/endpoint';
import { presentRun } from '@/lib/server/present/run';
import { getRun } from '@/lib/usecases/get-run';
import { runParams } from '@/lib/wire/v1/queries';
import { runSummary } from '@/lib/wire/v1/runs';

export const GET = endpoint({
  doc: {
    id: 'getRun',
    tag: 'Runs',
    summary: 'A run’s summary',
    description: 'Status, lineage, holder, open questions, counts, and what can be done with it now.',
    answers: { 200: { says: 'The run.', json: runSummary } },
  },
  params: runParams,
  shared: ({ runId }) => runId,
  run: (deps, { params }) => getRun(deps, params),
  status: { ok: 200, 'not-found': 404 },
  present: presentRun,
});
