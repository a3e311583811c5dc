import { type Seq, seq } from '@/lib/core/events/ids';
import { fail, ok, type Result } from '@/lib/core/shared/result';
import { edgeStatus, endpoint } from '@/lib/server/endpoint';
import { type EdgeProblem, invalid } from '@/lib/server/http';
import type { InFlight } from '@/lib/server/in-flight';
import { messagesOfRun, messagesOfRuns, type SseMessage, sseStream } from '@/lib/server/sse';
import type { NotFound } from '@/lib/usecases/problems';
import { streamRun, streamRuns } from '@/lib/usecases/stream-changes';
import { streamQuery } from '@/lib/wire/v1/queries';

/** A stream and what ends it. */
interface Live {
  readonly messages: AsyncIterable<readonly SseMessage[]>;
  /** The id of what came before the first message: a listener that is cut off before that goes on from there. */
  readonly from: string;
  readonly end: () => void;
}

/** A whole number beyond every seq is one that this journal never reached. */
const seqOfId = (id: string): Seq | 'malformed' =>
  /^\d+$/.test(id) ? seq(Math.min(Number(id), 2 ** 31 - 1)) : 'malformed';

/** Counts the stream as under way until its source has ended. */
async function* counted(
  inFlight: InFlight,
  messages: AsyncIterable<readonly SseMessage[]>,
  done: () => void,
): AsyncGenerator<readonly SseMessage[]> {
  let ended: () => void = () => undefined;
  void inFlight.add(
    new Promise<void>((resolve) => {
      ended = resolve;
    }),
  );
  try {
    yield* messages;
  } finally {
    done();
    ended();
  }
}

export const dynamic = 'force-dynamic';

export const GET = endpoint({
  query: streamQuery,
  run: async (deps, { query, request }): Promise<Result<Live, NotFound | EdgeProblem>> => {
    const lastId = request.header('last-event-id') || undefined;
    const after = lastId === undefined ? query.after : seqOfId(lastId);
    if (after === 'malformed') return fail(invalid('Last-Event-ID', 'is no id that a stream gave'));
    const { stop, done } = deps.inFlight.lasting(request.signal);
    const live = (messages: AsyncIterable<readonly SseMessage[]>, from: number): Live => ({
      from: String(from),
      messages: counted(deps.inFlight, messages, done),
      end: () => {
        stop.abort();
        done();
      },
    });
    if (query.run === undefined) {
      const changes = streamRuns(deps, { resumed: lastId !== undefined }, stop.signal);
      return ok(live(messagesOfRuns(changes), 0));
    }
    const from = after ?? (await deps.store.run(query.run))?.headSeq ?? seq(0);
    const changes = await streamRun(deps, { runId: query.run, after: from }, stop.signal);
    if (changes.ok) return ok(live(messagesOfRun(changes.value), from));
    done();
    return changes;
  },
  status: { ok: 200, 'not-found': 404, ...edgeStatus },
  answer: ({ messages, from, end }) => ({
    status: 200,
    headers: {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
    },
    body: sseStream(messages, end, undefined, from),
  }),
});
