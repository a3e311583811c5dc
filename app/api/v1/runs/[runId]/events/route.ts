import { appendFrom, appendStatus } from '@/lib/server/append-request';
import { endpoint } from '@/lib/server/endpoint';
import { orNull } from '@/lib/server/present/common';
import { listEvents } from '@/lib/usecases/list-events';
import { eventsQuery, runParams } from '@/lib/wire/v1/queries';
import { appendAnswer, appendBody, batch, eventPage, unleasedBatch } from '@/lib/wire/v1/worker';

export const GET = endpoint({
  doc: {
    id: 'listEvents',
    tag: 'Journal',
    summary: 'The journal',
    description:
      'Events after and before a seq, neither included. `nextCursor` is the last seq given: the next `after`, or `before` where newest come first. `total` counts all events of the run.',
    answers: { 200: { says: 'A stretch of it.', json: eventPage } },
  },
  params: runParams,
  shared: ({ runId }) => runId,
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
  doc: {
    id: 'appendEvents',
    tag: 'Journal',
    summary: 'Append events',
    description:
      'The whole batch is stored or nothing of it. The worker that holds the run sends `epoch` and `batch`; the same batch again answers the same. A writer to a run that no worker executes (an upload) sends `expectedSeq`. Payloads that the events refer to come along, or were stored before.',
    body: {
      anyOf: [batch, unleasedBatch],
      example: {
        epoch: 1,
        batch: 1,
        seenSeq: 1,
        events: [{ kind: 'state.entered', key: 'greet#1', state: 'greet', visit: 1 }],
      },
    },
    answers: { 200: { says: 'They are stored.', json: appendAnswer } },
  },
  params: runParams,
  body: appendBody,
  run: (deps, { params, body }) => appendFrom(deps, params.runId, body),
  status: { ok: 200, ...appendStatus },
});
