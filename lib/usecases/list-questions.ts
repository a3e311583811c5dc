import type { RunId } from '@/lib/core/events/ids';
import { questionsInForce } from '@/lib/core/projections/questions';
import type { QuestionRecord } from '@/lib/core/projections/records';
import { ok, type Result } from '@/lib/core/shared/result';
import type { UsecaseDeps } from './deps';
import { ofOneEdition } from './one-edition';
import type { NotFound } from './problems';

export interface QuestionView {
  readonly question: QuestionRecord;
  readonly inForce: boolean;
}

/** Every question that the run asked, oldest first; what a rewind left behind too, with what was answered there. */
export async function listQuestions(
  deps: Pick<UsecaseDeps, 'store'>,
  ask: { readonly runId: RunId },
): Promise<Result<readonly QuestionView[], NotFound>> {
  return ofOneEdition(deps, ask.runId, async (run) => {
    const questions = await deps.store.questions(ask.runId);
    const asked = questionsInForce(questions, run.state);
    return ok(questions.map((question) => ({ question, inForce: asked.has(question) })));
  });
}
