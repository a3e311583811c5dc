import type { z } from 'zod';
import type { EpochMs } from '@/lib/core/events/ids';
import { fail, ok } from '@/lib/core/shared/result';
import { edgeStatus, endpoint } from '@/lib/server/endpoint';
import { invalid } from '@/lib/server/http';
import { presentRunPage } from '@/lib/server/present/run';
import { decodeRunCursor, encodeRunCursor } from '@/lib/server/run-cursor';
import { type CreateRunProblem, createRun, type RunCreation } from '@/lib/usecases/create-run';
import { listRuns } from '@/lib/usecases/list-runs';
import { runsQuery } from '@/lib/wire/v1/queries';
import { createRunBody } from '@/lib/wire/v1/worker';

export const GET = endpoint({
  query: runsQuery,
  run: async (deps, { query }) => {
    const { limit, sort, order, from, to, status, agent, tag, q, failure, root } = query;
    const by = { sort, descending: order === 'desc' };
    const cursor = query.cursor === undefined ? undefined : decodeRunCursor(query.cursor, by);
    if (query.cursor !== undefined && cursor === undefined)
      return fail(invalid('query.cursor', 'is no cursor of a list in this order'));
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
    const page = await listRuns(deps, { filter, ...by, limit, ...(cursor !== undefined && { cursor }) });
    const { nextCursor } = page;
    return ok({
      ...page,
      nextCursor: nextCursor === undefined ? undefined : encodeRunCursor(nextCursor, by),
    });
  },
  status: { ok: 200, ...edgeStatus },
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
    'bad-payload': 400,
    'unknown-machine': 422,
    exists: 409,
  },
  present: ({ answer }: RunCreation) => answer,
});
