import { type RunId, type Seq, seq } from '@/lib/core/events/ids';
import type { RunEvent } from '@/lib/core/events/run-event';
import type { RunRecord, RunState } from '@/lib/core/projections/records';
import { emptyState, FOLD_VERSION, foldRun } from '@/lib/core/projections/run-state';
import type { UsecaseDeps } from './deps';
import type { RunReader } from './ports';

/** A state and how it was reached: the snapshot that it starts from (0: none) and the number of events after it. */
export interface FoldedState {
  readonly state: RunState;
  readonly snapshotSeq: Seq;
  readonly events: number;
}

const PAGE = 1_000;

/**
 * State at `at` (at most the head): nearest snapshot, then the journal's tail. The head's state is the run's own. What
 * another version of the fold had stored is passed over, and the journal folded anew.
 */
export async function stateAt(
  deps: Pick<UsecaseDeps, 'store'>,
  run: RunRecord,
  at: Seq,
): Promise<FoldedState> {
  if (at >= run.headSeq && isOurs(run.state))
    return { state: run.state, snapshotSeq: run.headSeq, events: 0 };
  const snapshot = await deps.store.snapshot(run.runId, at);
  if (snapshot !== undefined && !isOurs(snapshot.state)) return foldedAnew(deps, run, at);
  let state = snapshot?.state ?? emptyState(run.state.agent);
  const snapshotSeq = snapshot?.seq ?? seq(0);
  let read = 0;
  for await (const page of eventPages(deps.store, run.runId, snapshotSeq, at)) {
    state = foldRun(page, state);
    read += page.length;
  }
  return { state, snapshotSeq, events: read };
}

const isOurs = (state: RunState): boolean => state.fold === FOLD_VERSION;

/** From the first event on, at once: there may be rewinds among them. */
async function foldedAnew(
  { store }: Pick<UsecaseDeps, 'store'>,
  run: RunRecord,
  at: Seq,
): Promise<FoldedState> {
  const events: RunEvent[] = [];
  for await (const page of eventPages(store, run.runId, seq(0), at)) events.push(...page);
  return { state: foldRun(events, emptyState(run.state.agent)), snapshotSeq: seq(0), events: events.length };
}

/** Events in (after, upTo], ascending, a page at a time; of `step.started` only intents where `intents` says so. */
export async function* eventPages(
  store: Pick<RunReader, 'events'>,
  id: RunId,
  after: Seq,
  upTo: Seq,
  kinds?: Parameters<RunReader['events']>[1]['kinds'],
  intents?: boolean,
) {
  let from = after;
  while (from < upTo) {
    const page = await store.events(id, {
      after: from,
      before: (upTo + 1) as Seq,
      limit: PAGE,
      ...(kinds !== undefined && { kinds }),
      ...(intents === true && { intents }),
    });
    if (page.length > 0) yield page;
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    from = last.seq;
  }
}

/** The asked seq, at most the head; absent means the head. */
export const clampToHead = (run: RunRecord, at: Seq | undefined): Seq =>
  at === undefined || at > run.headSeq ? run.headSeq : at;
