import type { RunEvent } from '@/lib/core/events/run-event';
import { apiUrl } from './api';
import type { RunSummary } from './api-types';

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
  /** Some items may have been missed: read anew. */
  readonly onReset: () => void;
  readonly onLiveness: (liveness: Liveness) => void;
}

/** How long after a refusal the stream is asked for again. A connection that broke is retried by the browser itself. */
const AGAIN_MS = 2_000;

/** `urlAfter` gets the id of the newest message, where there was one. */
function listen<Item>(urlAfter: (newest: string | undefined) => string, ears: Ears<Item>): () => void {
  let newest: string | undefined;
  let lostSince: number | undefined;
  let source: EventSource | undefined;
  let again: ReturnType<typeof setTimeout> | undefined;
  const open = () => {
    const opened = new EventSource(urlAfter(newest));
    source = opened;
    opened.onopen = () => {
      ears.onLiveness({ kind: 'live' });
      if (lostSince !== undefined) ears.onReset();
      lostSince = undefined;
    };
    opened.onerror = () => {
      if (lostSince === undefined) {
        lostSince = Date.now();
        ears.onLiveness({ kind: 'lost', since: lostSince });
      }
      // An answer that is no stream (a proxy's error page, a console that starts up) ends the source for good.
      if (opened.readyState === EventSource.CLOSED) again = setTimeout(open, AGAIN_MS);
    };
    opened.onmessage = (message: MessageEvent<string>) => {
      if (message.lastEventId !== '') newest = message.lastEventId;
      ears.onItem(JSON.parse(message.data) as Item);
    };
    opened.addEventListener('reset', () => ears.onReset());
  };
  open();
  return () => {
    clearTimeout(again);
    source?.close();
  };
}

/** Events of one run after `after`. A reconnection goes on after the newest one, so none is missed. Returns the end. */
export const listenToRun = (runId: string, after: number, ears: Ears<RunEvent>): (() => void) =>
  listen((newest) => apiUrl('/stream', { run: runId, after: newest ?? after }), ears);

/** Which runs moved, of all. Returns the end. */
export const listenToRuns = (ears: Ears<Moved>): (() => void) => listen(() => apiUrl('/stream'), ears);

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
