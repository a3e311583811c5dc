import { type Seq, seq, stepKey } from '../events/ids';
import type { PlanFrom } from '../events/run-event';
import type { CheckpointRecord, RunState, StepRecord } from '../projections/records';
import { stepAt } from '../projections/steps';
import { fail, ok, type Result } from '../shared/result';
import type { PlanMode } from './plan';

export type PointProblem =
  /** Resume takes `latest` or the newest checkpoint. */
  | { readonly kind: 'use-rewind'; readonly sentence: string; readonly newestCheckpointId?: string }
  | { readonly kind: 'no-such-point'; readonly from: PlanFrom; readonly sentence: string }
  | { readonly kind: 'replay-from-start'; readonly sentence: string };

/** Where an order starts, resolved from `from`. */
export interface PlanPoint {
  readonly asked: PlanFrom;
  /** The state at this seq is what the order goes on from; 0 is before the first event. */
  readonly seq: Seq;
  readonly checkpointId?: string;
  /** Named by what had just happened. */
  readonly name: string;
}

export interface PointInput {
  readonly head: RunState;
  /** Every row of the run, every line. */
  readonly steps: readonly StepRecord[];
  readonly checkpoints: readonly CheckpointRecord[];
}

/** Resolves `from`. Load the state at `seq` next and give it to `planRun` as `point` where `seq` is not the head's. */
export function resolvePoint(
  mode: PlanMode,
  from: PlanFrom,
  input: PointInput,
): Result<PlanPoint, PointProblem> {
  const { head } = input;
  if (mode === 'replay') {
    return from === 'start' || from === 'latest'
      ? ok(start(from, head))
      : fail({ kind: 'replay-from-start', sentence: 'A replay runs from the start; give `start`.' });
  }
  if (mode === 'resume') return resumePoint(from, input);
  if (from === 'start') return ok(start(from, head));
  if (from === 'latest') return mode === 'fork' ? ok(newest(from, head)) : newestCheckpoint(from, input);
  return from.startsWith('step:') ? beforeStep(mode, from, input) : atCheckpoint(from, input);
}

const start = (asked: PlanFrom, head: RunState): PlanPoint => ({
  asked,
  seq: head.startSeq ?? seq(0),
  name: 'the start',
});

const newest = (asked: PlanFrom, head: RunState): PlanPoint => ({
  asked,
  seq: head.seq,
  name: head.checkpoint ? `${head.checkpoint.n}, ${head.checkpoint.name}` : 'the newest point',
  ...(head.checkpoint && { checkpointId: head.checkpoint.id }),
});

function resumePoint(from: PlanFrom, input: PointInput): Result<PlanPoint, PointProblem> {
  const { head } = input;
  if (from === 'latest' || from === head.checkpoint?.id || (from === 'start' && head.visit === undefined))
    return ok(newest(from, head));
  const known =
    from === 'start' || from.startsWith('step:') ? beforeOrStart(from, input) : atCheckpoint(from, input);
  if (!known.ok) return known;
  return fail({
    kind: 'use-rewind',
    sentence: 'Resume goes on from the newest point. To go back to an older one, rewind.',
    ...(head.checkpoint && { newestCheckpointId: head.checkpoint.id }),
  });
}

const beforeOrStart = (from: PlanFrom, input: PointInput): Result<PlanPoint, PointProblem> =>
  from === 'start' ? ok(start(from, input.head)) : beforeStep('rewind', from, input);

function newestCheckpoint(from: PlanFrom, { head }: PointInput): Result<PlanPoint, PointProblem> {
  const { checkpoint } = head;
  if (!checkpoint)
    return fail({
      kind: 'no-such-point',
      from,
      sentence: 'The run has no checkpoint yet; give `start` or a step.',
    });
  return ok({
    asked: from,
    seq: checkpoint.seq,
    checkpointId: checkpoint.id,
    name: `${checkpoint.n}, ${checkpoint.name}`,
  });
}

function atCheckpoint(from: PlanFrom, { checkpoints, head }: PointInput): Result<PlanPoint, PointProblem> {
  const checkpoint = checkpoints.find((one) => one.id === from && one.seq <= head.seq);
  if (!checkpoint)
    return fail({ kind: 'no-such-point', from, sentence: `The run has no checkpoint ${from}.` });
  return ok({
    asked: from,
    seq: checkpoint.seq,
    checkpointId: checkpoint.id,
    name: `${checkpoint.n}, ${checkpoint.name}`,
  });
}

/** Just before the step began. A fork may also start from a step that a rewind left behind. */
function beforeStep(
  mode: PlanMode,
  from: PlanFrom,
  { steps, head }: PointInput,
): Result<PlanPoint, PointProblem> {
  const key = stepKey(from.slice('step:'.length));
  const abandoned =
    mode === 'fork'
      ? steps.filter((row) => row.stepKey === key && row.startedSeq <= head.seq).at(-1)
      : undefined;
  const row = stepAt(steps, key, head) ?? abandoned;
  if (!row)
    return fail({ kind: 'no-such-point', from, sentence: `The run has no step ${key} on this line.` });
  return ok({ asked: from, seq: seq(row.startedSeq - 1), name: `before ${row.name}` });
}
