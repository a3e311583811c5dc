import type { RunId } from '@/lib/core/events/ids';
import type { Payload, PayloadRef } from '@/lib/core/events/payload';
import { payloadRefsOf } from '@/lib/core/events/payload-refs';
import {
  type AppendAnswer,
  type AppendAsk,
  type AppendProblem,
  appendBatch,
  startedIn,
} from '@/lib/core/journal/append-batch';
import { effectKeysOf } from '@/lib/core/projections/ledger';
import { fail, ok, type Result } from '@/lib/core/shared/result';
import type { UsecaseDeps } from './deps';
import { type BadPayload, type NotFound, noRun, type UnknownPayloads } from './problems';
import { badReference, referredBeyond } from './references';

export interface AppendEventsAsk extends AppendAsk {
  readonly runId: RunId;
  /** Payloads that travel with the batch; their digests were checked. */
  readonly payloads: readonly Payload[];
}

export type AppendEventsProblem =
  | Exclude<AppendProblem, { readonly kind: 'needs-ledger' | 'not-found' }>
  | NotFound
  | UnknownPayloads
  | BadPayload;

/** A lease holder's batch, whole or not at all; resolves once it is synced to disk. */
export async function appendEvents(
  deps: Pick<UsecaseDeps, 'store' | 'hash'>,
  ask: AppendEventsAsk,
): Promise<Result<AppendAnswer, AppendEventsProblem>> {
  const refs = referredBeyond(ask.events.flatMap(payloadRefsOf), ask.payloads);
  if (!refs.ok) return refs;
  const first = await commitBatch(deps, ask, refs.value, effectKeysOf(ask.events));
  const result =
    !first.ok && first.problem.kind === 'needs-ledger'
      ? await commitBatch(deps, ask, refs.value, 'all')
      : first;
  if (result.ok) return result;
  if (result.problem.kind === 'needs-ledger') throw new Error('Broken invariant: the whole ledger was given');
  return result.problem.kind === 'not-found'
    ? { ok: false, problem: noRun(ask.runId) }
    : { ok: false, problem: result.problem };
}

function commitBatch(
  deps: Pick<UsecaseDeps, 'store' | 'hash'>,
  ask: AppendEventsAsk,
  payloads: readonly PayloadRef[],
  effectKeys: ReturnType<typeof effectKeysOf>,
): Promise<Result<AppendAnswer, AppendProblem | BadPayload>> {
  return deps.store.commit<AppendAnswer, AppendProblem | BadPayload>({
    runId: ask.runId,
    effectKeys,
    stepKeys: startedIn(ask.events),
    batch: { epoch: ask.epoch, batch: ask.batch },
    othersAfter: ask.seenSeq,
    payloads,
    decide: (context) => {
      const decided = appendBatch(context, ask, deps.hash);
      if (!decided.ok) return decided;
      const bad = badReference(context);
      if (bad !== undefined) return fail(bad);
      const { answer, change } = decided.value;
      return ok({
        value: answer,
        change: change === undefined ? undefined : { ...change, payloads: ask.payloads },
      });
    },
  });
}
