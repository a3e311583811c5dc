import { endpoint } from '@/lib/server/endpoint';
import { heartbeat } from '@/lib/usecases/heartbeat';
import { markHeard } from '@/lib/usecases/mark-seen';
import { leaseParams } from '@/lib/wire/v1/queries';
import { heartbeatAnswer, heartbeatBody } from '@/lib/wire/v1/worker';

export const POST = endpoint({
  doc: {
    id: 'heartbeat',
    tag: 'Workers',
    summary: 'Keep a lease',
    description:
      'Says that the worker lives, before `leaseMs` is over. `others` is what others wrote to the run after `seenSeq`: a pause, a decision, an answer.',
    answers: { 200: { says: 'The lease is kept.', json: heartbeatAnswer } },
  },
  params: leaseParams,
  body: heartbeatBody,
  run: async (deps, { params, body }) => {
    const beat = await heartbeat(deps, { ...params, ...body });
    if (beat.ok) await markHeard(deps.store, beat.value.workerId);
    return beat;
  },
  status: { ok: 200, 'not-found': 404, 'stale-epoch': 409 },
  present: ({ leaseMs, others }) => ({ leaseMs, others }),
});
