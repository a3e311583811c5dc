import type { RunEvent } from '@/lib/core/events/run-event';
import { ok, type Result } from '@/lib/core/shared/result';
import { type ApiProblem, apiUrl, getJson, runPath } from './api';
import type { RunSummary } from './api-types';
import type { EventsAnswer } from './run-queries';
import { source } from './source';

/** Whether changes are heard as they happen; where not, since when (epoch ms). */
export type Liveness =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'live' }
  | { readonly kind: 'lost'; readonly since: number };

export interface Moved {
  readonly runId: string;
  readonly headSeq: number;
  readonly status: RunSummary['status'];
}

interface Ears<Item> {
  readonly onItem: (item: Item) => void;
  /** Something may have been missed: read anew. */
  readonly onMissed: () => void;
  readonly onLiveness: (liveness: Liveness) => void;
}
interface RunEars extends Ears<RunEvent> {
  /** The journal is not the one that was read before: nothing of it holds. Events that come later are of the new one. */
  readonly onReset: (to: ReadUpTo) => void;
}

/** How long after a refusal the stream is asked for again. A connection that broke is retried by the browser itself. */
const AGAIN_MS = 2_000;
/** The console sends a ping every ten seconds: a connection that brings none is dead, whatever the browser thinks. */
const SILENT_MS = 25_000;
const WATCH_MS = 5_000;
/** A tab that nobody looks at for so long gives its connection back. */
const HIDDEN_MS = 5_000;
/**
 * A browser opens six connections to one host, for all of its tabs together, and a stream keeps its own. Tabs beyond
 * these ask every few seconds instead, so that there is always room for what a page reads.
 */
const STREAMS = 4;
const LOOK_MS = 2_000;
const LOOK_AT_ONCE = 1_000;

interface Looked<Item> {
  readonly items: readonly Item[];
  readonly newest?: string | undefined;
  readonly reset?: boolean;
  /** There is more to be had at once. */
  readonly more?: boolean;
}

/** What is listened to. `newest` is the id of the newest message, where there was one. */
interface Feed<Item> {
  readonly url: (newest: string | undefined) => string;
  /** Asks for what the stream would have brought. */
  readonly look: (
    newest: string | undefined,
    signal: AbortSignal,
  ) => Promise<Result<Looked<Item>, ApiProblem>>;
  /** Whether events that come while nobody listens are told later: then only a loss has something read anew. */
  readonly resumes: boolean;
  /** `id`: where it goes on from. */
  readonly onReset: (id: string) => void;
}

/** One of the places for a stream, shared by the tabs of this browser, until `over`. */
async function takePlace(over: AbortSignal): Promise<boolean> {
  // Where the page is not a secure context there are no locks.
  const locks = (navigator as { readonly locks?: LockManager }).locks;
  if (locks === undefined) return true;
  for (let n = 1; n <= STREAMS; n += 1) {
    const taken = await new Promise<boolean>((resolve) => {
      const hold = (lock: Lock | null) => {
        resolve(lock !== null);
        if (lock === null || over.aborted) return;
        return new Promise<void>((free) => over.addEventListener('abort', () => free(), { once: true }));
      };
      locks.request(`rerail.stream ${n}`, { ifAvailable: true }, hold).catch(() => resolve(true));
    });
    if (taken || over.aborted) return taken;
  }
  return false;
}

function listen<Item>(feed: Feed<Item>, ears: Ears<Item>): () => void {
  let newest: string | undefined;
  let lostSince: number | undefined;
  /** Nobody listened for a while, and what moved then is not all told later. */
  let missed = !feed.resumes;
  let close: (() => void) | undefined;

  const heard = () => {
    if (missed) ears.onMissed();
    missed = !feed.resumes;
    lostSince = undefined;
    ears.onLiveness({ kind: 'live' });
  };
  const lost = (since: number) => {
    if (lostSince !== undefined) return;
    lostSince = since;
    missed = true;
    ears.onLiveness({ kind: 'lost', since });
  };
  const open = () => {
    close?.();
    const over = new AbortController();
    close = () => over.abort();
    void takePlace(over.signal).then((taken) => {
      if (over.signal.aborted) return;
      if (taken) stream(over.signal);
      else void look(over.signal);
    });
  };

  const stream = (over: AbortSignal) => {
    const messages = source().listen(feed.url(newest));
    let lastHeard = Date.now();
    let again: ReturnType<typeof setTimeout> | undefined;
    const watch = setInterval(() => {
      if (Date.now() - lastHeard < SILENT_MS) return;
      lost(lastHeard);
      open();
    }, WATCH_MS);
    over.addEventListener('abort', () => {
      messages.close();
      clearInterval(watch);
      clearTimeout(again);
    });
    messages.onopen = () => {
      lastHeard = Date.now();
      heard();
    };
    messages.onerror = () => {
      lost(Date.now());
      // An answer that is no stream (a proxy's error page, a console that starts up) ends the source for good.
      if (messages.readyState === EventSource.CLOSED) again = setTimeout(open, AGAIN_MS);
    };
    const take = (message: MessageEvent<string>) => {
      lastHeard = Date.now();
      if (message.lastEventId !== '') newest = message.lastEventId;
    };
    messages.onmessage = (message: MessageEvent<string>) => {
      take(message);
      ears.onItem(JSON.parse(message.data) as Item);
    };
    messages.addEventListener('ping', take);
    messages.addEventListener('reset', (message) => {
      take(message);
      feed.onReset(message.lastEventId);
    });
  };

  const look = async (over: AbortSignal) => {
    const answer = await feed.look(newest, over).catch(() => undefined);
    if (over.aborted || answer === undefined) return;
    if (answer.ok) {
      heard();
      newest = answer.value.newest ?? newest;
      for (const item of answer.value.items) ears.onItem(item);
      if (answer.value.reset === true) feed.onReset(newest ?? '');
    } else lost(Date.now());
    // Until then a place may have come free.
    const again = setTimeout(open, answer.ok && answer.value.more === true ? 0 : LOOK_MS);
    over.addEventListener('abort', () => clearTimeout(again));
  };

  let leaving: ReturnType<typeof setTimeout> | undefined;
  const onVisibility = () => {
    clearTimeout(leaving);
    if (document.visibilityState === 'hidden') {
      leaving = setTimeout(() => {
        close?.();
        close = undefined;
      }, HIDDEN_MS);
    } else if (close === undefined) {
      ears.onLiveness({ kind: 'connecting' });
      missed = true;
      open();
    }
  };
  // A connection whose network went away is silent, and nothing else tells for long. A console on this machine is
  // reached all the same.
  const onNetwork = (event: Event) => {
    if (close === undefined) return;
    if (event.type === 'offline') lost(Date.now());
    open();
  };
  const networks = ['offline', 'online'] as const;
  document.addEventListener('visibilitychange', onVisibility);
  for (const kind of networks) window.addEventListener(kind, onNetwork);
  if (document.visibilityState !== 'hidden') open();
  return () => {
    document.removeEventListener('visibilitychange', onVisibility);
    for (const kind of networks) window.removeEventListener(kind, onNetwork);
    clearTimeout(leaving);
    close?.();
  };
}

