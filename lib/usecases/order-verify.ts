import type { RunId, Sha256 } from '@/lib/core/events/ids';
import { extend } from '@/lib/core/journal/extend';
import { generationsOf, isInDoubt } from '@/lib/core/projections/ledger';
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
import { mirrorOf, noRun } from './problems';

/**
 * `verify`: asks a worker to probe an effect in doubt. Starts nothing: it goes to the holder of the run that owns the
 * intent, else to any worker that has the probe. `runId` of the answer is the owner's.
 */
export async function orderVerify(
  deps: Pick<UsecaseDeps, 'store' | 'engine' | 'judgedFrom' | 'actor'>,
  runId: RunId,
  command: CommandOf<'verify'>,
  requestDigest: Sha256,
): Promise<Result<CommandAnswer, CommandProblem>> {
  const stored = await deps.store.run(runId);
  if (stored === undefined) return fail(noRun(runId));
  const run = await judgeRun(deps, stored);
  const effect = generationsOf(await deps.store.effects(run.root), command.stepKey).at(-1);
  if (effect === undefined)
    return fail({ kind: 'not-possible', detail: `No effect is recorded for ${command.stepKey}.` });
  const key = commandKey(command.commandId);
  const result = await deps.store.commit<CommandAnswer, CommandProblem>({
    runId: effect.runId,
    effectKeys: [command.stepKey],
    answerKey: key,
    decide: (context) => {
      const { run: owner, now } = context;
      const before = answeredBefore(context.answer, requestDigest);
      if (!before.ok) return before;
      if (before.value !== undefined) return ok({ value: before.value, change: undefined });
      if (owner === undefined) return fail(noRun(effect.runId));
      if (owner.home === 'mirror') return fail(mirrorOf(effect.runId));
      const newest = generationsOf(context.effects, command.stepKey).at(-1);
      if (newest === undefined || !isInDoubt(newest, now)) {
        return fail({
          kind: 'not-in-doubt',
          stepKey: command.stepKey,
          detail: `Whether ${command.stepKey} happened is known: ${newest?.status ?? 'unknown'}.`,
        });
      }
      if (!newest.intent.verifiable) {
        return fail({
          kind: 'not-possible',
          detail: `The tool of ${command.stepKey} has no probe: a person has to decide.`,
        });
      }
      const accepted = { ...acceptance(command, deps.actor), stepKey: command.stepKey };
      const change = extend(owner, context.effects, [accepted], {
        at: now,
        epoch: owner.epoch,
        by: 'console',
      });
      const value: CommandAnswer = {
        commandId: command.commandId,
        runId: owner.runId,
        headSeq: change.run.headSeq,
      };
      return ok({
        value,
        change: {
          ...change,
          payloads: [],
          answers: [{ key, runId: owner.runId, requestDigest, answer: JSON.stringify(value), at: now }],
        },
      });
    },
  });
  if (result.ok) deps.engine.wake(effect.runId);
  return result;
}
