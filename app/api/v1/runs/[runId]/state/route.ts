import { endpoint } from '@/lib/server/endpoint';
import { presentState } from '@/lib/server/present/state';
import { getState } from '@/lib/usecases/get-state';
import { atQuery, runParams } from '@/lib/wire/v1/queries';
import { stateAt } from '@/lib/wire/v1/runs';

export const GET = endpoint({
  doc: {
    id: 'getState',
    tag: 'A run in detail',
    summary: 'The run as it stood',
    description:
      'Variables and input by reference, open steps, visits and edges so far. `at` is a seq; absent, it is the head.',
    answers: { 200: { says: 'The state.', json: stateAt } },
  },
  params: runParams,
  shared: ({ runId }) => runId,
  query: atQuery,
  run: (deps, { params, query }) => getState(deps, { runId: params.runId, at: query.at }),
  status: { ok: 200, 'not-found': 404 },
  present: presentState,
});
