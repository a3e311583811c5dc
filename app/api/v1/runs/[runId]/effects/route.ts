import { endpoint } from '@/lib/server/endpoint';
import { whole } from '@/lib/server/present/common';
import { presentEffects } from '@/lib/server/present/rows';
import { listEffects } from '@/lib/usecases/list-effects';
import { effectsQuery, runParams } from '@/lib/wire/v1/queries';

export const GET = endpoint({
  params: runParams,
  query: effectsQuery,
  run: (deps, { params, query }) => listEffects(deps, { runId: params.runId, at: query.at }),
  status: { ok: 200, 'not-found': 404 },
  present: (effects) => whole(presentEffects(effects)),
});
