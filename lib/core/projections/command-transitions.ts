import type { EventOf } from '../events/run-event';
import { assertNever } from '../shared/assert';
import type { PendingOrder, RunState } from './records';
import { without } from './state-change';

export function accepted(state: RunState, event: EventOf<'command.accepted'>): RunState {
  const pending = { commandId: event.commandId, mode: event.mode, actor: event.actor, seq: event.seq };
  switch (event.mode) {
    case 'decide':
    case 'answer':
      return state;
    case 'verify': {
      if (event.stepKey === undefined) return state;
      const verify = {
        commandId: event.commandId,
        stepKey: event.stepKey,
        actor: event.actor,
        seq: event.seq,
      };
      return { ...state, verifies: [...state.verifies, verify], pending: state.pending ?? pending };
    }
    case 'resume':
    case 'rewind':
    case 'fork':
    case 'replay':
    case 'pause':
    case 'cancel':
      return { ...state, pending };
    default:
      return assertNever(event.mode, 'command mode');
  }
}

/** What the run was given to carry out and has not; a question to downstream is anybody's. */
export const openOrder = ({ pending }: RunState): PendingOrder | undefined =>
  pending?.mode === 'verify' ? undefined : pending;

export function commandEnded(state: RunState, event: EventOf<'command.ended'>): RunState {
  const verifies = state.verifies.filter((verify) => verify.commandId !== event.commandId);
  const { pending, interruption, status } = state;
  if (pending?.commandId !== event.commandId) return { ...state, verifies };
  const rest = { ...without(state, 'pending'), verifies };
  const order = openOrder(state);
  const isLost =
    status === 'interrupted' && interruption?.cause === 'lease-lapsed' && event.outcome === 'withdrawn';
  return isLost && order !== undefined ? { ...rest, interruption: { ...interruption, order } } : rest;
}
