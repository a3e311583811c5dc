import { z } from 'zod';
import { endpoint } from '@/lib/server/endpoint';
import { releaseLease } from '@/lib/usecases/release-lease';
import { leaseParams } from '@/lib/wire/v1/queries';
import { releaseBody } from '@/lib/wire/v1/worker';

export const POST = endpoint({
  doc: {
    id: 'releaseLease',
    tag: 'Workers',
    summary: 'Give a run back',
    description:
      '`done` after the run’s end, `waiting` and `paused` where it waits, `hand-over` where another worker shall go on at once.',
    answers: { 200: { says: 'It is released.', json: z.object({ released: z.literal(true) }) } },
  },
  params: leaseParams,
  body: releaseBody,
  run: (deps, { params, body }) => releaseLease(deps, { ...params, ...body }),
  status: { ok: 200, 'not-found': 404, 'stale-epoch': 409 },
});
