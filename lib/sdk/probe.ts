import type { Seq, StepKey } from '../core/events/ids';
import type { EventOf, NewEvent } from '../core/events/run-event';
import type { SecretSource, Tool, ToolCall } from './api';
import type { Clock } from './clock';
import { recordedError } from './operation';
import { withoutSecrets } from './secret-texts';
import { noSecrets, secretsOf } from './secrets';
import { bounded, receiptText, textOf } from './texts';
import { type Stored, store } from './values';

/** What a probe found out, as it is recorded. */
export interface ProbeAnswer {
  readonly outcome: 'happened' | 'did-not-happen' | 'unknown';
  readonly result?: Stored;
  readonly receipt?: string;
  readonly note?: string;
}

/** The call that a probe asks about. */
export interface ProbeCall {
  readonly runId: string;
  readonly stepKey: string;
  readonly idempotencyKey: string;
  readonly attempt: number;
  /** Before this instant the call may still take effect, so "not found" says nothing. */
  readonly askAgainAt: number;
  readonly clock: Clock;
  readonly secrets: SecretSource;
}

/** A probe's answer as an event; `commandId`: the order of the person who asked. */
export const verifiedBy = (
  { outcome, result, receipt, note }: ProbeAnswer,
  stepKey: StepKey,
  intentSeq: Seq,
  commandId: EventOf<'effect.verified'>['commandId'],
): NewEvent => ({
  kind: 'effect.verified',
  stepKey,
  intentSeq,
  outcome,
  source: 'probe',
  ...(result === undefined ? {} : { result: result.ref }),
  ...(receipt === undefined ? {} : { receipt }),
  ...(note === undefined ? {} : { note }),
  ...(commandId === undefined ? {} : { commandId }),
});

/** Asks a tool's `verify`. Its own failure is an unknown outcome, and so is "not found" asked too early. */
export async function probe(tool: Tool, args: unknown, call: ProbeCall): Promise<ProbeAnswer> {
  if (tool.verify === undefined) return { outcome: 'unknown', note: 'the tool declares no probe' };
  const { askAgainAt, clock, secrets: source, ...rest } = call;
  const secrets = (await secretsOf(tool, source, clock)) ?? noSecrets;
  if (!secrets.ok) return { outcome: 'unknown', note: `the probe was not asked: ${secrets.why}` };
  const asked = clock.now();
  const abort = new AbortController();
  const given: ToolCall = { ...rest, signal: abort.signal, secrets: secrets.values };
  let cancelTimer: () => void = () => undefined;
  const late = new Promise<never>((_, reject) => {
    cancelTimer = clock.after(tool.timeoutMs, () => {
      abort.abort();
      reject(new Error(`the probe did not answer within ${tool.timeoutMs} ms`));
    });
  });
  try {
    const answer = await Promise.race([tool.verify(args, given), late]);
    if (answer.outcome === 'happened') {
      return {
        outcome: 'happened',
        result: store(answer.result, 'the probe’s result'),
        ...(answer.receipt === undefined ? {} : { receipt: receiptText(answer.receipt) }),
      };
    }
    if (answer.outcome === 'unknown') {
      const { note } = answer;
      return {
        outcome: 'unknown',
        ...(note === undefined ? {} : { note: withoutSecrets(textOf(() => note)) }),
      };
    }
    if (answer.outcome !== 'did-not-happen')
      return { outcome: 'unknown', note: 'the probe gave no known outcome' };
    if (asked < askAgainAt) {
      return {
        outcome: 'unknown',
        note: `not found, but the call may still settle; ask again at ${new Date(askAgainAt).toISOString()}`,
      };
    }
    return { outcome: 'did-not-happen' };
  } catch (error) {
    return {
      outcome: 'unknown',
      note: bounded(`the probe failed: ${recordedError(error).message}`),
    };
  } finally {
    cancelTimer();
  }
}
