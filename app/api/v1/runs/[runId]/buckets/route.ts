import { endpoint } from '@/lib/server/endpoint';
import { whole } from '@/lib/server/present/common';
import { presentBucket } from '@/lib/server/present/rows';
import { buckets } from '@/lib/usecases/buckets';
import { bucketsQuery, runParams } from '@/lib/wire/v1/queries';
import { bucketPage } from '@/lib/wire/v1/runs';

export const GET = endpoint({
  doc: {
    id: 'listBuckets',
    tag: 'A run in detail',
    summary: 'The journal in at most n stretches',
    description:
      'Counts of events, effects, errors and checkpoints by stretch, for drawing a long run. The list is given whole: `limit` is taken and changes nothing.',
    answers: { 200: { says: 'The stretches in order.', json: bucketPage } },
  },
  params: runParams,
  shared: ({ runId }) => runId,
  query: bucketsQuery,
  run: (deps, { params, query }) => buckets(deps, { runId: params.runId, n: query.n }),
  status: { ok: 200, 'not-found': 404 },
  present: (items) => whole(items.map(presentBucket)),
});
