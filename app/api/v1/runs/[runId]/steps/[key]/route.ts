import { endpoint } from '@/lib/server/endpoint';
import { presentStepDetail } from '@/lib/server/present/rows';
import { getStep } from '@/lib/usecases/get-step';
import { stepParams } from '@/lib/wire/v1/queries';
import { stepDetail } from '@/lib/wire/v1/runs';

export const GET = endpoint({
  doc: {
    id: 'getStep',
    tag: 'A run in detail',
    summary: 'One step with its attempts',
    description: 'By its key, percent-encoded: `lookup%232%2Fsearch_orders%231`.',
    answers: { 200: { says: 'The step.', json: stepDetail } },
  },
  params: stepParams,
  shared: ({ runId }) => runId,
  run: (deps, { params }) => getStep(deps, params),
  status: { ok: 200, 'not-found': 404 },
  present: presentStepDetail,
});
