'use client';

import { useQuery } from '@tanstack/react-query';
import { moment } from '@/components/ui/format';
import { useZone, type Zone } from '@/components/ui/zone';
import type { EffectRow, RunSummary } from '@/lib/client/api-types';
import { ELSEWHERE_MS, type Verification, verificationQuery } from '@/lib/client/order-events';
import { useOrder } from '@/lib/client/use-order';
import { useHasWorker } from '@/lib/client/workers';
import { impossibleNow } from './run-words';

/* Asking a provider about an effect in doubt: one order and one set of words, wherever it is offered. */

export const answerView = {
  happened: { tone: 'ok', glyph: 's-completed', words: 'Found: it happened.' },
  'did-not-happen': { tone: 'neutral', glyph: 's-cancelled', words: 'Not found: it did not happen.' },
  unknown: { tone: 'attention', glyph: 's-unknown', words: 'No definite answer.' },
} as const;

/** Who answered, and when. */
export const answeredWords = ({ source, at }: NonNullable<Verification['answer']>, zone: Zone): string =>
  `${source === 'probe' ? 'Asked the provider' : 'A late worker told'}, ${moment(at, zone)}`;

/** What the newest question has come to, while it has no answer. `hasWorker` is undefined where that is not known. */
export function questionWords(
  { waits, ended }: Pick<Verification, 'waits' | 'ended'>,
  hasWorker: boolean | undefined,
  zone: Zone,
): string | undefined {
  if (waits !== undefined)
    return `Asked by ${waits.actor}, ${moment(waits.at, zone)}. ${
      hasWorker === false
        ? 'No worker that has this agent is connected: it is answered once one with this tool’s probe comes.'
        : 'A worker with this tool’s probe answers it; the answer is shown here.'
    }`;
  if (ended === undefined) return undefined;
  return `The question to the provider was ${ended.outcome}${ended.detail === undefined ? '.' : `: ${ended.detail}`}`;
}

/** Why the provider cannot be asked just now. */
export function askingReason(
  run: Pick<RunSummary, 'id' | 'actions'>,
  effect: Pick<EffectRow, 'runId' | 'status' | 'verifiable'>,
  lock: string | undefined,
  waits: boolean,
): string | undefined {
  if (effect.status !== 'in-doubt') return 'It is settled';
  if (!effect.verifiable) return 'This tool has no probe';
  const impossible = effect.runId === run.id ? impossibleNow(run, 'verify') : undefined;
  return impossible ?? lock ?? (waits ? 'Asked; waits for the answer' : undefined);
}

/** `onAsked`: the question was accepted. */
export function useAsking(run: RunSummary, effect: EffectRow, onAsked?: () => void) {
  const hasWorker = useHasWorker(run.agent);
  const zone = useZone();
  const order = useOrder(
    run.id,
    `verify ${effect.stepKey} ${effect.intentSeq}`,
    onAsked === undefined ? {} : { onAccepted: onAsked },
  );
  const query = useQuery({
    ...verificationQuery(run.id, effect),
    refetchInterval: effect.runId === run.id ? false : ELSEWHERE_MS,
  });
  const { accepted, clear } = order;
  // From here on, what was read says whether it waits.
  if (accepted !== undefined && query.data?.questions.includes(accepted.commandId)) clear();
  return {
    order,
    query,
    words: query.data && questionWords(query.data, hasWorker, zone),
    reason: askingReason(run, effect, order.lock, query.data?.waits !== undefined),
    ask: () => order.give({ mode: 'verify', reason: '', stepKey: effect.stepKey }, 'Ask the provider'),
  };
}
