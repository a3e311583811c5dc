import type { z } from 'zod';
import type { EpochMs } from '@/lib/core/events/ids';
import { endpoint } from '@/lib/server/endpoint';
import { presentRunPage } from '@/lib/server/present/run';
import { type CreateRunProblem, createRun, type RunCreation } from '@/lib/usecases/create-run';
import { listRuns } from '@/lib/usecases/list-runs';
import { runsQuery } from '@/lib/wire/v1/queries';
import { createRunBody } from '@/lib/wire/v1/worker';

export const GET = endpoint({
  query: runsQuery,
  run: (deps, { query }) => {
    const { cursor, limit, sort, order, from, to, status, agent, tag, q, failure, root } = query;
    const filter = {
      ...(status !== undefined && { status }),
      ...(agent !== undefined && { agent }),
      ...(tag !== undefined && { tag }),
      ...(q !== undefined && { q }),
      ...(from !== undefined && { from: from as EpochMs }),
      ...(to !== undefined && { to: to as EpochMs }),
      ...(failure !== undefined && { failure }),
      ...(root !== undefined && { root }),
    };
    return listRuns(deps, {
      filter,
      sort,
      descending: order === 'desc',
      limit,
      ...(cursor !== undefined && { cursor }),
    });
  },
  status: { ok: 200 },
  present: presentRunPage,
});

export const POST = endpoint<
  undefined,
  undefined,
  z.output<typeof createRunBody>,
  RunCreation,
  CreateRunProblem
>({
  body: createRunBody,
  run: (deps, { body }) =>
    createRun(deps, { ...body, runId: body.runId, input: body.input, tags: body.tags ?? [] }),
  status: {
    ok: ({ created }: RunCreation) => (created ? 201 : 200),
    'unknown-payloads': 422,
    'unknown-machine': 422,
    exists: 409,
  },
  present: ({ answer }: RunCreation) => answer,
});
