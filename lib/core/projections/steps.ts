import type { Seq, StepKey } from '../events/ids';
import { inForce, type Segment, segmentsAt } from './effective-path';
import type { RunState, StepRecord } from './records';

/** The part of a state that says which rows count. */
export type PathPosition = Pick<RunState, 'rewinds' | 'line' | 'seq'>;

/**
 * The rows that are in force at `position`, one for each key, in order of start. Rows of every line go in; what a
 * rewind left behind or what begins after `position.seq` is left out; a row that ended later is given as open.
 * O(rows log rows).
 */
export function stepsAt(rows: readonly StepRecord[], position: PathPosition): readonly StepRecord[] {
  const segments = segmentsAt(position.rewinds, position.seq);
  const newest = new Map<StepKey, StepRecord>();
  for (const row of rows) {
    if (!counts(row, position, segments)) continue;
    const other = newest.get(row.stepKey);
    if (other === undefined || other.line < row.line) newest.set(row.stepKey, row);
  }
  const found = [...newest.values()].map((row) => asOf(row, position.seq, segments));
  return found.sort((a, b) => a.startedSeq - b.startedSeq);
}

/** Whether the row is the one that answers for its key at `position`; `rows` are all rows of that key. */
export function stepInForce(row: StepRecord, rows: readonly StepRecord[], position: PathPosition): boolean {
  return stepAt(rows, row.stepKey, position)?.line === row.line;
}

/** The row in force of one key. */
export function stepAt(
  rows: readonly StepRecord[],
  key: StepKey,
  position: PathPosition,
): StepRecord | undefined {
  return stepsAt(
    rows.filter((row) => row.stepKey === key),
    position,
  )[0];
}

/** Whether the row's outcome is recorded: something that code can be given again. */
export function hasOutcome(row: StepRecord): boolean {
  switch (row.status) {
    case 'completed':
    case 'failed':
    case 'reused':
    case 'skipped':
      return true;
    default:
      return false;
  }
}

const counts = (row: StepRecord, position: PathPosition, segments: readonly Segment[]): boolean =>
  row.line <= position.line && row.startedSeq <= position.seq && inForce(row.startedSeq, segments);

function asOf(row: StepRecord, at: Seq, segments: readonly Segment[]): StepRecord {
  if (row.endedSeq === undefined || (row.endedSeq <= at && inForce(row.endedSeq, segments))) return row;
  const {
    endedSeq: _seq,
    endedAt: _at,
    result: _result,
    message: _message,
    receipt: _receipt,
    failure: _failure,
    error: _error,
    verdict: _verdict,
    source: _source,
    ...open
  } = row;
  return { ...open, status: 'running' };
}
