import type { Epoch, EpochMs, LeaseId, Seq, WorkerId } from '@/lib/core/events/ids';
import type { RunEvent } from '@/lib/core/events/run-event';
import { extend } from '@/lib/core/journal/extend';
import { revivalOf } from '@/lib/core/journal/lease';
import type { RunRecord } from '@/lib/core/projections/records';
import { fail, ok, type Result } from '@/lib/core/shared/result';
import type { UsecaseDeps } from './deps';
import { runOfLease } from './lease-id';
import type { Change } from './ports';
import type { NotFound } from './problems';

export type LeaseProblem = NotFound | { readonly kind: 'stale-epoch'; readonly epoch: Epoch };

export interface Heartbeat {
  readonly leaseMs: number;
  readonly others: readonly RunEvent[];
  readonly workerId: WorkerId;
}

/**
 * Makes the lease last for another length from now, and tells what the console appended since `seenSeq`. A lease that
 * lapsed but was not taken over lives on: the run, judged interrupted meanwhile, is revived.
 */
export async function heartbeat(
  deps: Pick<UsecaseDeps, 'store' | 'leaseMs'>,
  ask: { readonly leaseId: LeaseId; readonly epoch: Epoch; readonly seenSeq: Seq },
): Promise<Result<Heartbeat, LeaseProblem>> {
  const runId = runOfLease(ask.leaseId);
  if (runId === undefined) return fail(noLease(ask.leaseId));
  const beat = (effectKeys: 'all' | undefined) =>
    deps.store.commit<Heartbeat, LeaseProblem | { readonly kind: 'needs-ledger' }>({
      runId,
      othersAfter: ask.seenSeq,
      ...(effectKeys !== undefined && { effectKeys }),
      decide: ({ run, now, others, effects }) => {
        const held = heldBy(run, ask);
        if (!held.ok) return held;
        const { lease } = held.value;
        const value = { leaseMs: deps.leaseMs, others, workerId: lease.workerId };
        const expiresAt = (now + deps.leaseMs) as EpochMs;
        const renewed = { ...held.value.run, lease: { ...lease, expiresAt, leaseMs: deps.leaseMs } };
        const { state } = renewed;
        if (
          state.status !== 'interrupted' ||
          state.interruption?.cause !== 'lease-lapsed' ||
          lease.mode === 'verify'
        ) {
          return ok({ value, change: onlyRow(renewed) });
        }
        if (effectKeys === undefined) return fail({ kind: 'needs-ledger' });
        const revival = revivalOf(lease, state);
        const change = extend(renewed, effects, [revival], { at: now, epoch: renewed.epoch, by: 'console' });
        return ok({
          value: { ...value, others: [...others, ...change.events] },
          change: { ...change, payloads: [] },
        });
      },
    });
  const first = await beat(undefined);
  const result = !first.ok && first.problem.kind === 'needs-ledger' ? await beat('all') : first;
  if (result.ok) return result;
  if (result.problem.kind === 'needs-ledger') throw new Error('Broken invariant: the whole ledger was given');
  return fail(result.problem);
}

/** A change of the run's row alone. */
export const onlyRow = (run: RunRecord): Change => ({
  run,
  events: [],
  payloads: [],
  steps: [],
  effects: [],
  questions: [],
  checkpoints: [],
  snapshots: [],
});

export const noLease = (lease: LeaseId): NotFound => ({
  kind: 'not-found',
  detail: `There is no lease ${lease}.`,
});

/** The run and its lease where the caller still holds it. A run that waits for its next claim is nobody's. */
export function heldBy(
  run: RunRecord | undefined,
  ask: { readonly leaseId: LeaseId; readonly epoch: Epoch },
): Result<{ readonly run: RunRecord; readonly lease: NonNullable<RunRecord['lease']> }, LeaseProblem> {
  if (run === undefined) return fail(noLease(ask.leaseId));
  const lease = run.lease;
  const stillHeld = lease?.leaseId === ask.leaseId && run.epoch === ask.epoch;
  if (!stillHeld || (run.state.status === 'queued' && lease.mode !== 'verify')) {
    return fail({ kind: 'stale-epoch', epoch: run.epoch });
  }
  return ok({ run, lease });
}
