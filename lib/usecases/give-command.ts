import type { RunId } from '@/lib/core/events/ids';
import { assertNever } from '@/lib/core/shared/assert';
import { ok, type Result } from '@/lib/core/shared/result';
import { answerQuestion } from './answer-question';
import { branchRun } from './branch-run';
import {
  answeredBefore,
  type Command,
  type CommandAnswer,
  type CommandProblem,
  commandDigest,
  commandKey,
} from './command';
import { decideEffects } from './decide-effects';
import type { UsecaseDeps } from './deps';
import { orderRecovery } from './order-recovery';
import { orderVerify } from './order-verify';
import { stopRun } from './stop-run';

/** An operator's order. The same `commandId` again gives the first answer, whatever has happened since. */
export async function giveCommand(
  deps: UsecaseDeps,
  ask: { readonly runId: RunId; readonly command: Command },
): Promise<Result<CommandAnswer, CommandProblem>> {
  const { runId, command } = ask;
  const digest = commandDigest(deps, runId, command);
  const before = answeredBefore(await deps.store.answer(commandKey(command.commandId)), digest);
  if (!before.ok) return before;
  if (before.value !== undefined) return ok(before.value);
  switch (command.mode) {
    case 'resume':
    case 'rewind':
      return orderRecovery(deps, runId, { ...command, mode: command.mode }, digest);
    case 'fork':
    case 'replay':
      return branchRun(deps, runId, { ...command, mode: command.mode }, digest);
    case 'verify':
      return orderVerify(deps, runId, command, digest);
    case 'decide':
      return decideEffects(deps, runId, command, digest);
    case 'answer':
      return answerQuestion(deps, runId, command, digest);
    case 'pause':
    case 'cancel':
      return stopRun(deps, runId, command, digest);
    default:
      return assertNever(command, 'command');
  }
}
