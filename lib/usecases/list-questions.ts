import type { RunId } from '@/lib/core/events/ids';
import { inForce, segmentsAt } from '@/lib/core/projections/effective-path';
import type { QuestionRecord } from '@/lib/core/projections/records';
import { fail, ok, type Result } from '@/lib/core/shared/result';
import type { UsecaseDeps } from './deps';
import { type NotFound, noRun } from './problems';

export interface QuestionView {
  readonly question: QuestionRecord;
  readonly inForce: boolean;
}

/** Every question that the run asked, oldest first. */
export async function listQuestions(
  deps: Pick<UsecaseDeps, 'store'>,
  ask: { readonly runId: RunId },
): Promise<Result<readonly QuestionView[], NotFound>> {
  const run = await deps.store.run(ask.runId);
  if (run === undefined) return fail(noRun(ask.runId));
  const segments = segmentsAt(run.state.rewinds, run.headSeq);
  const questions = await deps.store.questions(ask.runId);
  return ok(questions.map((question) => ({ question, inForce: inForce(question.askedSeq, segments) })));
}
