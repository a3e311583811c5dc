import { endpoint } from '@/lib/server/endpoint';
import { orNull } from '@/lib/server/present/common';
import { presentMessage } from '@/lib/server/present/rows';
import { listMessages } from '@/lib/usecases/list-messages';
import { messagesQuery, runParams } from '@/lib/wire/v1/queries';

export const GET = endpoint({
  params: runParams,
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
