import { endpoint } from '@/lib/server/endpoint';
import { orNull } from '@/lib/server/present/common';
import { presentMessage } from '@/lib/server/present/rows';
import { listMessages } from '@/lib/usecases/list-messages';
import { messagesQuery, runParams } from '@/lib/wire/v1/queries';
import { messagePage } from '@/lib/wire/v1/runs';

export const GET = endpoint({
  doc: {
    id: 'listMessages',
    tag: 'A run in detail',
    summary: 'The conversation',
    description:
      'Newest page first, each page oldest first; `nextCursor` is the next `before`. `at` is a seq; absent, it is the head.',
    answers: { 200: { says: 'A page of it.', json: messagePage } },
  },
  params: runParams,
  shared: ({ runId }) => runId,
  query: messagesQuery,
  run: (deps, { params, query }) =>
    listMessages(deps, { runId: params.runId, at: query.at, before: query.before, limit: query.limit }),
  status: { ok: 200, 'not-found': 404 },
  present: (page) => ({
    items: page.items.map(presentMessage),
    total: page.total,
    nextCursor: orNull(page.nextCursor),
  }),
});
