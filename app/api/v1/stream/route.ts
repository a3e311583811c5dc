import { type Seq, seq } from '@/lib/core/events/ids';
import { ok, type Result } from '@/lib/core/shared/result';
import { endpoint } from '@/lib/server/endpoint';
import type { InFlight } from '@/lib/server/in-flight';
import { messagesOfRun, messagesOfRuns, type SseMessage, sseStream } from '@/lib/server/sse';
import type { NotFound } from '@/lib/usecases/problems';
import { streamRun, streamRuns } from '@/lib/usecases/stream-changes';
import { streamQuery } from '@/lib/wire/v1/queries';

/** A stream and what ends it. */
interface Live {
  readonly messages: AsyncIterable<readonly SseMessage[]>;
  readonly end: () => void;
}

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
  run: async (deps, { query, request }): Promise<Result<Live, NotFound>> => {
    const { stop, done } = deps.inFlight.lasting(request.signal);
    const live = (messages: AsyncIterable<readonly SseMessage[]>): Live => ({
      messages: counted(deps.inFlight, messages, done),
      end: () => {
        stop.abort();
        done();
      },
    });
    const lastId = request.header('last-event-id');
    if (query.run === undefined) {
      const changes = streamRuns(deps, { resumed: lastId !== undefined }, stop.signal);
      return ok(live(messagesOfRuns(changes)));
    }
    const after: Seq | undefined = /^\d{1,10}$/.test(lastId ?? '') ? seq(Number(lastId)) : query.after;
    const changes = await streamRun(deps, { runId: query.run, after }, stop.signal);
    if (changes.ok) return ok(live(messagesOfRun(changes.value)));
    done();
    return changes;
  },
  status: { ok: 200, 'not-found': 404 },
  answer: ({ messages, end }) => ({
    status: 200,
    headers: {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
    },
    body: sseStream(messages, end),
  }),
});
