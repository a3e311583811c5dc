import { endpoint } from '@/lib/server/endpoint';
import { presentStepDetail } from '@/lib/server/present/rows';
import { getStep } from '@/lib/usecases/get-step';
import { stepParams } from '@/lib/wire/v1/queries';

export const GET = endpoint({
  params: stepParams,
  run: (deps, { params }) => getStep(deps, params),
  status: { ok: 200, 'not-found': 404 },
  present: presentStepDetail,
});
