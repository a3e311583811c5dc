import { endpoint } from '@/lib/server/endpoint';
import { whole } from '@/lib/server/present/common';
import { presentQuestion } from '@/lib/server/present/rows';
import { listQuestions } from '@/lib/usecases/list-questions';
import { runParams, wholeQuery } from '@/lib/wire/v1/queries';
import { questionPage } from '@/lib/wire/v1/runs';

export const GET = endpoint({
  doc: {
    id: 'listQuestions',
    tag: 'A run in detail',
    summary: 'What people were asked',
    description:
      'Open and answered ones. A command `answer` answers one. The list is given whole: `limit` is taken and changes nothing.',
    answers: { 200: { says: 'All of them.', json: questionPage } },
  },
  params: runParams,
  shared: ({ runId }) => runId,
  query: wholeQuery,
  run: (deps, { params }) => listQuestions(deps, params),
  status: { ok: 200, 'not-found': 404 },
  present: (views) => whole(views.map(({ question, inForce }) => presentQuestion(question, inForce))),
});
