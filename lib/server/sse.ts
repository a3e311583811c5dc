import type { AnyChange, RunChange } from '@/lib/usecases/stream-changes';

/** One server-sent message; `event` absent means the default one. */
export interface SseMessage {
  readonly id?: string;
  readonly event?: string;
  readonly data: unknown;
}

/** A listener that hears nothing for longer takes the connection for dead, so this is a message, not a comment. */
const PING_MS = 10_000;
const encoder = new TextEncoder();

/** JSON holds no line breaks, so one `data:` line is enough. */
const render = (message: SseMessage): string =>
  `${message.id === undefined ? '' : `id: ${message.id}\n`}${message.event === undefined ? '' : `event: ${message.event}\n`}data: ${JSON.stringify(message.data)}\n\n`;

/**
 * Turns batches of messages into a stream that is pulled: nothing is read from the source while the client has not
 * taken what was sent. Ends, and ends its source through `stop`, when the client cancels.
 */
export function sseStream(
  source: AsyncIterable<readonly SseMessage[]>,
  stop: () => void,
  pingMs = PING_MS,
  firstId?: string,
): ReadableStream<Uint8Array> {
  const batches = source[Symbol.asyncIterator]();
  let pending: Promise<IteratorResult<readonly SseMessage[]>> | undefined;
  return new ReadableStream<Uint8Array>(
    {
      start: (controller) => {
        const id = firstId === undefined ? '' : `id: ${firstId}\n`;
        controller.enqueue(encoder.encode(`retry: 1000\n${id}: connected\n\n`));
      },
      pull: async (controller) => {
        pending ??= batches.next();
        const next = await orAfter(pending, pingMs);
        if (next === undefined) {
          controller.enqueue(encoder.encode(render({ event: 'ping', data: {} })));
          return;
        }
        pending = undefined;
        if (next.done === true) controller.close();
        else controller.enqueue(encoder.encode(next.value.map(render).join('')));
      },
      cancel: async () => {
        stop();
        await batches.return?.();
      },
    },
    { highWaterMark: 1 },
  );
}

/** `undefined` where `promise` has not settled after `ms`; its timer does not keep the process alive. */
async function orAfter<Value>(promise: Promise<Value>, ms: number): Promise<Value | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
    timer.unref();
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * A run's journal: the id is the seq, so that `Last-Event-ID` goes on where it broke off. Of a journal that was assembled
 * anew it is `seq.edition`: another edition's seqs are other events.
 */
export async function* messagesOfRun(
  changes: AsyncIterable<readonly RunChange[]>,
): AsyncGenerator<readonly SseMessage[]> {
  for await (const batch of changes) {
    yield batch.map((change) =>
      change.kind === 'event'
        ? { id: streamId(change.event.seq, change.edition), data: change.event }
        : {
            id: streamId(change.headSeq, change.edition),
            event: 'reset',
            data: { headSeq: change.headSeq, edition: change.edition },
          },
    );
  }
}

export const streamId = (seq: number, edition: number): string =>
  edition === 0 ? String(seq) : `${seq}.${edition}`;

/** Runs that move. The id says only that there was a message before. */
export async function* messagesOfRuns(
  changes: AsyncIterable<readonly AnyChange[]>,
): AsyncGenerator<readonly SseMessage[]> {
  let n = 0;
  for await (const batch of changes) {
    yield batch.map((change) => {
      n++;
      if (change.kind === 'reset') return { id: String(n), event: 'reset', data: {} };
      const { runId, headSeq, status, edition } = change.moved;
      return { id: String(n), data: { runId, headSeq, status, edition } };
    });
  }
}
