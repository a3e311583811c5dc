import type { NewEvent } from '@/lib/core/events/run-event';
import { extend } from '@/lib/core/journal/extend';
import { judge } from '@/lib/core/journal/lease';
import type { RunRecord } from '@/lib/core/projections/records';
import { ok } from '@/lib/core/shared/result';
import { closeEpoch } from './close-epoch';
import type { UsecaseDeps } from './deps';
import type { WriteContext } from './ports';
import { cancelled } from './release-lease';

/** Appends what a lapsed lease means to every run that still says `running`. Returns how many were interrupted. */
export async function judgeLeases(deps: Pick<UsecaseDeps, 'store' | 'judgedFrom'>): Promise<number> {
  const now = deps.store.clock.now();
  let interrupted = 0;
  for (const run of await deps.store.heldRuns()) {
    if (judge(run, now, deps.judgedFrom) !== undefined && (await interruptLapsed(deps, run))) interrupted++;
  }
  return interrupted;
}

/** The run as it is once its lapsed lease, if any, is recorded: what orders are planned on. */
export async function judgeRun(
  deps: Pick<UsecaseDeps, 'store' | 'judgedFrom'>,
  run: RunRecord,
): Promise<RunRecord> {
  if (judge(run, deps.store.clock.now(), deps.judgedFrom) === undefined) return run;
  await interruptLapsed(deps, run);
  return (await deps.store.run(run.runId)) ?? run;
}

/** Decided again under the run's lock, by epoch and expiry: a heartbeat that came first wins. */
async function interruptLapsed(
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

/** The lapse, where there is one to record, and the end of a cancel that its holder did not live to carry out. */
export function lapseEvents(
  run: RunRecord,
  now: WriteContext['now'],
  judgedFrom: UsecaseDeps['judgedFrom'],
): readonly NewEvent[] {
  const lapse = judge(run, now, judgedFrom);
  if (lapse === undefined) return [];
  const { pending } = run.state;
  return pending?.mode === 'cancel' ? [lapse, ...cancelled(pending.commandId)] : [lapse];
}
