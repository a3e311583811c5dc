import { endpoint } from '@/lib/server/endpoint';
import { presentGraph } from '@/lib/server/present/state';
import { getGraph } from '@/lib/usecases/get-graph';
import { atQuery, runParams } from '@/lib/wire/v1/queries';

export const GET = endpoint({
  params: runParams,
  query: atQuery,
  run: (deps, { params, query }) => getGraph(deps, { runId: params.runId, at: query.at }),
  status: { ok: 200, 'not-found': 404 },
  present: presentGraph,
});
