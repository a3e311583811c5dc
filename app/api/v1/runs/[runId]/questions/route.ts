import { endpoint } from '@/lib/server/endpoint';
import { whole } from '@/lib/server/present/common';
import { presentQuestion } from '@/lib/server/present/rows';
import { listQuestions } from '@/lib/usecases/list-questions';
import { runParams, wholeQuery } from '@/lib/wire/v1/queries';

export const GET = endpoint({
  params: runParams,
  query: wholeQuery,
  run: (deps, { params }) => listQuestions(deps, params),
  status: { ok: 200, 'not-found': 404 },
  present: (views) => whole(views.map(({ question, inForce }) => presentQuestion(question, inForce))),
});
