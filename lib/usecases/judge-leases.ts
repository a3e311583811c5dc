import type { RunId } from '@/lib/core/events/ids';
import type { NewEvent } from '@/lib/core/events/run-event';
import { extend } from '@/lib/core/journal/extend';
import { judge, lapsed } from '@/lib/core/journal/lease';
import type { RunRecord } from '@/lib/core/projections/records';
import { fail, ok, type Result } from '@/lib/core/shared/result';
import { closeEpoch, fenceLapsed } from './close-epoch';
import type { UsecaseDeps } from './deps';
import type { WriteContext } from './ports';
import { type NotFound, noRun } from './problems';
import { cancelled, endOf } from './release-lease';

/** Appends what a lapsed lease means to every run whose holder is gone. Returns how many there were. */
export async function judgeLeases(deps: Pick<UsecaseDeps, 'store' | 'judgedFrom'>): Promise<number> {
  const now = deps.store.clock.now();
  let lapses = 0;
  for (const run of await deps.store.heldRuns()) {
    if (lapseEvents(run, now, deps.judgedFrom).length > 0 && (await recordLapse(deps, run))) lapses++;
  }
  return lapses;
}

/** The run by its id, judged. */
export async function judgedRun(
  deps: Pick<UsecaseDeps, 'store' | 'judgedFrom'>,
  runId: RunId,
): Promise<Result<RunRecord, NotFound>> {
  const stored = await deps.store.run(runId);
  return stored === undefined ? fail(noRun(runId)) : ok(await judgeRun(deps, stored));
}

/** The run as it is once its lapsed lease, if any, is recorded: what orders are planned on. */
export async function judgeRun(
  deps: Pick<UsecaseDeps, 'store' | 'judgedFrom'>,
  run: RunRecord,
): Promise<RunRecord> {
  if (lapseEvents(run, deps.store.clock.now(), deps.judgedFrom).length === 0) return run;
  await recordLapse(deps, run);
  return (await deps.store.run(run.runId)) ?? run;
}

/** Decided again under the run's lock, by epoch and expiry: a heartbeat that came first wins. */
async function recordLapse(
  deps: Pick<UsecaseDeps, 'store' | 'judgedFrom'>,
  seen: RunRecord,
): Promise<boolean> {
  const result = await deps.store.commit<boolean, never>({
    runId: seen.runId,
    effectKeys: 'all',
    decide: ({ run, now, effects }: WriteContext) => {
      if (run === undefined || run.epoch !== seen.epoch) return ok({ value: false, change: undefined });
      const events = lapseEvents(run, now, deps.judgedFrom);
      if (events.length === 0) return ok({ value: false, change: undefined });
      const base = afterLapse(run, events);
      const change = extend(base, effects, events, { at: now, epoch: base.epoch, by: 'console' });
      return ok({ value: true, change: { ...change, payloads: [] } });
    },
  });
  return result.ok && result.value;
}

/**
 * The lapse, where there is one to record, and the end of what the dead holder had been given to carry out: a cancel is
 * carried out, anything else withdrawn. An order that nobody has taken up yet leaves the run queued, and stays.
 */
export function lapseEvents(
  run: RunRecord,
  now: WriteContext['now'],
  judgedFrom: UsecaseDeps['judgedFrom'],
): readonly NewEvent[] {
  const lapse = judge(run, now, judgedFrom);
  const { lease, state } = run;
  const { pending, status, finished } = state;
  // A run that rests or has ended stays so without a holder, but nobody is left to carry out its order.
  const isLeft =
    lapse !== undefined ||
    (run.home === 'here' && status !== 'queued' && lease !== undefined && lapsed(lease, now, judgedFrom));
  if (!isLeft) return [];
  const first = lapse === undefined ? [] : [lapse];
  return pending?.mode === 'cancel' && !finished
    ? [...first, ...cancelled(pending.commandId)]
    : [...first, ...endOf(state, 'Its worker was lost.')];
}

/** The run as its lapse leaves it. */
function afterLapse(run: RunRecord, events: readonly NewEvent[]): RunRecord {
  // A cancelled run is nobody's: what its worker would still write is refused by epoch.
  if (run.state.pending?.mode === 'cancel') return closeEpoch(run);
  // No revival takes up again what was withdrawn from a run that only waits: nothing of it is under way, and its holder,
  // should it come back, would do what nobody wants any more.
  const withdraws = events.some(({ kind }) => kind === 'command.ended');
  return run.state.status === 'waiting' && withdraws ? fenceLapsed(run) : run;
}
