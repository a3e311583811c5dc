import { endpoint } from '@/lib/server/endpoint';
import { whole } from '@/lib/server/present/common';
import { presentWorker } from '@/lib/server/present/worker';
import { listWorkers } from '@/lib/usecases/list-workers';
import { wholeQuery } from '@/lib/wire/v1/queries';

export const GET = endpoint({
  query: wholeQuery,
  run: (deps) => listWorkers(deps),
  status: { ok: 200 },
  present: (workers) => whole(workers.map(presentWorker)),
});
