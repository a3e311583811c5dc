import type { CheckpointRow, StepRow } from '@/lib/client/api-types';

/** Where an order from the cursor starts, for the plan's `from`; or why there is no such point. */
export type CursorPoint = { readonly from: string } | { readonly reason: string };

/**
 * Before the step that the cursor stands in. In a part that a rewind left behind only a fork goes, from that step where
 * no newer one has its key, else from the checkpoint before it in that part.
 */
export function cursorPoint(
  mode: 'fork' | 'rewind',
  at: {
    readonly seq: number;
    readonly step: StepRow | undefined;
    /** Undefined while they are not loaded. */
    readonly steps: readonly StepRow[] | undefined;
    readonly checkpoints: readonly CheckpointRow[] | undefined;
  },
): CursorPoint {
  const { seq, step, steps, checkpoints } = at;
  if (steps === undefined || checkpoints === undefined)
    return { reason: 'Where the cursor stands is not loaded' };
  if (step === undefined) return { from: 'start' };
  if (step.inForce) return { from: `step:${step.stepKey}` };
  if (mode === 'rewind')
    return { reason: 'The cursor stands in a part that a rewind left behind; only a fork goes from there' };
  const newest = steps.filter((row) => row.stepKey === step.stepKey).every((row) => row.line <= step.line);
  if (newest) return { from: `step:${step.stepKey}` };
  const before = checkpoints
    .filter((each) => each.line === step.line && each.seq <= seq)
    .reduce<CheckpointRow | undefined>(
      (best, each) => (best && best.seq > each.seq ? best : each),
      undefined,
    );
  return before
    ? { from: before.id }
    : {
        reason:
          'The cursor stands in a part that a rewind left behind, before its first checkpoint; nothing can start there',
      };
}
