import type { RunEvent } from '@/lib/core/events/run-event';
import { apiUrl } from './api';
import type { RunSummary } from './api-types';

export type Liveness = 'connecting' | 'live' | 'lost';

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

function listen<Item>(url: string, ears: Ears<Item>): () => void {
  const source = new EventSource(url);
  let wasLost = false;
  source.onopen = () => {
    ears.onLiveness('live');
    if (wasLost) ears.onReset();
    wasLost = false;
  };
  source.onerror = () => {
    wasLost = true;
    ears.onLiveness('lost');
  };
  source.onmessage = (message: MessageEvent<string>) => ears.onItem(JSON.parse(message.data) as Item);
  source.addEventListener('reset', () => ears.onReset());
  return () => source.close();
}

/** Events of one run after `after`. The browser reconnects with Last-Event-ID, so none is missed. Returns the end. */
export const listenToRun = (runId: string, after: number, ears: Ears<RunEvent>): (() => void) =>
  listen(apiUrl('/stream', { run: runId, after }), ears);

/** Which runs moved, of all. Returns the end. */
export const listenToRuns = (ears: Ears<Moved>): (() => void) => listen(apiUrl('/stream'), ears);
