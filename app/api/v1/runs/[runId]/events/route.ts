import { appendFrom, appendStatus } from '@/lib/server/append-request';
import { endpoint } from '@/lib/server/endpoint';
import { orNull } from '@/lib/server/present/common';
import { listEvents } from '@/lib/usecases/list-events';
import { eventsQuery, runParams } from '@/lib/wire/v1/queries';
import { appendBody } from '@/lib/wire/v1/worker';

export const GET = endpoint({
  params: runParams,
  query: eventsQuery,
  run: (deps, { params, query }) =>
    listEvents(deps, {
      runId: params.runId,
      range: {
        limit: query.limit,
        descending: query.order === 'desc',
        ...(query.after !== undefined && { after: query.after }),
        ...(query.before !== undefined && { before: query.before }),
        ...(query.kinds !== undefined && { kinds: query.kinds }),
      },
    }),
  status: { ok: 200, 'not-found': 404 },
  present: (page) => ({ ...page, nextCursor: orNull(page.nextCursor) }),
});

export const POST = endpoint({
  params: runParams,
  body: appendBody,
  run: (deps, { params, body }) => appendFrom(deps, params.runId, body),
  status: { ok: 200, ...appendStatus },
});
