import { endpoint } from '@/lib/server/endpoint';
import { releaseLease } from '@/lib/usecases/release-lease';
import { leaseParams } from '@/lib/wire/v1/queries';
import { releaseBody } from '@/lib/wire/v1/worker';

export const POST = endpoint({
  params: leaseParams,
  body: releaseBody,
  run: (deps, { params, body }) => releaseLease(deps, { ...params, ...body }),
  status: { ok: 200, 'not-found': 404, 'stale-epoch': 409 },
});
