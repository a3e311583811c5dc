import { endpoint } from '@/lib/server/endpoint';
import { getMachine, putMachine } from '@/lib/usecases/put-machine';
import { machineParams } from '@/lib/wire/v1/queries';
import { machine } from '@/lib/wire/v1/runs';

export const GET = endpoint({
  params: machineParams,
  run: (deps, { params }) => getMachine(deps, params),
  status: { ok: 200, 'not-found': 404 },
});

export const PUT = endpoint({
  params: machineParams,
  body: machine,
  run: (deps, { params, body }) => putMachine(deps, { digest: params.digest, machine: body }),
  status: { ok: 200, 'digest-differs': 422 },
});
