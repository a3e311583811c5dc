import { endpoint } from '@/lib/server/endpoint';
import { presentRun } from '@/lib/server/present/run';
import { getRun } from '@/lib/usecases/get-run';
import { runParams } from '@/lib/wire/v1/queries';

export const GET = endpoint({
  params: runParams,
  run: (deps, { params }) => getRun(deps, params),
  status: { ok: 200, 'not-found': 404 },
  present: presentRun,
});
