import type { CommandId, StepKey } from '../core/events/ids';
import type { NewEvent } from '../core/events/run-event';
import type { Agent, SecretSource } from './api';
import type { Clock } from './clock';
import { type Batch, type Claim, type JournalPort, type LedgerEntry, problemText } from './journal-port';
import { keepLease } from './lease';
import { type ProbeAnswer, probe, verifiedBy } from './probe';
import { read, storedText } from './values';

/**
 * Runs the probe that a person asked for, on a run that nobody holds: answers, appends `effect.verified`, and gives the
 * lease back. Nothing of the run is executed.
 */
export const verifyClaim = (
  port: JournalPort,
  clock: Clock,
  agent: Agent | undefined,
  claim: Claim,
  secrets: SecretSource,
): Promise<void> => keepLease(port, clock, claim, () => verifyHeld(port, clock, agent, claim, secrets));

/** An older generation may be in doubt again while the newest is settled. */
const isInDoubt = ({ status }: LedgerEntry): boolean => status === 'in-doubt';

async function verifyHeld(
  port: JournalPort,
  clock: Clock,
  agent: Agent | undefined,
  claim: Claim,
  secrets: SecretSource,
): Promise<void> {
  const { command } = claim;
  const entries = await port.ledger(claim.runId);
  const entry = entries
    .filter(({ stepKey, runId }) => stepKey === command?.stepKey && runId === claim.runId)
    .sort((a, b) => Number(isInDoubt(b)) - Number(isInDoubt(a)) || b.intentSeq - a.intentSeq)[0];
  const tool = entry === undefined ? undefined : agent?.tools[entry.name];
  const commandId = command?.commandId as CommandId | undefined;
  const events: NewEvent[] = [];
  let answer: ProbeAnswer | undefined;
  if (entry !== undefined && tool !== undefined) {
    const input = entry.input === undefined ? undefined : read(storedText(await port.payload(entry.input)));
    answer = await probe(tool, input, {
      runId: claim.runId,
      stepKey: entry.stepKey,
      idempotencyKey: entry.idempotencyKey,
      attempt: entry.attempt,
      askAgainAt: entry.askAgainAt,
      clock,
      secrets,
    });
    events.push(verifiedBy(answer, entry.stepKey, entry.intentSeq, commandId));
  }
  if (commandId !== undefined)
    events.push(
      answer === undefined
        ? { kind: 'command.ended', commandId, outcome: 'refused', detail: whyNot(command?.stepKey, entry) }
        : { kind: 'command.ended', commandId, outcome: 'done' },
    );
  const payloads = answer?.result === undefined ? [] : [answer.result];
  const append = (batch: Pick<Batch, 'events' | 'payloads'>) =>
    port.append(claim.runId, { epoch: claim.epoch, batch: 1, seenSeq: claim.headSeq, ...batch });
  if (events.length > 0) {
    const reply = await append({ events, payloads });
    // Left open it would be taken up again, and the downstream asked again, without an end.
    if (!reply.ok && reply.problem.kind !== 'stale-epoch') {
      throw new Error(`the probe’s answer was not taken: ${problemText(reply.problem)}`);
    }
  }
  await port.release(claim, 'done');
}

const whyNot = (stepKey: StepKey | undefined, entry: LedgerEntry | undefined): string =>
  entry === undefined
    ? `This run has not sent ${stepKey}, so there is nothing to ask about.`
    : `The worker that was to ask has no tool named ${entry.name}.`;
