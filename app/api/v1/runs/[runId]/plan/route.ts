import { endpoint } from '@/lib/server/endpoint';
import { presentPlan } from '@/lib/server/present/plan';
import { makePlan } from '@/lib/usecases/make-plan';
import { planBody } from '@/lib/wire/v1/commands';
import { runParams } from '@/lib/wire/v1/queries';

export const POST = endpoint({
  params: runParams,
  body: planBody,
  run: (deps, { params, body }) =>
    makePlan(deps, {
      runId: params.runId,
      mode: body.mode,
      from: body.from,
      edits: body.edits ?? [],
      decisions: body.decisions ?? {},
      options: body.options ?? {},
    }),
  status: {
    ok: 200,
    'not-found': 404,
    'use-rewind': 422,
    'no-such-point': 422,
    'replay-from-start': 422,
    'edit-refused': 422,
    'bad-decision': 422,
    'unsupported-option': 422,
  },
  present: presentPlan,
});
