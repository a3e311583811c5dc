import type { CommandId, EpochMs, Seq } from '@/lib/core/events/ids';
import type { EventOf, NewEvent } from '@/lib/core/events/run-event';
import { extend } from '@/lib/core/journal/extend';
import { isInDoubt } from '@/lib/core/projections/ledger';
import type { EffectRecord, RunRecord, RunState } from '@/lib/core/projections/records';
import { ok } from '@/lib/core/shared/result';
import type { UsecaseDeps } from './deps';
import type { WriteContext } from './ports';
import { stateAt } from './state-at';

/** Why an accepted order cannot be carried out as it was accepted. */
export interface Stale {
  /** Undefined where the order's event is not found. */
  readonly event: EventOf<'command.accepted'> | undefined;
  readonly because: string;
  /** The ledger that it was seen on. */
  readonly ledgerVersion: number;
}

/**
 * The order ends as refused: what it was to do is no longer what would be done. The run goes back to how it stood; one
 * that the order had made never begins, and says why.
 */
export async function refuseOrder(
  deps: Pick<UsecaseDeps, 'store'>,
  seen: RunRecord,
  { event, because, ledgerVersion }: Stale,
): Promise<void> {
  const what = event?.parent === undefined ? 'order' : event.mode;
  const detail = `What the ${what} would do has changed since it was accepted (${because}). ${whatStands(event, seen)}`;
  const before = event === undefined ? undefined : (await stateAt(deps, seen, (event.seq - 1) as Seq)).state;
  await deps.store.commit<undefined, never>({
    runId: seen.runId,
    effectKeys: 'all',
    decide: (context: WriteContext) => {
      const { run, now, effects } = context;
      if (run === undefined || run.headSeq !== seen.headSeq || context.ledgerVersion !== ledgerVersion)
        return ok({ value: undefined, change: undefined });
      const { pending, queue } = run.state;
      const commandId = (pending?.commandId ?? queue?.commandId) as CommandId | undefined;
      const ended = { kind: 'command.ended', outcome: 'refused', detail } as const;
      const events: readonly NewEvent[] = [
        ...(commandId === undefined ? [] : [{ ...ended, commandId }]),
        standsAs(run, event, before, detail, effects, now),
      ];
      const change = extend(run, effects, events, { at: now, epoch: run.epoch, by: 'console' });
      return ok({ value: undefined, change: { ...change, payloads: [] } });
    },
  });
}

/** What was written with the order stands: history is never taken back. */
function whatStands(event: Stale['event'], { state }: RunRecord): string {
  if (event === undefined) return 'No worker has begun it; look at the plan again.';
  const rewind = state.rewinds.find(({ seq }) => seq > event.seq);
  const stands = [
    ...(event.decisions === undefined ? [] : ['what it decided stands']),
    ...(rewind === undefined ? [] : [`the run was taken back to seq ${rewind.toSeq}`]),
  ].join(', and ');
  return stands === ''
    ? 'Nothing of it was begun; look at the plan again.'
    : `${stands[0]?.toUpperCase()}${stands.slice(1)}; nothing else of it was begun. Look at the plan again.`;
}

function standsAs(
  run: RunRecord,
  event: Stale['event'],
  before: RunState | undefined,
  detail: string,
  effects: readonly EffectRecord[],
  now: EpochMs,
): NewEvent {
  if (event?.parent !== undefined)
    return { kind: 'run.failed', cause: 'refused', error: { type: 'OrderRefused', message: detail } };
  // A rewind has moved the run already: where it stands now, nobody ever held it.
  return before === undefined || event?.mode === 'rewind'
    ? orderRefused
    : asItStood(before, run, effects, now);
}

const orderRefused: NewEvent = { kind: 'run.interrupted', cause: 'order-refused' };

/** The event that gives a run back the status that it had before the order was accepted, as far as that is still true. */
function asItStood(
  before: RunState,
  { state }: RunRecord,
  effects: readonly EffectRecord[],
  now: EpochMs,
): NewEvent {
  switch (before.status) {
    case 'failed': {
      if (before.failure === undefined) return orderRefused;
      const { cause, error, stepKey } = before.failure;
      const failed = { kind: 'run.failed', cause: cause as EventOf<'run.failed'>['cause'], error } as const;
      return stepKey === undefined ? failed : { ...failed, stepKey };
    }
    case 'waiting': {
      const on = before.waitingOn.filter((one) => isStillWaitedFor(one, state, effects, now));
      return on.length === 0 ? orderRefused : { kind: 'run.waiting', on };
    }
    case 'paused':
      return {
        kind: 'run.paused',
        ...(before.pausedBefore !== undefined && { before: before.pausedBefore }),
      };
    case 'interrupted': {
      const { cause, workerId } = before.interruption ?? {};
      return {
        kind: 'run.interrupted',
        cause: (cause ?? 'order-refused') as EventOf<'run.interrupted'>['cause'],
        ...(workerId !== undefined && { workerId }),
      };
    }
    default:
      return orderRefused;
  }
}

function isStillWaitedFor(
  on: RunState['waitingOn'][number],
  state: RunState,
  effects: readonly EffectRecord[],
  now: EpochMs,
): boolean {
  switch (on.for) {
    case 'in-doubt':
      return effects.some((effect) => effect.stepKey === on.stepKey && isInDoubt(effect, now));
    case 'question':
      return Object.values(state.questions).some(
        (question) => question.stepKey === on.stepKey && question.status === 'open',
      );
    default:
      return true;
  }
}
