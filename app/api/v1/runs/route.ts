import type { z } from 'zod';
import { epochMs } from '@/lib/core/events/ids';
import { fail, ok } from '@/lib/core/shared/result';
import { edgeStatus, endpoint } from '@/lib/server/endpoint';
import { invalid } from '@/lib/server/http';
import { presentRunPage } from '@/lib/server/present/run';
import { decodeRunCursor, encodeRunCursor } from '@/lib/server/run-cursor';
import { type CreateRunProblem, createRun, type RunCreation } from '@/lib/usecases/create-run';
import { listRuns } from '@/lib/usecases/list-runs';
import { runsQuery } from '@/lib/wire/v1/queries';
import { runPage } from '@/lib/wire/v1/runs';
import { createRunAnswer, createRunBody } from '@/lib/wire/v1/worker';

/** The members that are there: an absent one is no member of a filter. */
const present = <Members extends object>(members: Members) =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Members]?: Exclude<Members[Name], undefined>;
  };

export const GET = endpoint({
  doc: {
    id: 'listRuns',
    tag: 'Runs',
    summary: 'Runs, filtered and sorted',
    description:
      'Filters are joined by and; several values of one filter by or, tags by and. `attention` finds what stands until a person acts, `inDoubt` what has effects of which nobody knows whether they happened; `within` (`90m`, `24h`, `7d`) counts back from now; `limit=0` gives the total alone. A walk by `sort=created` gives every run once, whatever moves meanwhile.',
    answers: { 200: { says: 'A page of them.', json: runPage } },
  },
  query: runsQuery,
  run: async (deps, { query }) => {
    const { limit, sort, order, cursor: _, within, from, to, ...given } = query;
    const by = { sort, descending: order === 'desc' };
    const cursor = query.cursor === undefined ? undefined : decodeRunCursor(query.cursor, by);
    if (query.cursor !== undefined && cursor === undefined)
      return fail(invalid('query.cursor', 'is no cursor of a list in this order'));
    const since = within === undefined ? 0 : deps.store.clock.now() - within;
    const filter = {
      ...present(given),
      ...((from !== undefined || within !== undefined) && { from: epochMs(Math.max(from ?? 0, since)) }),
      ...(to !== undefined && { to: epochMs(to) }),
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
  doc: {
    id: 'createRun',
    tag: 'Journal',
    summary: 'Create a run',
    description:
      'The run begins with `run.started` and is held by this worker, which appends its events with the `epoch` that it gets. Asked again by the same worker with the same content, the first answer comes again, with 200.',
    body: {
      example: {
        workerId: 'worker-1',
        agent: 'greeter',
        machineDigest: '0'.repeat(64),
        input: { value: { name: 'Ada' } },
        tags: ['try-out'],
      },
    },
    answers: {
      200: { says: 'It was created by this very request before.', json: createRunAnswer },
      201: { says: 'It is created.', json: createRunAnswer },
    },
  },
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
