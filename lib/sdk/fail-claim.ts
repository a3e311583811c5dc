import type { CommandId } from '../core/events/ids';
import type { NewEvent } from '../core/events/run-event';
import type { Claim, JournalPort } from './journal-port';
import { recordedError } from './operation';

/** Ends what was claimed and cannot be carried out at all: the run fails, and its order is refused, with the reason. */
export async function failClaim(port: JournalPort, claim: Claim, thrown: unknown): Promise<void> {
  const error = recordedError(thrown, true);
  const commandId = claim.command?.commandId as CommandId | undefined;
  const events: NewEvent[] = [];
  // A lease for a probe ends nothing of the run.
  if (claim.reason !== 'verify') events.push({ kind: 'run.failed', cause: 'error', error });
  if (commandId !== undefined && (claim.plan !== undefined || claim.reason === 'verify'))
    events.push({ kind: 'command.ended', commandId, outcome: 'refused', detail: error.message });
  const { runId, epoch, headSeq } = claim;
  if (events.length > 0)
    await port.append(runId, { epoch, batch: 1, seenSeq: headSeq, events, payloads: [] });
  await port.release(claim, 'done');
}
