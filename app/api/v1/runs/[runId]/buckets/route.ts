import { endpoint } from '@/lib/server/endpoint';
import { whole } from '@/lib/server/present/common';
import { presentBucket } from '@/lib/server/present/rows';
import { buckets } from '@/lib/usecases/buckets';
import { bucketsQuery, runParams } from '@/lib/wire/v1/queries';

export const GET = endpoint({
  params: runParams,
  query: bucketsQuery,
  run: (deps, { params, query }) => buckets(deps, { runId: params.runId, n: query.n }),
  status: { ok: 200, 'not-found': 404 },
  present: (items) => whole(items.map(presentBucket)),
});
