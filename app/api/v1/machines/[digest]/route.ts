import { z } from 'zod';
import type { RunId } from '@/lib/core/events/ids';
import { fail } from '@/lib/core/shared/result';
import { endpoint } from '@/lib/server/endpoint';
import { getMachine, putMachine } from '@/lib/usecases/put-machine';
import { wireMachineDigest } from '@/lib/wire/v1/common';
import { machineParams } from '@/lib/wire/v1/queries';
import { machine } from '@/lib/wire/v1/runs';

export const GET = endpoint({
  doc: {
    id: 'getMachine',
    tag: 'Payloads',
    summary: 'A machine by its digest',
    description: 'The declaration as it was stored.',
    answers: { 200: { says: 'The machine.', json: machine } },
  },
  params: machineParams,
  // Below, by what the run was recorded with.
  shared: (_params, _query, runId) => runId,
  run: async (deps, { params, principal }) => {
    if (principal.kind === 'share') {
      const run = await deps.store.run(principal.runId as RunId);
      if (run?.state.machineDigest !== params.digest)
        return fail({ kind: 'not-found', detail: 'The run has no such machine.' } as const);
    }
    return getMachine(deps, params);
  },
  status: { ok: 200, 'not-found': 404 },
});

export const PUT = endpoint({
  doc: {
    id: 'putMachine',
    tag: 'Payloads',
    summary: 'Store a machine',
    description:
      'A run names its machine by digest: SHA-256 of canonical JSON (RFC 8785) of the declaration. A refusal tells the digest that the declaration has, so that a program may learn it.',
    body: {
      example: {
        agent: 'greeter',
        provenance: 'declared',
        initial: 'greet',
        states: { greet: { transitions: [], tools: [], final: true } },
        tools: {},
      },
    },
    answers: { 200: { says: 'It is stored.', json: z.object({ digest: wireMachineDigest }) } },
  },
  params: machineParams,
  body: machine,
  run: (deps, { params, body }) => putMachine(deps, { digest: params.digest, machine: body }),
  status: { ok: 200, 'digest-differs': 422 },
});
