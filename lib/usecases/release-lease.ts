import type { Epoch, LeaseId } from '@/lib/core/events/ids';
import type { NewEvent } from '@/lib/core/events/run-event';
import { extend } from '@/lib/core/journal/extend';
import { waitsForAnswered } from '@/lib/core/journal/lease';
import type { RunRecord, RunState } from '@/lib/core/projections/records';
import { fail, ok, type Result } from '@/lib/core/shared/result';
import type { UsecaseDeps } from './deps';
import { heldBy, type LeaseProblem, noLease, onlyRow } from './heartbeat';
import { runOfLease } from './lease-id';

export type ReleaseOutcome = 'done' | 'waiting' | 'paused' | 'hand-over';

/**
 * The worker gives a run back. What the console has to append then: a hand-over queues the run for another worker;
 * a wait whose answer came before the lease was given back is queued at once; a pending cancel is carried out.
 */
export async function releaseLease(
  deps: Pick<UsecaseDeps, 'store' | 'engine'>,
  ask: { readonly leaseId: LeaseId; readonly epoch: Epoch; readonly outcome: ReleaseOutcome },
): Promise<Result<{ readonly released: true }, LeaseProblem>> {
  const runId = runOfLease(ask.leaseId);
  if (runId === undefined) return fail(noLease(ask.leaseId));
  const result = await deps.store.commit<{ readonly released: true }, LeaseProblem>({
    runId,
    effectKeys: 'all',
    decide: ({ run, now, effects }) => {
      const held = heldBy(run, ask);
      if (!held.ok) return held;
      const { lease, ...free } = held.value.run;
      const events = eventsOf(held.value.run, ask.outcome);
      if (events.length === 0) return ok({ value: { released: true }, change: onlyRow(free) });
      const change = extend(free, effects, events, { at: now, epoch: free.epoch, by: 'console' });
      return ok({ value: { released: true }, change: { ...change, payloads: [] } });
    },
  });
  // A verify lease may have kept a queued resume waiting, too.
  if (result.ok) deps.engine.wake(runId);
  return result;
}

function eventsOf(run: RunRecord, outcome: ReleaseOutcome): readonly NewEvent[] {
  const { state, lease } = run;
  if (state.finished || lease?.mode === 'verify') return [];
  const { pending } = state;
  if (pending?.mode === 'cancel') return cancelled(pending.commandId);
  switch (state.status) {
    case 'running':
      // An effect that is still open may have left: its epoch ends here, so that it counts as in doubt.
      return outcome === 'hand-over' && !hasOpenEffect(state)
        ? [{ kind: 'run.queued', reason: 'hand-over' }]
        : [
            {
              kind: 'run.interrupted',
              cause: 'hand-over',
              ...(lease !== undefined && { workerId: lease.workerId }),
            },
          ];
    case 'waiting':
      return waitsForAnswered(state) ? [{ kind: 'run.queued', reason: 'answer' }] : [];
    default:
      return [];
  }
}

export const cancelled = (commandId: string): readonly NewEvent[] => {
  const id = commandId as Extract<NewEvent, { kind: 'command.ended' }>['commandId'];
  return [
    { kind: 'run.cancelled', commandId: id },
    { kind: 'command.ended', commandId: id, outcome: 'done' },
  ];
};

const hasOpenEffect = (state: RunState): boolean =>
  Object.values(state.open).some((step) => step.intent !== undefined && step.effect === 'external');
