import type { CommandId, RunId } from '@/lib/core/events/ids';
import type { NewEvent } from '@/lib/core/events/run-event';
import { extend } from '@/lib/core/journal/extend';
import { judge, lapsed } from '@/lib/core/journal/lease';
import type { RunRecord } from '@/lib/core/projections/records';
import { fail, ok, type Result } from '@/lib/core/shared/result';
import { closeEpoch } from './close-epoch';
import type { UsecaseDeps } from './deps';
import type { WriteContext } from './ports';
import { type NotFound, noRun } from './problems';
import { cancelled } from './release-lease';

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
      // A cancelled run is nobody's: what its worker would still write is refused by epoch.
      const base = run.state.pending?.mode === 'cancel' ? closeEpoch(run) : run;
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
  const { pending, status } = state;
  // A run that waits goes on waiting without a holder, but nobody is left to carry out its order.
  const isLeft =
    lapse !== undefined ||
    (run.home === 'here' && status === 'waiting' && lease !== undefined && lapsed(lease, now, judgedFrom));
  const first = lapse === undefined ? [] : [lapse];
  if (!isLeft || pending === undefined || pending.mode === 'verify') return first;
  return pending.mode === 'cancel'
    ? [...first, ...cancelled(pending.commandId)]
    : [
        ...first,
        {
          kind: 'command.ended',
          commandId: pending.commandId as CommandId,
          outcome: 'withdrawn',
          detail: 'Its worker was lost.',
        },
      ];
}
