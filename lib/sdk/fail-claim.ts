import type { CommandId } from '../core/events/ids';
import type { NewEvent } from '../core/events/run-event';
import { type Claim, type JournalPort, problemText } from './journal-port';
import { recordedError } from './operation';

/**
 * Ends what was claimed and cannot be carried out, or broke off: the run fails, and its order is refused, with the
 * reason. `afterBatch`: the last that was stored in the claim's epoch. Where the journal refuses this end, `warn` hears
 * of it, and giving the lease back leaves to the console how the run stands.
 */
export async function failClaim(
  port: JournalPort,
  claim: Claim,
  thrown: unknown,
  warn: (warning: string) => void,
  afterBatch = 0,
): Promise<void> {
  const error = recordedError(thrown, true);
  const commandId = claim.command?.commandId as CommandId | undefined;
  const events: NewEvent[] = [];
  // A lease for a probe ends nothing of the run.
  if (claim.reason !== 'verify') events.push({ kind: 'run.failed', cause: 'error', error });
  if (commandId !== undefined && (claim.plan !== undefined || claim.reason === 'verify'))
    events.push({ kind: 'command.ended', commandId, outcome: 'refused', detail: error.message });
  const { runId, epoch, headSeq } = claim;
  if (events.length > 0) {
    const batch = { epoch, batch: afterBatch + 1, seenSeq: headSeq, events, payloads: [] };
    const reply = await port.append(runId, batch);
    if (!reply.ok) warn(`${runId}: its end was not recorded: ${problemText(reply.problem)}`);
  }
  await port.release(claim, 'done');
}
