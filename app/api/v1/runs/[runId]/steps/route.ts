import { endpoint } from '@/lib/server/endpoint';
import { orNull } from '@/lib/server/present/common';
import { presentStep } from '@/lib/server/present/rows';
import { listSteps } from '@/lib/usecases/list-steps';
import { runParams, stepsQuery } from '@/lib/wire/v1/queries';
import { stepPage } from '@/lib/wire/v1/runs';

export const GET = endpoint({
  doc: {
    id: 'listSteps',
    tag: 'A run in detail',
    summary: 'Recorded calls',
    description: 'In order of their start. Inputs and results are payload references.',
    answers: { 200: { says: 'A page of them.', json: stepPage } },
  },
  params: runParams,
  shared: ({ runId }) => runId,
  query: stepsQuery,
  run: (deps, { params, query }) =>
    listSteps(deps, { runId: params.runId, after: query.cursor, limit: query.limit }),
  status: { ok: 200, 'not-found': 404 },
  present: (page) => ({
    items: page.items.map(({ step, inForce }) => presentStep(step, inForce)),
    total: page.total,
    nextCursor: orNull(page.nextCursor),
  }),
});
