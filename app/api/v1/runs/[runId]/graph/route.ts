import { endpoint } from '@/lib/server/endpoint';
import { presentGraph } from '@/lib/server/present/state';
import { getGraph } from '@/lib/usecases/get-graph';
import { graphQuery, runParams } from '@/lib/wire/v1/queries';
import { graphAt } from '@/lib/wire/v1/runs';

export const GET = endpoint({
  doc: {
    id: 'getGraph',
    tag: 'A run in detail',
    summary: 'The machine with what was visited',
    description:
      'States, edges taken, visits and checkpoints up to `at`. `at` is a seq; absent, it is the head. `lists=none` leaves out visits and checkpoints, which grow with the run.',
    answers: { 200: { says: 'The graph.', json: graphAt } },
  },
  params: runParams,
  shared: ({ runId }) => runId,
  query: graphQuery,
  run: (deps, { params, query }) =>
    getGraph(deps, { runId: params.runId, at: query.at, lists: query.lists === 'all' }),
  status: { ok: 200, 'not-found': 404 },
  present: presentGraph,
});
