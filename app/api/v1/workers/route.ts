import { endpoint } from '@/lib/server/endpoint';
import { whole } from '@/lib/server/present/common';
import { presentWorker } from '@/lib/server/present/worker';
import { listWorkers } from '@/lib/usecases/list-workers';
import { wholeQuery } from '@/lib/wire/v1/queries';
import { workerPage } from '@/lib/wire/v1/worker';

export const GET = endpoint({
  doc: {
    id: 'listWorkers',
    tag: 'Workers',
    summary: 'Who has been heard from',
    description:
      'Workers with the agents that they offer. The list is given whole: `limit` is taken and changes nothing.',
    answers: { 200: { says: 'All of them.', json: workerPage } },
  },
  query: wholeQuery,
  run: (deps) => listWorkers(deps),
  status: { ok: 200 },
  present: (workers) => whole(workers.map(presentWorker)),
});
