import { endpoint } from '@/lib/server/endpoint';
import { whole } from '@/lib/server/present/common';
import { presentCheckpoint } from '@/lib/server/present/rows';
import { listCheckpoints } from '@/lib/usecases/list-checkpoints';
import { runParams, wholeQuery } from '@/lib/wire/v1/queries';
import { checkpointPage } from '@/lib/wire/v1/runs';

export const GET = endpoint({
  doc: {
    id: 'listCheckpoints',
    tag: 'A run in detail',
    summary: 'Points that a plan may start from',
    description:
      '`inForce` is false for those that a rewind left behind. The list is given whole: `limit` is taken and changes nothing.',
    answers: { 200: { says: 'All of them, oldest first.', json: checkpointPage } },
  },
  params: runParams,
  shared: ({ runId }) => runId,
  query: wholeQuery,
  run: (deps, { params }) => listCheckpoints(deps, params),
  status: { ok: 200, 'not-found': 404 },
  present: (views) => whole(views.map(({ checkpoint, inForce }) => presentCheckpoint(checkpoint, inForce))),
});
