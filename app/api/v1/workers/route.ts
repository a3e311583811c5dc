import { endpoint } from '@/lib/server/endpoint';
import { whole } from '@/lib/server/present/common';
import { presentWorker } from '@/lib/server/present/worker';
import { listWorkers } from '@/lib/usecases/list-workers';

export const GET = endpoint({
  run: (deps) => listWorkers(deps),
  status: { ok: 200 },
  present: (workers) => whole(workers.map(presentWorker)),
});
