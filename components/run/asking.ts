'use client';

import { useQuery } from '@tanstack/react-query';
import { moment } from '@/components/ui/format';
import { useZone, type Zone } from '@/components/ui/zone';
import type { EffectRow, RunSummary } from '@/lib/client/api-types';
import { ELSEWHERE_MS, type Verification, verificationQuery } from '@/lib/client/order-events';
import { useOrder } from '@/lib/client/use-order';
import { useHasWorker } from '@/lib/client/workers';
import { impossibleNow } from './run-words';

/* Asking downstream about an effect in doubt: one order and one set of words, wherever it is offered. */

export const answerView = {
  happened: { tone: 'ok', glyph: 's-completed', words: 'Found: it happened.' },
  'did-not-happen': { tone: 'neutral', glyph: 's-cancelled', words: 'Not found: it did not happen.' },
  unknown: { tone: 'attention', glyph: 's-unknown', words: 'No definite answer.' },
} as const;

/** Who answered, and when. */
export const answeredWords = ({ source, at }: NonNullable<Verification['answer']>, zone: Zone): string =>
  `${source === 'probe' ? 'Asked downstream' : 'A late worker told'}, ${moment(at, zone)}`;

/** Who said whether it happened, and why: a person's word. */
export const decidedWords = (
  { actor, reason, at, decision }: NonNullable<Verification['decided']>,
  zone: Zone,
): string =>
  `${actor} said that it ${decision.outcome === 'did-not-happen' ? 'did not happen' : 'happened'}, ${moment(at, zone)}${reason === '' ? '.' : `: ${reason}`}`;

/** The effect that the key asks about: where the person is, else the first that can be asked about, else the first. */
export function keyedDoubt<Row extends Pick<EffectRow, 'status' | 'verifiable'>>(
  effects: readonly Row[],
  isHere: (effect: Row) => boolean = () => false,
): Row | undefined {
  const doubts = effects.filter(({ status }) => status === 'in-doubt');
  const askable = doubts.filter(({ verifiable }) => verifiable);
  return askable.find(isHere) ?? askable[0] ?? doubts[0];
}

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
  return `The question to downstream was ${ended.outcome}${ended.detail === undefined ? '.' : `: ${ended.detail}`}`;
}

/** What the button says that asks. */
export const askWord = (known: Pick<Verification, 'answer' | 'ended'> | undefined): string =>
  known?.answer || known?.ended ? 'Ask again' : 'Ask downstream';

/** Why downstream cannot be asked just now. */
export function askingReason(
  run: Pick<RunSummary, 'id' | 'actions'>,
  effect: Pick<EffectRow, 'runId' | 'status' | 'verifiable'>,
  lock: string | undefined,
  waits: boolean,
): string | undefined {
  if (effect.status !== 'in-doubt') return 'Its outcome is known';
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
  const { answer } = query.data ?? {};
  const words = query.data && questionWords(query.data, hasWorker, zone);
  const { accepted, clear } = order;
  // From here on, what was read says whether it waits.
  if (accepted !== undefined && query.data?.questions.includes(accepted.commandId)) clear();
  return {
    order,
    query,
    words,
    /** What is known from asking: what the newest question has come to, else the newest answer. */
    said: words ?? (answer && `${answeredWords(answer, zone)}: ${answerView[answer.outcome].words}`),
    reason: askingReason(run, effect, order.lock, query.data?.waits !== undefined),
    ask: () => order.give({ mode: 'verify', reason: '', stepKey: effect.stepKey }, 'Ask downstream'),
  };
}
