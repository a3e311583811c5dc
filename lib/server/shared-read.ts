import * as stream from '@/app/api/v1/stream/route';
import type { Result } from '@/lib/core/shared/result';
import { openShare, type ShutShare } from '@/lib/usecases/open-share';
import type { ShareRecord } from '@/lib/usecases/ports';
import type { Deps } from './deps';
import type { Incoming, Outgoing } from './http';
import { missAnswer } from './problems';
import { router } from './router';
import { runReads } from './run-reads';

const find = router([...runReads, ['/api/v1/stream', { GET: stream.GET }]]);

/** How often an open stream asks whether its link still stands; it may be revoked by another process. */
const LOOK_MS = 2_000;

/** What `/api/v1/shared/{secret}/{path}` answers: as `/api/v1/{path}` does, to whoever has that link. */
export async function sharedRead(
  deps: Deps,
  incoming: Incoming,
  ask: { readonly secret: string; readonly path: string },
): Promise<Result<Outgoing, ShutShare>> {
  const share = await openShare(deps, ask.secret);
  if (!share.ok) return share;
  const match = find(incoming.method, `/api/v1/${ask.path}`);
  if (match.kind !== 'found') return { ok: true, value: missAnswer(match) };
  const { signal, end } = whileOpen(deps, ask.secret, share.value, incoming.signal);
  const asked: Incoming = {
    method: incoming.method,
    params: match.params,
    search: incoming.search,
    header: incoming.header,
    read: incoming.read,
    peer: incoming.peer,
    signal,
    principal: { kind: 'share', shareId: share.value.id, runId: share.value.runId },
  };
  const answer = await match.handler.direct(asked, deps);
  if (!(answer.body instanceof ReadableStream)) {
    end();
    return { ok: true, value: answer };
  }
  return { ok: true, value: { ...answer, body: ending(answer.body, end) } };
}

/** A signal that aborts with `client`, and when the link is over. `end` lets go of it. */
function whileOpen(
  deps: Deps,
  secret: string,
  { expiresAt }: ShareRecord,
  client: AbortSignal,
): { readonly signal: AbortSignal; readonly end: () => void } {
  const over = new AbortController();
  const look = async () => {
    if (!(await openShare(deps, secret)).ok) over.abort();
  };
  // What cannot be looked up now is looked up again.
  const round = setInterval(() => void look().catch(() => undefined), LOOK_MS);
  const left = expiresAt - deps.store.clock.now();
  const expiry = left < LOOK_MS ? setTimeout(() => over.abort(), left) : undefined;
  const end = () => {
    clearInterval(round);
    clearTimeout(expiry);
  };
  over.signal.addEventListener('abort', end, { once: true });
  client.addEventListener('abort', end, { once: true });
  if (client.aborted) end();
  return { signal: AbortSignal.any([client, over.signal]), end };
}

/** The same stream; `end` is called when it is over, however it ends. */
function ending(body: ReadableStream<Uint8Array>, end: () => void): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const next = await reader.read();
        if (!next.done) return controller.enqueue(next.value);
        end();
        controller.close();
      } catch (error) {
        end();
        controller.error(error);
      }
    },
    async cancel(reason) {
      end();
      await reader.cancel(reason);
    },
  });
}
