import type { Epoch, RunId, Seq, StepKey } from '@/lib/core/events/ids';
import type { Payload, PayloadRef } from '@/lib/core/events/payload';
import type { NewEvent, RunEvent } from '@/lib/core/events/run-event';
import { extend } from '@/lib/core/journal/extend';
import type { Json } from '@/lib/core/shared/canonical-json';
import { fail, ok, type Result } from '@/lib/core/shared/result';
import type { UsecaseDeps } from './deps';
import { jsonPayload, refOf } from './payload-of';
import {
  type BadPayload,
  type Mirror,
  mirrorOf,
  type NotFound,
  noRun,
  type UnknownPayloads,
} from './problems';
import { badReference } from './references';

export interface EvidenceAsk {
  readonly runId: RunId;
  readonly epoch: Epoch;
  readonly intentSeq: Seq;
  readonly outcome: 'happened' | 'did-not-happen' | 'unknown';
  readonly result: { readonly ref: PayloadRef } | { readonly value: Json } | undefined;
  readonly receipt: string | undefined;
}

export type EvidenceProblem =
  | NotFound
  | Mirror
  | UnknownPayloads
  | BadPayload
  | { readonly kind: 'no-such-intent'; readonly detail: string };

/**
 * A fenced worker's late outcome, kept as evidence whatever its epoch. It confirms an effect in doubt; what was
 * verified or decided meanwhile stands. The same evidence again adds nothing.
 */
export async function recordEvidence(
  deps: Pick<UsecaseDeps, 'store' | 'hash'>,
  ask: EvidenceAsk,
): Promise<Result<{ readonly headSeq: Seq }, EvidenceProblem>> {
  const stored = await deps.store.run(ask.runId);
  if (stored === undefined) return fail(noRun(ask.runId));
  if (stored.home === 'mirror') return fail(mirrorOf(ask.runId));
  const [intent] = await deps.store.events(ask.runId, { after: (ask.intentSeq - 1) as Seq, limit: 1 });
  if (intent?.kind !== 'step.started' || intent.intent === undefined || intent.epoch !== ask.epoch) {
    return fail({
      kind: 'no-such-intent',
      detail: `Seq ${ask.intentSeq} of run ${ask.runId} is no intent of epoch ${ask.epoch}.`,
    });
  }
  const inline =
    ask.result !== undefined && 'value' in ask.result ? jsonPayload(ask.result.value, deps.hash) : undefined;
  const ref = inline ?? (ask.result !== undefined && 'ref' in ask.result ? ask.result.ref : undefined);
  const evidence = evidenceOf(ask, intent.stepKey, ref);
  const payloads: readonly Payload[] = inline === undefined ? [] : [inline];
  return deps.store.commit<{ readonly headSeq: Seq }, EvidenceProblem>({
    runId: ask.runId,
    effectKeys: [intent.stepKey],
    payloads: ref === undefined || inline !== undefined ? [] : [ref],
    othersAfter: ask.intentSeq,
    decide: (context) => {
      const { run, now, effects, others, missingPayloads } = context;
      if (run === undefined) return fail(noRun(ask.runId));
      if (others.some((event) => isSame(event, evidence)))
        return ok({ value: { headSeq: run.headSeq }, change: undefined });
      if (missingPayloads.length > 0) return fail({ kind: 'unknown-payloads', payloads: missingPayloads });
      const bad = badReference(context);
      if (bad !== undefined) return fail(bad);
      const change = extend(run, effects, [evidence], { at: now, epoch: run.epoch, by: 'console' });
      return ok({ value: { headSeq: change.run.headSeq }, change: { ...change, payloads } });
    },
  });
}

type Word = Extract<NewEvent, { readonly kind: 'effect.verified' }>;

const evidenceOf = (ask: EvidenceAsk, stepKey: StepKey, result: PayloadRef | undefined): Word => ({
  kind: 'effect.verified',
  stepKey,
  intentSeq: ask.intentSeq,
  outcome: ask.outcome,
  source: 'late-worker',
  ...(result !== undefined && { result: refOf(result) }),
  ...(ask.receipt !== undefined && { receipt: ask.receipt }),
});

const isSame = (event: RunEvent, word: Word): boolean =>
  event.kind === 'effect.verified' &&
  event.source === word.source &&
  event.intentSeq === word.intentSeq &&
  event.outcome === word.outcome &&
  event.result?.sha256 === word.result?.sha256 &&
  event.receipt === word.receipt;
