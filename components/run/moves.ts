import type { CheckpointRow, StepRow } from '@/lib/client/api-types';
import { indexOf } from '@/lib/client/event-buffer';
import { holesOf, type Span } from '@/lib/client/step-windows';

/** Places that the cursor can jump to, each ascending and without repeats. */
export interface Stops {
  readonly steps: readonly number[];
  readonly checkpoints: readonly number[];
  readonly effects: readonly number[];
}

const ascending = (seqs: readonly number[]) => [...new Set(seqs)].sort((a, b) => a - b);

export function stopsOf(steps: readonly StepRow[], checkpoints: readonly CheckpointRow[]): Stops {
  return {
    steps: ascending(steps.map((step) => step.startedSeq)),
    checkpoints: ascending(checkpoints.map((checkpoint) => checkpoint.seq)),
    effects: ascending(
      steps
        .filter((step) => step.effect === 'external' || step.effect === 'idempotent')
        .map((step) => step.attemptSeq),
    ),
  };
}

/** Index of the last of `items`, which ascend by `seq`, that is not after `seq`; -1 where all are. */
export const lastUpTo = (items: readonly { readonly seq: number }[], seq: number): number =>
  indexOf(items, seq + 1) - 1;

/** The newest checkpoint in force that is not after `seq`. */
export function checkpointUpTo(
  checkpoints: readonly CheckpointRow[],
  seq: number,
): CheckpointRow | undefined {
  let n = lastUpTo(checkpoints, seq);
  while (checkpoints[n]?.inForce === false) n -= 1;
  return checkpoints[n];
}

/** The nearest stop after `seq`; past the last one, the first again. */
export function nextStop(stops: readonly number[], seq: number): number | undefined {
  return stops.find((stop) => stop > seq) ?? stops[0];
}

/** The nearest stop in a direction; `seq` where there is none. */
export function neighbour(stops: readonly number[], seq: number, direction: 1 | -1): number {
  const found = direction === 1 ? stops.find((stop) => stop > seq) : stops.findLast((stop) => stop < seq);
  return found ?? seq;
}

/** As far towards `to` as is known: at the edge of what is not held the move ends, and goes on once that was read. */
export function within(spans: readonly Span[], from: number, to: number): number {
  for (const [after, before] of holesOf(spans)) {
    if (from <= after && to > after) return after + 1;
    if (from > before && to <= before) return before;
  }
  return to;
}
