import type { RunId, Sha256 } from '@/lib/core/events/ids';
import type { NewEvent } from '@/lib/core/events/run-event';
import { extend } from '@/lib/core/journal/extend';
import { liveLease } from '@/lib/core/journal/lease';
import type { QuestionRecord } from '@/lib/core/projections/records';
import { fail, ok, type Result } from '@/lib/core/shared/result';
import {
  acceptance,
  answeredBefore,
  type CommandAnswer,
  type CommandOf,
  type CommandProblem,
  commandKey,
} from './command';
import type { UsecaseDeps } from './deps';
import { judgeRun } from './judge-leases';
import { jsonPayload, refOf } from './payload-of';
import { mirrorOf, noRun } from './problems';

/**
 * `answer`: consumed once, whoever clicks how often. A run that gave its lease back while it waited is queued by it;
 * a holder hears of it with its next append or heartbeat.
 */
export async function answerQuestion(
  deps: Pick<UsecaseDeps, 'store' | 'engine' | 'hash' | 'judgedFrom' | 'actor'>,
  runId: RunId,
  command: CommandOf<'answer'>,
  requestDigest: Sha256,
): Promise<Result<CommandAnswer, CommandProblem>> {
  const stored = await deps.store.run(runId);
  if (stored === undefined) return fail(noRun(runId));
  await judgeRun(deps, stored);
  const value = jsonPayload(command.value, deps.hash);
  const key = commandKey(command.commandId);
  const attempt = () =>
    deps.store.commit<CommandAnswer, CommandProblem | { readonly kind: 'not-open' }>({
      runId,
      effectKeys: 'all',
      answerKey: key,
      decide: (context) => {
        const { run, now } = context;
        const before = answeredBefore(context.answer, requestDigest);
        if (!before.ok) return before;
        if (before.value !== undefined) return ok({ value: before.value, change: undefined });
        if (run === undefined) return fail(noRun(runId));
        if (run.home === 'mirror') return fail(mirrorOf(runId));
        const question = Object.hasOwn(run.state.questions, command.questionId)
          ? run.state.questions[command.questionId]
          : undefined;
        if (question === undefined || question.status !== 'open') return fail({ kind: 'not-open' });
        const changed = changedQuestion(question, command);
        if (changed !== undefined) return fail(changed);
        const lease = liveLease(run, now, deps.judgedFrom);
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
            commandId: command.commandId,
          },
          { kind: 'command.ended', commandId: command.commandId, outcome: 'done' },
          ...(waits ? [{ kind: 'run.queued', reason: 'answer', commandId: command.commandId } as const] : []),
        ];
        const change = extend(run, context.effects, events, { at: now, epoch: run.epoch, by: 'console' });
        const answer: CommandAnswer = { commandId: command.commandId, runId, headSeq: change.run.headSeq };
        const kept = { key, runId, requestDigest, answer: JSON.stringify(answer), at: now };
        return ok({ value: answer, change: { ...change, payloads: [value], answers: [kept] } });
      },
    });
  const result = await attempt();
  if (result.ok) {
    deps.engine.wake(runId);
    return result;
  }
  if (result.problem.kind !== 'not-open') return fail(result.problem);
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
  const questions = await deps.store.questions(runId);
  const question = questions.find(({ questionId }) => questionId === command.questionId);
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
