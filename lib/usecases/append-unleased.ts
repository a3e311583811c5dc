import type { RunId, Seq } from '@/lib/core/events/ids';
import type { Payload } from '@/lib/core/events/payload';
import { payloadRefsOf } from '@/lib/core/events/payload-refs';
import type { EventKind, NewEvent } from '@/lib/core/events/run-event';
import { type AppendAnswer, startedIn, workerKinds } from '@/lib/core/journal/append-batch';
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

/** What the console alone appends has effects beyond its event, and comes with an order or an upload. */
function refusalOf(events: readonly NewEvent[]): AppendUnleasedProblem | undefined {
  const index = events.findIndex((event) => !isWriters(event));
  const event = events[index];
  if (event === undefined) return undefined;
  return {
    kind: 'refused-event',
    index,
    event: event.kind,
    sentence: sentenceOf(event),
  };
}

/** Whether a worker does it: who has no lease says no more than its holder would, and orders are none of its business. */
function isWriters(event: NewEvent): boolean {
  switch (event.kind) {
    case 'run.interrupted':
      return event.cause === 'recorded';
    case 'effect.verified':
      return event.source === 'probe';
    case 'command.ended':
      return false;
    default:
      return workerKinds.has(event.kind);
  }
}

function sentenceOf(event: NewEvent): string {
  switch (event.kind) {
    case 'run.interrupted':
      return 'A writer without a lease says that the recording ends; what became of a lease or an order is the console’s to say.';
    case 'effect.verified':
      return 'A writer without a lease says what a probe found; the late word of a fenced worker comes as evidence.';
    default:
      return `${event.kind} is the console’s to append: it comes with an order or an upload.`;
  }
}
