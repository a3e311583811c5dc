import { endpoint } from '@/lib/server/endpoint';
import { presentDiff } from '@/lib/server/present/state';
import { getDiff } from '@/lib/usecases/get-diff';
import { diffQuery, runParams } from '@/lib/wire/v1/queries';
import { stateDiff } from '@/lib/wire/v1/runs';

export const GET = endpoint({
  doc: {
    id: 'getDiff',
    tag: 'A run in detail',
    summary: 'What changed between two moments',
    description:
      'Status, visit, message count and variables; large values are told by reference. `to` absent is the head.',
    answers: { 200: { says: 'The differences.', json: stateDiff } },
  },
  params: runParams,
  shared: ({ runId }) => runId,
  query: diffQuery,
  run: (deps, { params, query }) => getDiff(deps, { runId: params.runId, from: query.from, to: query.to }),
  status: { ok: 200, 'not-found': 404 },
  present: presentDiff,
});
