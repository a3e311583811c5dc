import { z } from 'zod';
import { endpoint } from '@/lib/server/endpoint';
import { recordEvidence } from '@/lib/usecases/record-evidence';
import { wireSeq } from '@/lib/wire/v1/common';
import { runParams } from '@/lib/wire/v1/queries';
import { evidenceBody } from '@/lib/wire/v1/worker';

export const POST = endpoint({
  doc: {
    id: 'recordEvidence',
    tag: 'Workers',
    summary: 'A late outcome of a call',
    description:
      'For a worker that lost its run and then hears what became of its call. Stale epochs may tell: it confirms an effect that is in doubt, and changes nothing that was verified or decided meanwhile.',
    answers: { 200: { says: 'It is recorded.', json: z.object({ headSeq: wireSeq }) } },
  },
  params: runParams,
  body: evidenceBody,
  run: (deps, { params, body }) =>
    recordEvidence(deps, { ...body, runId: params.runId, result: body.result, receipt: body.receipt }),
  status: {
    ok: 200,
    'not-found': 404,
    mirror: 409,
    'no-such-intent': 422,
    'unknown-payloads': 422,
    'bad-payload': 400,
  },
});
