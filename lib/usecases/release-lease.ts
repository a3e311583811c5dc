import type { CommandId, Epoch, LeaseId } from '@/lib/core/events/ids';
import type { NewEvent } from '@/lib/core/events/run-event';
import { extend } from '@/lib/core/journal/extend';
import { waitsForAnswered } from '@/lib/core/journal/lease';
import { openOrder } from '@/lib/core/projections/command-transitions';
import { isUnsettled } from '@/lib/core/projections/ledger';
import type { EffectRecord, PendingOrder, RunRecord, RunState } from '@/lib/core/projections/records';
import { fail, ok, type Result } from '@/lib/core/shared/result';
import { withdrawn } from './command';
import type { UsecaseDeps } from './deps';
import { heldBy, type LeaseProblem, noLease, onlyRow } from './heartbeat';
import { runOfLease } from './lease-id';

export type ReleaseOutcome = 'done' | 'waiting' | 'paused' | 'hand-over';

/**
 * The worker gives a run back. What the console has to append then: a hand-over queues the run for another worker;
 * a wait whose answer came before the lease was given back is queued at once; a pending cancel is carried out. An order
 * that is open is handed over with the run, or ends here: nobody is left to carry it out.
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
      const events = eventsOf(held.value.run, ask.outcome, effects);
      if (events.length === 0) return ok({ value: { released: true }, change: onlyRow(free) });
      const change = extend(free, effects, events, { at: now, epoch: free.epoch, by: 'console' });
      return ok({ value: { released: true }, change: { ...change, payloads: [] } });
    },
  });
  // A verify lease may have kept a queued resume waiting, too.
  if (result.ok) deps.engine.wake(runId);
  return result;
}

function eventsOf(
  run: RunRecord,
  outcome: ReleaseOutcome,
  effects: readonly EffectRecord[],
): readonly NewEvent[] {
  const { state, lease } = run;
  if (lease?.mode === 'verify') return [];
  const order = openOrder(state);
  if (state.finished) return endOf(state);
  if (order?.mode === 'cancel') return cancelled(order.commandId);
  switch (state.status) {
    case 'running':
      return outcome === 'hand-over' && mayGoOn(run, order, effects)
        ? handedOver(order)
        : [stopsHere(run), ...endOf(state)];
    case 'waiting':
      return waitsForAnswered(state)
        ? [{ kind: 'run.queued', reason: 'answer' }, ...endOf(state)]
        : endOf(state);
    default:
      return endOf(state);
  }
}

type Order = PendingOrder | undefined;

/** The end of an order that nobody is left to carry out; a run that stands paused has carried out a pause. */
export function endOf(state: RunState, detail = NOT_CARRIED_OUT): readonly NewEvent[] {
  const order = openOrder(state);
  if (order === undefined) return [];
  return state.status === 'paused' && order.mode === 'pause'
    ? [{ kind: 'command.ended', commandId: order.commandId as CommandId, outcome: 'done' }]
    : [withdrawn(order.commandId, detail)];
}

const NOT_CARRIED_OUT = 'The run stopped in another way before it was carried out.';

/**
 * An effect that is still open may have left: its epoch ends here, so that it counts as in doubt. Before an order went
 * live nothing was sent for it, and what stands open from before is what its plan was made on. A replay goes on in no other
 * way than as the replay that was ordered.
 */
function mayGoOn(run: RunRecord, order: Order, effects: readonly EffectRecord[]): boolean {
  if (run.parent?.mode === 'replay') return false;
  const isFresh = order !== undefined && order.mode !== 'pause';
  return isFresh ? !effects.some((effect) => isOut(effect, run)) : !hasOpenEffect(run.state);
}

const isOut = (effect: EffectRecord, { runId, epoch }: RunRecord): boolean =>
  effect.runId === runId && effect.epoch === epoch && effect.effect === 'external' && isUnsettled(effect);

const stopsHere = ({ lease }: RunRecord): NewEvent => ({
  kind: 'run.interrupted',
  cause: 'hand-over',
  ...(lease !== undefined && { workerId: lease.workerId }),
});

/** What was ordered and not carried out yet is the next holder's to do; a pause needs none. */
function handedOver(order: Order): readonly NewEvent[] {
  if (order === undefined) return [{ kind: 'run.queued', reason: 'hand-over' }];
  const commandId = order.commandId as CommandId;
  return order.mode === 'pause'
    ? [{ kind: 'run.paused' }, { kind: 'command.ended', commandId, outcome: 'done' }]
    : [{ kind: 'run.queued', reason: 'command', commandId }];
}

export const cancelled = (commandId: string): readonly NewEvent[] => {
  const id = commandId as CommandId;
  return [
    { kind: 'run.cancelled', commandId: id },
    { kind: 'command.ended', commandId: id, outcome: 'done' },
  ];
};

/** One whose newest attempt surely did not happen is `retrying`. */
const hasOpenEffect = (state: RunState): boolean =>
  Object.values(state.open).some(
    (step) => step.intent !== undefined && step.effect === 'external' && step.status !== 'retrying',
  );
