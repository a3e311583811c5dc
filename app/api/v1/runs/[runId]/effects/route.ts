import { endpoint } from '@/lib/server/endpoint';
import { whole } from '@/lib/server/present/common';
import { presentEffects } from '@/lib/server/present/rows';
import { listEffects } from '@/lib/usecases/list-effects';
import { effectsQuery, runParams } from '@/lib/wire/v1/queries';
import { effectPage } from '@/lib/wire/v1/runs';

export const GET = endpoint({
  doc: {
    id: 'listEffects',
    tag: 'A run in detail',
    summary: 'The effect ledger',
    description:
      'Every idempotent and external call that the run is bound by, those of the runs that it comes from included. `at` is a seq; absent, it is the head. The list is given whole: `limit` is taken and changes nothing.',
    answers: { 200: { says: 'Its rows, oldest first.', json: effectPage } },
  },
  params: runParams,
  shared: ({ runId }) => runId,
  query: effectsQuery,
  run: (deps, { params, query }) => listEffects(deps, { runId: params.runId, at: query.at }),
  status: { ok: 200, 'not-found': 404 },
  present: (effects) => whole(presentEffects(effects)),
});
