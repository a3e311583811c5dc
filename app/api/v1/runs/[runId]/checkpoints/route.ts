import { endpoint } from '@/lib/server/endpoint';
import { whole } from '@/lib/server/present/common';
import { presentCheckpoint } from '@/lib/server/present/rows';
import { listCheckpoints } from '@/lib/usecases/list-checkpoints';
import { runParams, wholeQuery } from '@/lib/wire/v1/queries';

export const GET = endpoint({
  params: runParams,
  query: wholeQuery,
  run: (deps, { params }) => listCheckpoints(deps, params),
  status: { ok: 200, 'not-found': 404 },
  present: (views) => whole(views.map(({ checkpoint, inForce }) => presentCheckpoint(checkpoint, inForce))),
});
