import { type Seq, seq } from '@/lib/core/events/ids';
import { ok, type Result } from '@/lib/core/shared/result';
import { endpoint } from '@/lib/server/endpoint';
import { messagesOfRun, messagesOfRuns, type SseMessage, sseStream } from '@/lib/server/sse';
import type { NotFound } from '@/lib/usecases/problems';
import { streamRun, streamRuns } from '@/lib/usecases/stream-changes';
import { streamQuery } from '@/lib/wire/v1/queries';

/** A stream and what ends it. */
interface Live {
  readonly messages: AsyncIterable<readonly SseMessage[]>;
  readonly stop: AbortController;
}

export const dynamic = 'force-dynamic';

export const GET = endpoint({
  query: streamQuery,
  run: async (deps, { query, request }): Promise<Result<Live, NotFound>> => {
    const stop = new AbortController();
    request.signal.addEventListener('abort', () => stop.abort(), { once: true });
    const lastId = request.header('last-event-id');
    if (query.run === undefined) {
      const changes = streamRuns(deps, { resumed: lastId !== undefined }, stop.signal);
      return ok({ messages: messagesOfRuns(changes), stop });
    }
    const after: Seq | undefined = /^\d{1,10}$/.test(lastId ?? '') ? seq(Number(lastId)) : query.after;
    const changes = await streamRun(deps, { runId: query.run, after }, stop.signal);
    return changes.ok ? ok({ messages: messagesOfRun(changes.value), stop }) : changes;
  },
  status: { ok: 200, 'not-found': 404 },
  answer: ({ messages, stop }) => ({
    status: 200,
    headers: {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
    },
    body: sseStream(messages, () => stop.abort()),
  }),
});
