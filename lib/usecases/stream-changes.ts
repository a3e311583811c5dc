import type { RunId, Seq } from '@/lib/core/events/ids';
import type { RunEvent } from '@/lib/core/events/run-event';
import type { RunRecord } from '@/lib/core/projections/records';
import { fail, ok, type Result } from '@/lib/core/shared/result';
import type { UsecaseDeps } from './deps';
import type { RunMoved } from './ports';
import { type NotFound, noRun } from './problems';

/**
 * `reset`: what the listener has does not continue here, or is of another edition; it reads anew and goes on from
 * `headSeq`.
 */
export type RunChange =
  | { readonly kind: 'event'; readonly event: RunEvent; readonly edition: number }
  | { readonly kind: 'reset'; readonly headSeq: Seq; readonly edition: number };
export type AnyChange = { readonly kind: 'moved'; readonly moved: RunMoved } | { readonly kind: 'reset' };

const BATCH = 500;
/** Runs that may wait to be told of; a listener that is further behind is told to read anew. */
const MOST_WAITING = 5_000;
/** Another process may have written without this one hearing of it. */
const LOOK_AGAIN_MS = 5_000;

type Deps = Pick<UsecaseDeps, 'store'>;

/**
 * A run's journal after `after`, then live, in batches; the caller's pace is the stream's. `edition`: of what the listener
 * has, where it knows. Ends with `signal`.
 */
export async function streamRun(
  deps: Deps,
  ask: { readonly runId: RunId; readonly after: Seq | undefined; readonly edition?: number | undefined },
  signal: AbortSignal,
): Promise<Result<AsyncIterable<readonly RunChange[]>, NotFound>> {
  const run = await deps.store.run(ask.runId);
  if (run === undefined) return fail(noRun(ask.runId));
  return ok(follow(deps, run, ask, signal));
}

async function* follow(
  { store }: Deps,
  run: RunRecord,
  ask: { readonly after: Seq | undefined; readonly edition?: number | undefined },
  signal: AbortSignal,
): AsyncGenerator<readonly RunChange[]> {
  const { runId } = run;
  const bell = new Bell(signal);
  // What is executed here is never assembled anew.
  const editionNow = async () => (run.home === 'here' ? at.edition : await store.edition(runId));
  let at = { cursor: ask.after ?? run.headSeq, known: run.headSeq, edition: run.edition };
  const reset = (to: RunRecord): readonly RunChange[] => {
    at = { cursor: to.headSeq, known: to.headSeq, edition: to.edition };
    return [{ kind: 'reset', headSeq: to.headSeq, edition: to.edition }];
  };
  const stop = store.feed.subscribe((moved) => {
    if (moved.runId !== runId) return;
    if (moved.edition === at.edition && moved.headSeq > at.known) at = { ...at, known: moved.headSeq };
    bell.ring();
  });
  try {
    if (at.cursor > run.headSeq || (ask.edition !== undefined && ask.edition !== run.edition))
      yield reset(run);
    while (!signal.aborted) {
      const events = await store.events(runId, { after: at.cursor, limit: BATCH });
      const edition = await editionNow();
      if (edition !== at.edition) {
        const now = await store.run(runId);
        if (now === undefined) return;
        // What this process keeps of the run may be a moment older than what was read.
        if (now.edition === edition) yield reset(now);
        else await new Promise<void>((resolve) => setImmediate(resolve));
        continue;
      }
      const last = events.at(-1);
      if (last !== undefined) {
        at = { ...at, cursor: last.seq };
        yield events.map((event) => ({ kind: 'event', event, edition: at.edition }) as const);
      }
      while (at.cursor >= at.known && !signal.aborted) {
        const how = await bell.wait(LOOK_AGAIN_MS);
        if (how === 'late' || (await editionNow()) !== at.edition) break;
      }
    }
  } finally {
    stop();
  }
}

/**
 * Every run that moves from this call on, newest state of each; begins with `reset` where `resumed`, since moves are
 * not kept. Ends with `signal`.
 */
export function streamRuns(
  deps: Deps,
  ask: { readonly resumed: boolean },
  signal: AbortSignal,
): AsyncIterable<readonly AnyChange[]> {
  const bell = new Bell(signal);
  const waiting = new Map<RunId, RunMoved>();
  let lost = ask.resumed;
  const stop = deps.store.feed.subscribe((moved) => {
    waiting.delete(moved.runId);
    waiting.set(moved.runId, moved);
    if (waiting.size > MOST_WAITING) {
      waiting.clear();
      lost = true;
    }
    bell.ring();
  });
  if (signal.aborted) stop();
  else signal.addEventListener('abort', stop, { once: true });
  return (async function* () {
    while (!signal.aborted) {
      const batch: AnyChange[] = lost ? [{ kind: 'reset' }] : [];
      for (const moved of waiting.values()) batch.push({ kind: 'moved', moved });
      lost = false;
      waiting.clear();
      if (batch.length > 0) yield batch;
      else await bell.wait(LOOK_AGAIN_MS);
    }
  })();
}

/** Remembers a ring that nobody waited for. */
class Bell {
  #rung = false;
  #wake: (() => void) | undefined;

  constructor(signal: AbortSignal) {
    signal.addEventListener('abort', () => this.ring(), { once: true });
  }

  ring(): void {
    this.#rung = true;
    this.#wake?.();
  }

  wait(ms: number): Promise<'rung' | 'late'> {
    if (this.#rung) {
      this.#rung = false;
      return Promise.resolve('rung');
    }
    return new Promise((resolve) => {
      const timer = setTimeout(() => end('late'), ms);
      timer.unref();
      const end = (how: 'rung' | 'late') => {
        clearTimeout(timer);
        this.#wake = undefined;
        this.#rung = false;
        resolve(how);
      };
      this.#wake = () => end('rung');
    });
  }
}
