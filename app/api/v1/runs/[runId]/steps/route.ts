import { endpoint } from '@/lib/server/endpoint';
import { orNull } from '@/lib/server/present/common';
import { presentStep } from '@/lib/server/present/rows';
import { listSteps } from '@/lib/usecases/list-steps';
import { runParams, stepsQuery } from '@/lib/wire/v1/queries';

export const GET = endpoint({
  params: runParams,
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
