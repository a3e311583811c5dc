import type { RunId, Seq } from '@/lib/core/events/ids';
import type { Payload } from '@/lib/core/events/payload';
import { payloadRefsOf } from '@/lib/core/events/payload-refs';
import type { EventKind, NewEvent } from '@/lib/core/events/run-event';
import { type AppendAnswer, startedIn } from '@/lib/core/journal/append-batch';
import { extend } from '@/lib/core/journal/extend';
import { effectKeysOf } from '@/lib/core/projections/ledger';
import { fail, ok, type Result } from '@/lib/core/shared/result';
import type { UsecaseDeps } from './deps';
import { type BadPayload, type NotFound, noRun, type UnknownPayloads } from './problems';
import { badReference, referredBeyond } from './references';

export type AppendUnleasedProblem =
  | NotFound
  | UnknownPayloads
  | BadPayload
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
  const refs = referredBeyond(ask.events.flatMap(payloadRefsOf), ask.payloads);
  if (!refs.ok) return refs;
  return deps.store.commit<AppendAnswer, AppendUnleasedProblem>({
    runId: ask.runId,
    effectKeys: effectKeysOf(ask.events),
    stepKeys: startedIn(ask.events),
    payloads: refs.value,
    decide: (context) => {
      const { run, now, effects, steps, missingPayloads } = context;
      if (run === undefined) return fail(noRun(ask.runId));
      if (run.source === 'sdk') {
        return fail({
          kind: 'needs-lease',
          detail: 'A run that workers execute is written by the holder of its lease alone.',
        });
      }
      if (run.headSeq !== ask.expectedSeq) return fail({ kind: 'moved', headSeq: run.headSeq });
      if (missingPayloads.length > 0) return fail({ kind: 'unknown-payloads', payloads: missingPayloads });
      const bad = badReference(context);
      if (bad !== undefined) return fail(bad);
      const refused = refusalOf(ask.events);
      if (refused !== undefined) return fail(refused);
      const stamp = { at: now, epoch: run.epoch, by: 'worker' } as const;
      const change = extend(run, effects, ask.events, stamp, { steps });
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
