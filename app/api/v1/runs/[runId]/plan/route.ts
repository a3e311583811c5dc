import { endpoint } from '@/lib/server/endpoint';
import { presentPlan } from '@/lib/server/present/plan';
import { makePlan } from '@/lib/usecases/make-plan';
import { planBody } from '@/lib/wire/v1/commands';
import { runParams } from '@/lib/wire/v1/queries';
import { planAnswer } from '@/lib/wire/v1/runs';

export const POST = endpoint({
  doc: {
    id: 'planOrder',
    tag: 'Orders',
    summary: 'What an order would do',
    description:
      'Changes nothing. The plan lists every step with what will become of it and why; an order that carries its digest does exactly this or is refused as stale. `from` is `latest`, `start`, a checkpoint’s id, or a step.',
    body: { example: { mode: 'resume', from: 'latest' } },
    answers: { 200: { says: 'The plan.', json: planAnswer } },
  },
  params: runParams,
  body: planBody,
  // It changes nothing.
  needs: 'viewer',
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
