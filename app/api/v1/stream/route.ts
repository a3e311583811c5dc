import { type Seq, seq } from '@/lib/core/events/ids';
import { fail, ok, type Result } from '@/lib/core/shared/result';
import { edgeStatus, endpoint } from '@/lib/server/endpoint';
import { type EdgeProblem, invalid } from '@/lib/server/http';
import type { InFlight } from '@/lib/server/in-flight';
import { messagesOfRun, messagesOfRuns, type SseMessage, sseStream, streamId } from '@/lib/server/sse';
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

interface Place {
  readonly after: Seq;
  readonly edition: number;
}

/** What an id says, see `streamId`. A whole number beyond every seq is one that this journal never reached. */
function placeOfId(id: string): Place | 'malformed' {
  const [, after, edition = '0'] = /^(\d+)(?:\.(\d+))?$/.exec(id) ?? [];
  return after === undefined
    ? 'malformed'
    : { after: seq(Math.min(Number(after), 2 ** 31 - 1)), edition: Number(edition) };
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
  doc: {
    id: 'stream',
    tag: 'Live',
    summary: 'Changes as they happen',
    description:
      'Server-sent events. With `run`: its journal, one message an event, whose id is the seq, so that `Last-Event-ID` (or `after`) goes on where it broke off. Without: `{ runId, headSeq, status }` of every run that moves. `event: reset` says to read anew, `event: ping` comes every ten seconds.',
    headers: { 'Last-Event-ID': 'The newest id that was heard.' },
    answers: { 200: { says: 'The stream; it ends when either side does.', types: ['text/event-stream'] } },
  },
  query: streamQuery,
  shared: (_, { run }) => run,
  run: async (deps, { query, request }): Promise<Result<Live, NotFound | EdgeProblem>> => {
    const lastId = request.header('last-event-id') || undefined;
    const place: Pick<typeof query, 'after' | 'edition'> | 'malformed' =
      lastId === undefined ? query : placeOfId(lastId);
    if (place === 'malformed') return fail(invalid('Last-Event-ID', 'is no id that a stream gave'));
    const { stop, done } = deps.inFlight.lasting(request.signal);
    const live = (messages: AsyncIterable<readonly SseMessage[]>, from: string): Live => ({
      from,
      messages: counted(deps.inFlight, messages, done),
      end: () => {
        stop.abort();
        done();
      },
    });
    if (query.run === undefined) {
      const changes = streamRuns(deps, { resumed: lastId !== undefined }, stop.signal);
      return ok(live(messagesOfRuns(changes), '0'));
    }
    const run = await deps.store.run(query.run);
    const { after = run?.headSeq ?? seq(0), edition = run?.edition ?? 0 } = place;
    const changes = await streamRun(deps, { runId: query.run, after, edition }, stop.signal);
    if (changes.ok) return ok(live(messagesOfRun(changes.value), streamId(after, edition)));
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
