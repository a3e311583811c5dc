import type { RunId, Sha256 } from '@/lib/core/events/ids';
import type { NewEvent } from '@/lib/core/events/run-event';
import { liveLease } from '@/lib/core/journal/lease';
import { questionsInForce } from '@/lib/core/projections/questions';
import type { QuestionRecord } from '@/lib/core/projections/records';
import { fail, ok, type Result } from '@/lib/core/shared/result';
import { acceptance, type CommandAnswer, type CommandOf, type CommandProblem } from './command';
import type { UsecaseDeps } from './deps';
import { judgedRun } from './judge-leases';
import { jsonPayload, refOf } from './payload-of';
import { refusedAction } from './refused-action';
import { orderedRun, writeOrder } from './write-order';

/**
 * `answer`: consumed once, whoever clicks how often. A run that gave its lease back while it waited is queued by it;
 * a holder hears of it with its next append or heartbeat; one that was stopped keeps it for its resume.
 */
export async function answerQuestion(
  deps: Pick<UsecaseDeps, 'store' | 'engine' | 'hash' | 'judgedFrom' | 'actor'>,
  runId: RunId,
  command: CommandOf<'answer'>,
  requestDigest: Sha256,
): Promise<Result<CommandAnswer, CommandProblem>> {
  const judged = await judgedRun(deps, runId);
  if (!judged.ok) return judged;
  const value = jsonPayload(command.value, deps.hash);
  const { commandId } = command;
  const result = await writeOrder<CommandProblem | { readonly kind: 'not-open' }>(
    deps,
    { runId, commandId, requestDigest },
    (context) => {
      const found = orderedRun(context, runId);
      if (!found.ok) return found;
      const run = found.value;
      const question = Object.hasOwn(run.state.questions, command.questionId)
        ? run.state.questions[command.questionId]
        : undefined;
      if (question === undefined || question.status !== 'open') return fail({ kind: 'not-open' });
      const changed = changedQuestion(question, command);
      if (changed !== undefined) return fail(changed);
      const refused = refusedAction(deps, context, run, 'answer');
      if (refused !== undefined) return fail(refused);
      const lease = liveLease(run, context.now, deps.judgedFrom);
      // A probe's lease hears no answers: the run is queued behind it.
      const waits = run.state.status === 'waiting' && (lease === undefined || lease.mode === 'verify');
      const events: readonly NewEvent[] = [
        acceptance(command, deps.actor),
        {
          kind: 'question.answered',
          questionId: question.questionId,
          stepKey: question.stepKey,
          value: refOf(value),
          actor: deps.actor,
          commandId,
        },
        { kind: 'command.ended', commandId, outcome: 'done' },
        ...(waits ? [{ kind: 'run.queued', reason: 'answer', commandId } as const] : []),
      ];
      return ok({ base: run, events, payloads: [value] });
    },
  );
  if (result.ok || result.problem.kind !== 'not-open') return result as Result<CommandAnswer, CommandProblem>;
  return fail(await whyNotOpen(deps, runId, command));
}

function changedQuestion(question: QuestionRecord, command: CommandOf<'answer'>): CommandProblem | undefined {
  if (question.questionDigest === command.questionDigest) return undefined;
  return {
    kind: 'question-changed',
    questionDigest: question.questionDigest,
    detail: 'The question was asked anew with another text; read it before you answer.',
  };
}

/** What became of a question that is not open: answered by someone, expired, left behind, or never asked. */
async function whyNotOpen(
  deps: Pick<UsecaseDeps, 'store'>,
  runId: RunId,
  command: CommandOf<'answer'>,
): Promise<CommandProblem> {
  const [run, questions] = await Promise.all([deps.store.run(runId), deps.store.questions(runId)]);
  const rows = questions.filter(({ questionId }) => questionId === command.questionId);
  const [inForce] = run === undefined ? [] : questionsInForce(rows, run.state);
  const question = inForce ?? rows.toSorted((a, b) => b.line - a.line)[0];
  if (question === undefined)
    return { kind: 'not-found', detail: `Run ${runId} has no question ${command.questionId}.` };
  if (question.status === 'answered') {
    const by = question.answeredBy ?? 'somebody';
    return { kind: 'already-answered', by, detail: `${by} answered this question already.` };
  }
  return {
    kind: 'not-possible',
    detail:
      question.status === 'expired'
        ? 'The question has expired.'
        : 'The question is not asked on the run’s line in force.',
  };
}
