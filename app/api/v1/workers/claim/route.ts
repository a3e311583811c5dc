import { endpoint, jsonAnswer } from '@/lib/server/endpoint';
import { presentClaim } from '@/lib/server/present/worker';
import { claimRun } from '@/lib/usecases/claim-run';
import { claimAnswer, claimBody } from '@/lib/wire/v1/worker';

/** Long poll: answers as soon as there is something to claim, else 204 after `waitMs` or when the console ends. */
export const POST = endpoint({
  doc: {
    id: 'claimRun',
    tag: 'Workers',
    summary: 'Claim a run to work on',
    description:
      'Long poll: answers as soon as a run of one of these agents and machines wants a worker. The same `claimId` gets the same answer, so a lost answer can be asked for again.',
    answers: {
      200: { says: 'The run, held by this worker until its lease ends.', json: claimAnswer },
      204: { says: 'Nothing within `waitMs`.', empty: true },
    },
  },
  body: claimBody,
  run: async (deps, { body, request }) => {
    const { stop, done } = deps.inFlight.lasting(request.signal);
    try {
      return await claimRun(deps, body, stop.signal);
    } finally {
      done();
    }
  },
  status: { ok: 200, 'claim-differs': 409 },
  answer: (claimed) =>
    claimed === undefined
      ? { status: 204, headers: { 'cache-control': 'no-store' }, body: undefined }
      : jsonAnswer(presentClaim(claimed), 200),
});
