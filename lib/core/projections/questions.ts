import type { QuestionId } from '../events/ids';
import { inForce, segmentsAt } from './effective-path';
import type { QuestionRecord, RunState } from './records';

/** The rows that the path in force at `position` asks: of each question its newest line there. */
export function questionsInForce(
  rows: readonly QuestionRecord[],
  { rewinds, seq }: Pick<RunState, 'rewinds' | 'seq'>,
): ReadonlySet<QuestionRecord> {
  const segments = segmentsAt(rewinds, seq);
  const newest = new Map<QuestionId, QuestionRecord>();
  for (const row of rows) {
    const other = newest.get(row.questionId);
    if (inForce(row.askedSeq, segments) && (other === undefined || other.line < row.line))
      newest.set(row.questionId, row);
  }
  return new Set(newest.values());
}
