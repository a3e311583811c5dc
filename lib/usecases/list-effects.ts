import { type RunId, type Seq, seq } from '@/lib/core/events/ids';
import type { EventKind, RunEvent } from '@/lib/core/events/run-event';
import {
  callsIn,
  doubtsAwaited,
  effectStatusNow,
  isUnsettled,
  ledgerChanges,
  ledgerOf,
  putInLedger,
} from '@/lib/core/projections/ledger';
import type { EffectRecord, RunRecord } from '@/lib/core/projections/records';
import { emptyState } from '@/lib/core/projections/run-state';
import { ok, type Result } from '@/lib/core/shared/result';
import type { UsecaseDeps } from './deps';
import { ofOneEdition } from './one-edition';
import type { NotFound } from './problems';
import { eventPages, stateAt } from './state-at';

/**
 * The lineage's effect ledger, every generation, oldest intent first, its status judged by the clock. With `at` (before the head): the effects of this
 * run alone, as the ledger stood then, since a seq does not order what other runs did.
 */
export async function listEffects(
  deps: Pick<UsecaseDeps, 'store'>,
  ask: { readonly runId: RunId; readonly at: Seq | undefined },
): Promise<Result<readonly EffectRecord[], NotFound>> {
  return ofOneEdition(deps, ask.runId, async (run) => {
    const rows =
      ask.at === undefined || ask.at >= run.headSeq
        ? await ledgerNow(deps, run)
        : await ledgerAt(deps, run, ask.at);
    return ok([...rows].sort((a, b) => a.firstIntentAt - b.firstIntentAt || a.intentSeq - b.intentSeq));
  });
}

async function ledgerNow(deps: Pick<UsecaseDeps, 'store'>, run: RunRecord): Promise<readonly EffectRecord[]> {
  const now = deps.store.clock.now();
  const rows = await deps.store.effects(run.root);
  return rows.map((row) => ({ ...row, status: effectStatusNow(row, now) }));
}

/** What changes the ledger without being bound to one call's end. */
const LEDGER_KINDS = [
  'step.started',
  'step.failed',
  'run.waiting',
  'run.interrupted',
  'run.failed',
  'run.cancelled',
  'run.resumed',
  'effect.verified',
  'effect.decided',
] as const satisfies readonly EventKind[];

/**
 * Folds only what changes the ledger: intents, failures, stops, answers, and those completions that confirmed an effect,
 * which today's rows name by seq (what is confirmed stays so). A stop needs the state before it, from its snapshot.
 */
async function ledgerAt(
  deps: Pick<UsecaseDeps, 'store'>,
  run: RunRecord,
  at: Seq,
): Promise<readonly EffectRecord[]> {
  const events: RunEvent[] = [];
  for await (const page of eventPages(deps.store, run.runId, seq(0), at, LEDGER_KINDS, true))
    events.push(...page);
  events.push(...(await completions(deps, run, at)));
  events.sort((a, b) => a.seq - b.seq);
  const ledger = ledgerOf([]);
  for (const event of events) {
    const needsState = movesOpenEffects(event) && [...ledger.values()].flat().some(isUnsettled);
    const before = needsState
      ? (await stateAt(deps, run, seq(event.seq - 1))).state
      : emptyState(run.state.agent);
    for (const row of ledgerChanges(ledger, run.root, event, before)) putInLedger(ledger, row);
  }
  return [...ledger.values()].flat();
}

async function completions(
  deps: Pick<UsecaseDeps, 'store'>,
  run: RunRecord,
  at: Seq,
): Promise<readonly RunEvent[]> {
  const confirmed = (await deps.store.effects(run.root))
    .flatMap(callsIn)
    .flatMap((row) =>
      row.runId === run.runId &&
      row.confirmedBy === 'outcome' &&
      row.confirmedSeq !== undefined &&
      row.confirmedSeq <= at
        ? [row.confirmedSeq]
        : [],
    );
  return deps.store.eventsAt(run.runId, confirmed);
}

const movesOpenEffects = (event: RunEvent): boolean =>
  event.kind === 'run.interrupted' ||
  (event.kind === 'run.waiting' && doubtsAwaited(event).length > 0) ||
  event.kind === 'run.failed' ||
  (event.kind === 'run.resumed' && event.revived);