/** What was read of a run: of its journal's edition, up to a seq. */
export interface ReadUpTo {
  readonly after: number;
  readonly edition: number;
}

/** An id of the run's stream: a seq, and the edition where the journal was assembled anew. */
const readUpTo = (id: string): ReadUpTo => {
  const [after, edition = '0'] = id.split('.');
  return { after: Number(after), edition: Number(edition) };
};
const idOf = ({ after, edition }: ReadUpTo): string =>
  edition === 0 ? String(after) : `${after}.${edition}`;

/** Events of one run after `read`. A reconnection goes on after the newest one, so none is missed. Returns the end. */
export const listenToRun = (runId: string, read: ReadUpTo, ears: RunEars): (() => void) =>
  listen<RunEvent>(
    {
      url: (newest) => apiUrl('/stream', { run: runId, ...(newest === undefined ? read : readUpTo(newest)) }),
      look: async (newest, signal) => {
        const from = newest === undefined ? read : readUpTo(newest);
        const answer = await getJson<EventsAnswer>(
          apiUrl(runPath(runId, '/events'), { after: from.after, limit: LOOK_AT_ONCE }),
          signal,
        );
        if (!answer.ok) return answer;
        const { items, total, nextCursor, edition } = answer.value;
        if (edition !== from.edition)
          return ok({ items: [], newest: idOf({ after: total, edition }), reset: true });
        if (from.after > total)
          return ok({ items: [], newest: idOf({ after: total, edition }), reset: true });
        const last = items.at(-1)?.seq;
        return ok({
          items,
          newest: last === undefined ? undefined : idOf({ after: last, edition }),
          more: nextCursor !== null,
        });
      },
      resumes: true,
      onReset: (id) => ears.onReset(readUpTo(id)),
    },
    ears,
  );

/** Which runs moved, of all. Returns the end. */
export const listenToRuns = (ears: Ears<Moved>): (() => void) =>
  listen<Moved>(
    {
      url: () => apiUrl('/stream'),
      look: async (_, signal) => {
        const answer = await getJson<unknown>(apiUrl('/runs', { limit: 1 }), signal);
        return answer.ok ? ok({ items: [] }) : answer;
      },
      resumes: false,
      onReset: ears.onMissed,
    },
    ears,
  );

/**
 * Calls `round` soon after it was asked for: never twice at once, and after each one at least `restMs` and twice as
 * long as it took passes, so that reading anew never keeps the page or the console busy. Asked meanwhile, once more.
 */
export function inRounds(
  round: () => Promise<unknown>,
  restMs: number,
): { readonly ask: () => void; readonly end: () => void } {
  let wanted = false;
  let busy = false;
  let ended = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const go = async () => {
    wanted = false;
    const began = performance.now();
    await round().catch(() => undefined);
    if (ended) return;
    timer = setTimeout(
      () => {
        busy = false;
        if (wanted) ask();
      },
      Math.max(restMs, 2 * (performance.now() - began)),
    );
  };
  const ask = () => {
    wanted = true;
    if (busy || ended) return;
    busy = true;
    // What arrives in one burst is one round.
    timer = setTimeout(() => void go(), 30);
  };
  return {
    ask,
    end: () => {
      ended = true;
      clearTimeout(timer);
    },
  };
}

/**
 * Tells `tell` of the newest value at most `ms` after it was given, and no more often than that, however fast values
 * come.
 */
export function paced<Value>(
  tell: (value: Value) => void,
  ms: number,
): { readonly give: (value: Value) => void; readonly end: () => void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let newest: Value;
  return {
    give: (value) => {
      newest = value;
      timer ??= setTimeout(() => {
        timer = undefined;
        tell(newest);
      }, ms);
    },
    end: () => {
      clearTimeout(timer);
      timer = undefined;
    },
  };
}
