import { endpoint } from '@/lib/server/endpoint';
import { recordEvidence } from '@/lib/usecases/record-evidence';
import { runParams } from '@/lib/wire/v1/queries';
import { evidenceBody } from '@/lib/wire/v1/worker';

export const POST = endpoint({
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
