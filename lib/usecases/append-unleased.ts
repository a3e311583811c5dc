import type { RunId, Seq } from '@/lib/core/events/ids';
import type { Payload } from '@/lib/core/events/payload';
import { payloadRefsOf } from '@/lib/core/events/payload-refs';
import type { EventKind, NewEvent } from '@/lib/core/events/run-event';
import type { AppendAnswer } from '@/lib/core/journal/append-batch';
import { extend } from '@/lib/core/journal/extend';
import { effectKeysOf } from '@/lib/core/projections/ledger';
import { fail, ok, type Result } from '@/lib/core/shared/result';
import type { UsecaseDeps } from './deps';
import { type NotFound, noRun, type UnknownPayloads } from './problems';

export type AppendUnleasedProblem =
  | NotFound
  | UnknownPayloads
  | { readonly kind: 'moved'; readonly headSeq: Seq }
  | { readonly kind: 'needs-lease'; readonly detail: string }
  | {
      readonly kind: 'refused-event';
      readonly index: number;
      readonly event: EventKind;
      readonly sentence: string;
    };

/** Appends to a run that no worker executes (an upload); `expectedSeq` is the head that the writer knows. */
export async function appendUnleased(
  deps: Pick<UsecaseDeps, 'store'>,
  ask: {
    readonly runId: RunId;
    readonly expectedSeq: Seq;
    readonly events: readonly NewEvent[];
    readonly payloads: readonly Payload[];
  },
): Promise<Result<AppendAnswer, AppendUnleasedProblem>> {
  const brought = new Set(ask.payloads.map((payload) => payload.sha256));
  const wanted = ask.events.flatMap(payloadRefsOf).map((ref) => ref.sha256);
  return deps.store.commit<AppendAnswer, AppendUnleasedProblem>({
    runId: ask.runId,
    effectKeys: effectKeysOf(ask.events),
    payloads: wanted.filter((digest) => !brought.has(digest)),
    decide: ({ run, now, effects, missingPayloads }) => {
      if (run === undefined) return fail(noRun(ask.runId));
      if (run.source === 'sdk') {
        return fail({
          kind: 'needs-lease',
          detail: 'A run that workers execute is written by the holder of its lease alone.',
        });
      }
      if (run.headSeq !== ask.expectedSeq) return fail({ kind: 'moved', headSeq: run.headSeq });
      if (missingPayloads.length > 0) return fail({ kind: 'unknown-payloads', payloads: missingPayloads });
      const refused = refusalOf(ask.events);
      if (refused !== undefined) return fail(refused);
      const change = extend(run, effects, ask.events, { at: now, epoch: run.epoch, by: 'worker' });
      const answer = { firstSeq: (run.headSeq + 1) as Seq, headSeq: change.run.headSeq, others: [] };
      return ok({ value: answer, change: { ...change, payloads: ask.payloads } });
    },
  });
}

/** Orders and rewinds have effects beyond their event; a writer that only records has nothing to order. */
function refusalOf(events: readonly NewEvent[]): AppendUnleasedProblem | undefined {
  const index = events.findIndex(({ kind }) => kind === 'run.rewound' || kind === 'command.accepted');
  const event = events[index];
  if (event === undefined) return undefined;
  return {
    kind: 'refused-event',
    index,
    event: event.kind,
    sentence: `${event.kind} comes with an order or an upload.`,
  };
}
