import { endpoint } from '@/lib/server/endpoint';
import { presentDiff } from '@/lib/server/present/state';
import { getDiff } from '@/lib/usecases/get-diff';
import { diffQuery, runParams } from '@/lib/wire/v1/queries';

export const GET = endpoint({
  params: runParams,
  query: diffQuery,
  run: (deps, { params, query }) => getDiff(deps, { runId: params.runId, from: query.from, to: query.to }),
  status: { ok: 200, 'not-found': 404 },
  present: presentDiff,
});
