import { endpoint, jsonAnswer } from '@/lib/server/endpoint';
import { presentClaim } from '@/lib/server/present/worker';
import { claimRun } from '@/lib/usecases/claim-run';
import { claimBody } from '@/lib/wire/v1/worker';

/** Long poll: answers as soon as there is something to claim, else 204 after `waitMs`. */
export const POST = endpoint({
  body: claimBody,
  run: (deps, { body, request }) => claimRun(deps, body, request.signal),
  status: { ok: 200, 'claim-differs': 409 },
  answer: (claimed) =>
    claimed === undefined
      ? { status: 204, headers: { 'cache-control': 'no-store' }, body: undefined }
      : jsonAnswer(presentClaim(claimed), 200),
});
