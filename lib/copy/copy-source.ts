import type { Messages, Source } from '@/lib/client/source';
import type { Deps } from '@/lib/server/deps';
import type { Incoming, Outgoing } from '@/lib/server/http';
import { missAnswer, problemAnswer } from '@/lib/server/problems';
import { router } from '@/lib/server/router';
import { runReads } from '@/lib/server/run-reads';
import type { Copied } from './content';
import { copiedStore } from './copied-store';

export const READ_ONLY = 'This file is a copy of the run: orders are given in the console.';

const size = (bytes: number) => `${bytes.toLocaleString('en')} bytes`;

/** Answers the console's addresses out of a copy. */
export function copySource(copied: Copied): Source {
  const route = router(runReads);
  const deps = copyDeps(copied);
  const answer = async (url: string, method: string, signal: AbortSignal): Promise<Outgoing> => {
    const { pathname, search } = new URL(url, 'http://copy.invalid');
    if (method !== 'GET') return problemAnswer({ kind: 'read-only', detail: READ_ONLY } as never, 405);
    const match = route(method, pathname);
    if (match.kind !== 'found') return missAnswer(match);
    const missing = copied.leftOut.get(match.params['sha256'] ?? '');
    if (missing !== undefined) return problemAnswer(leftOut(missing.bytes, copied) as never, 404);
    return match.handler.direct(incoming(method, match.params, search.slice(1), signal, copied), deps);
  };
  return {
    fetch: async (url, init) => {
      const signal = init.signal ?? new AbortController().signal;
      const { status, headers, body } = await answer(url, init.method ?? 'GET', signal);
      signal.throwIfAborted();
      const bodiless = status === 204 || status === 304;
      return new Response(bodiless ? null : (body as BodyInit | undefined), { status, headers });
    },
    listen: () => silence(),
    single: true,
  };
}

const leftOut = (bytes: number, { notice }: Copied) => ({
  kind: 'left-out',
  detail: `This value of ${size(bytes)} was left out of the copy, which holds values of up to ${size(notice.limits.payloadBytes)}, and ${size(notice.limits.totalBytes)} of them in all. It is in the console, and in the native export.`,
});

const incoming = (
  method: string,
  params: Incoming['params'],
  search: string,
  signal: AbortSignal,
  { notice }: Copied,
): Incoming => ({
  method,
  params,
  search,
  signal,
  header: () => undefined,
  read: () => Promise.reject(new Error('A read has no body')),
  principal: { kind: 'local', actor: notice.by, role: 'admin' },
});

/** As much of the console as its reads touch. What they do not touch is not there. */
function copyDeps(copied: Copied): Deps {
  const { copy, notice } = copied;
  const fewer: Partial<Deps> &
    Pick<Deps, 'store' | 'engine' | 'leaseMs' | 'judgedFrom' | 'actor' | 'barred'> = {
    store: copiedStore(copied),
    engine: { id: 'copy', can: new Set(), wake: () => undefined, waitForWork: async () => undefined },
    leaseMs: copy.leaseMs,
    judgedFrom: copy.judgedFrom,
    actor: notice.by,
    barred: READ_ONLY,
    inFlight: { add: <Value>(work: Promise<Value>) => work } as unknown as Deps['inFlight'],
    // biome-ignore lint/suspicious/noConsole: where a page has its log
    log: { error: (...what: unknown[]) => console.error(...what) } as unknown as Deps['log'],
  };
  return fewer as Deps;
}

/** Nothing comes after the copy's last event. The beat says that this is as it should be. */
function silence(): Messages {
  const target = new EventTarget();
  const beat = setInterval(() => target.dispatchEvent(new MessageEvent('ping', { data: '' })), BEAT_MS);
  const messages: Messages = {
    onopen: null,
    onerror: null,
    onmessage: null,
    readyState: 1,
    addEventListener: target.addEventListener.bind(target) as Messages['addEventListener'],
    close: () => clearInterval(beat),
  };
  setTimeout(() => messages.onopen?.call(messages as EventSource, new Event('open')));
  return messages;
}

const BEAT_MS = 10_000;
