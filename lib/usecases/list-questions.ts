import type { RunId } from '@/lib/core/events/ids';
import { questionsInForce } from '@/lib/core/projections/questions';
import type { QuestionRecord } from '@/lib/core/projections/records';
import { fail, ok, type Result } from '@/lib/core/shared/result';
import type { UsecaseDeps } from './deps';
import { type NotFound, noRun } from './problems';

export interface QuestionView {
  readonly question: QuestionRecord;
  readonly inForce: boolean;
}

/** Every question that the run asked, oldest first; what a rewind left behind too, with what was answered there. */
export async function listQuestions(
  deps: Pick<UsecaseDeps, 'store'>,
  ask: { readonly runId: RunId },
): Promise<Result<readonly QuestionView[], NotFound>> {
  const run = await deps.store.run(ask.runId);
  if (run === undefined) return fail(noRun(ask.runId));
  const questions = await deps.store.questions(ask.runId);
  const asked = questionsInForce(questions, run.state);
  return ok(questions.map((question) => ({ question, inForce: asked.has(question) })));
}
