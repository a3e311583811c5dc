import { endpoint } from '@/lib/server/endpoint';
import { presentGraph } from '@/lib/server/present/state';
import { getGraph } from '@/lib/usecases/get-graph';
import { atQuery, runParams } from '@/lib/wire/v1/queries';
import { graphAt } from '@/lib/wire/v1/runs';

export const GET = endpoint({
  doc: {
    id: 'getGraph',
    tag: 'A run in detail',
    summary: 'The machine with what was visited',
    description:
      'States, edges taken, visits and checkpoints up to `at`. `at` is a seq; absent, it is the head.',
    answers: { 200: { says: 'The graph.', json: graphAt } },
  },
  params: runParams,
  shared: ({ runId }) => runId,
  query: atQuery,
  run: (deps, { params, query }) => getGraph(deps, { runId: params.runId, at: query.at }),
  status: { ok: 200, 'not-found': 404 },
  present: presentGraph,
});
