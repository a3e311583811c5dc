import { endpoint } from '@/lib/server/endpoint';
import { presentState } from '@/lib/server/present/state';
import { getState } from '@/lib/usecases/get-state';
import { atQuery, runParams } from '@/lib/wire/v1/queries';

export const GET = endpoint({
  params: runParams,
  query: atQuery,
  run: (deps, { params, query }) => getState(deps, { runId: params.runId, at: query.at }),
  status: { ok: 200, 'not-found': 404 },
  present: presentState,
});
