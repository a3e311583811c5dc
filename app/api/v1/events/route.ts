import { ok } from '@/lib/core/shared/result';
import { appendStatus, unpack } from '@/lib/server/append-request';
import { endpoint } from '@/lib/server/endpoint';
import { presentProblem } from '@/lib/server/present/problem';
import { problemBody } from '@/lib/server/problems';
import { appendMany } from '@/lib/usecases/append-many';
import { takeInline } from '@/lib/usecases/inline-payloads';
import { appendManyAnswer, appendManyBody } from '@/lib/wire/v1/worker';

/** Batches of several runs; each is stored and answered for itself. */
export const POST = endpoint({
  doc: {
    id: 'appendMany',
    tag: 'Journal',
    summary: 'Append to several runs',
    description:
      'Batches of several runs in one request. Each is stored and answered for itself: an item has the status and the body that `appendEvents` would have answered.',
    answers: { 200: { says: 'An item for each batch, in their order.', json: appendManyAnswer } },
  },
  body: appendManyBody,
  run: async (deps, { body }) => {
    const taken = body.batches.map((batch) => ({
      batch,
      payloads: takeInline(unpack(batch.payloads ?? []), deps.hash),
    }));
    const sound = taken.flatMap(({ batch, payloads }) =>
      payloads.ok ? [{ ...batch, payloads: payloads.value }] : [],
    );
    const appended = await appendMany(deps, { batches: sound });
    const answers = appended.ok ? [...appended.value] : [];
    return ok(
      taken.map(
        ({ batch, payloads }) =>
          (payloads.ok ? answers.shift() : undefined) ?? { runId: batch.runId, result: payloads },
      ),
    );
  },
  status: { ok: 200 },
  present: (items) => ({
    items: items.map(({ runId, result }) => {
      if (result.ok) return { runId, status: 200, answer: result.value };
      const status = appendStatus[result.problem.kind];
      return { runId, status, problem: problemBody(presentProblem(result.problem), status) };
    }),
  }),
});
