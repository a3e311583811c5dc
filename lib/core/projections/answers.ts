import type { Seq } from '../events/ids';
import type { EventOf } from '../events/run-event';

/**
 * Whether a `step.reused` or `step.skipped` is an outcome of its own: an answer from the ledger or from another run,
 * which carries its source's run and its result. Else it is a resume's thin note that a recorded outcome of this run
 * answered again. `isOpen`: the step was called and has no outcome yet; `isInForce`: whether a seq of this run lies on
 * the path that is being read.
 */
export function isOutcome(
  event: EventOf<'step.reused'> | EventOf<'step.skipped'>,
  place: { readonly isOpen: boolean; readonly isInForce: (at: Seq) => boolean },
): boolean {
  const { sourceSeq, sourceRunId } = event;
  if (sourceSeq === undefined) return true;
  if (sourceRunId !== undefined && (sourceRunId !== event.runId || event.result !== undefined)) return true;
  return place.isOpen || sourceSeq >= event.seq || !place.isInForce(sourceSeq);
}
