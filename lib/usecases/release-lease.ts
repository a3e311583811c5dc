import type { CommandId, Epoch, LeaseId } from '@/lib/core/events/ids';
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
  if (lease?.mode === 'verify') return [];
  const { pending } = state;
  if (state.finished) return pending?.mode === 'pause' ? [tooLate(pending.commandId)] : [];
  if (pending?.mode === 'cancel') return cancelled(pending.commandId);
  switch (state.status) {
    case 'running':
      return outcome === 'hand-over' && mayGoOn(run)
        ? handedOver(pending)
        : [stopsHere(run), ...late(pending)];
    case 'waiting':
      return waitsForAnswered(state)
        ? [{ kind: 'run.queued', reason: 'answer' }, ...late(pending)]
        : late(pending);
    default:
      return [];
  }
}

/**
 * An effect that is still open may have left: its epoch ends here, so that it counts as in doubt. A replay goes on in
 * no other way than as the replay that was ordered.
 */
const mayGoOn = ({ state, parent }: RunRecord): boolean => !hasOpenEffect(state) && parent?.mode !== 'replay';

const stopsHere = ({ lease }: RunRecord): NewEvent => ({
  kind: 'run.interrupted',
  cause: 'hand-over',
  ...(lease !== undefined && { workerId: lease.workerId }),
});

type Pending = RunRecord['state']['pending'];

/** What was ordered and not carried out yet is the next holder's to do; a pause needs none. */
function handedOver(pending: Pending): readonly NewEvent[] {
  switch (pending?.mode) {
    case 'pause':
      return [
        { kind: 'run.paused' },
        { kind: 'command.ended', commandId: pending.commandId as CommandId, outcome: 'done' },
      ];
    case 'resume':
    case 'rewind':
    case 'fork':
      return [{ kind: 'run.queued', reason: 'command', commandId: pending.commandId as CommandId }];
    default:
      return [{ kind: 'run.queued', reason: 'hand-over' }];
  }
}

const late = (pending: Pending): readonly NewEvent[] =>
  pending?.mode === 'pause' ? [tooLate(pending.commandId)] : [];

/** A pause that its holder had not carried out when the run came to rest in another way, or goes on without it. */
export const tooLate = (id: string): NewEvent => ({
  kind: 'command.ended',
  commandId: id as CommandId,
  outcome: 'withdrawn',
  detail: 'The run stopped in another way before it could be paused.',
});

export const cancelled = (commandId: string): readonly NewEvent[] => {
  const id = commandId as CommandId;
  return [
    { kind: 'run.cancelled', commandId: id },
    { kind: 'command.ended', commandId: id, outcome: 'done' },
  ];
};

const hasOpenEffect = (state: RunState): boolean =>
  Object.values(state.open).some((step) => step.intent !== undefined && step.effect === 'external');
