import type { RunId, Sha256 } from '@/lib/core/events/ids';
import type { Payload } from '@/lib/core/events/payload';
import { payloadRefsOf } from '@/lib/core/events/payload-refs';
import {
  type AppendAnswer,
  type AppendAsk,
  type AppendProblem,
  appendBatch,
} from '@/lib/core/journal/append-batch';
import { effectKeysOf } from '@/lib/core/projections/ledger';
import { ok, type Result } from '@/lib/core/shared/result';
import type { UsecaseDeps } from './deps';
import { type NotFound, noRun, type UnknownPayloads } from './problems';

export interface AppendEventsAsk extends AppendAsk {
  readonly runId: RunId;
  /** Payloads that travel with the batch; their digests were checked. */
  readonly payloads: readonly Payload[];
}

export type AppendEventsProblem =
  | Exclude<AppendProblem, { readonly kind: 'needs-ledger' | 'not-found' }>
  | NotFound
  | UnknownPayloads;

/** A lease holder's batch, whole or not at all; resolves once it is synced to disk. */
export async function appendEvents(
  deps: Pick<UsecaseDeps, 'store' | 'hash'>,
  ask: AppendEventsAsk,
): Promise<Result<AppendAnswer, AppendEventsProblem>> {
  const keys = effectKeysOf(ask.events);
  const first = await commitBatch(deps, ask, keys);
  const result =
    !first.ok && first.problem.kind === 'needs-ledger' ? await commitBatch(deps, ask, 'all') : first;
  if (result.ok) return result;
  if (result.problem.kind === 'needs-ledger') throw new Error('Broken invariant: the whole ledger was given');
  return result.problem.kind === 'not-found'
    ? { ok: false, problem: noRun(ask.runId) }
    : { ok: false, problem: result.problem };
}

function commitBatch(
  deps: Pick<UsecaseDeps, 'store' | 'hash'>,
  ask: AppendEventsAsk,
  effectKeys: ReturnType<typeof effectKeysOf>,
): Promise<Result<AppendAnswer, AppendProblem>> {
  return deps.store.commit<AppendAnswer, AppendProblem>({
    runId: ask.runId,
    effectKeys,
    batch: { epoch: ask.epoch, batch: ask.batch },
    othersAfter: ask.seenSeq,
    payloads: referredBeyond(ask),
    decide: (context) => {
      const decided = appendBatch(context, ask, deps.hash);
      if (!decided.ok) return decided;
      const { answer, change } = decided.value;
      return ok({
        value: answer,
        change: change === undefined ? undefined : { ...change, payloads: ask.payloads },
      });
    },
  });
}

/** Digests that the events refer to and the batch does not bring. */
function referredBeyond(ask: AppendEventsAsk): readonly Sha256[] {
  const brought = new Set(ask.payloads.map((payload) => payload.sha256));
  const wanted = new Set<Sha256>();
  for (const event of ask.events) {
    for (const ref of payloadRefsOf(event)) if (!brought.has(ref.sha256)) wanted.add(ref.sha256);
  }
  return [...wanted];
}
