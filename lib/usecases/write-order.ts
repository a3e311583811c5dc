import type { CommandId, RunId, Sha256 } from '@/lib/core/events/ids';
import type { Payload } from '@/lib/core/events/payload';
import { type Draft, type ExtendOptions, extend } from '@/lib/core/journal/extend';
import { plannedFor } from '@/lib/core/journal/wanted';
import type { RunRecord } from '@/lib/core/projections/records';
import { fail, ok, type Result } from '@/lib/core/shared/result';
import {
  type AcceptedPlan,
  answeredBefore,
  type CommandAnswer,
  type CommandDiffers,
  commandKey,
} from './command';
import type { UsecaseDeps } from './deps';
import type { LoadedPlan } from './load-plan';
import type { WriteAsk, WriteContext } from './ports';
import { type Mirror, mirrorOf, type NotFound, noRun } from './problems';

export interface OrderFrame extends Pick<WriteAsk<never, never>, 'root' | 'effectKeys' | 'also'> {
  /** Run that the order is appended to; for fork and replay the new one. */
  readonly runId: RunId;
  readonly commandId: CommandId;
  readonly requestDigest: Sha256;
  /** The plan that the order carries out: kept with the answer, for its claim. */
  readonly loaded?: LoadedPlan;
}

/** What an order does: events appended to `base`, in its epoch. */
export interface Ordered {
  readonly base: RunRecord;
  readonly events: readonly Draft[];
  readonly options?: ExtendOptions;
  readonly payloads?: readonly Payload[];
}

/**
 * Gives an order in one write, with its answer kept under the order's id: the same order again gets the first answer,
 * whatever `decide` would say now, and another one under that id is refused.
 */
export async function writeOrder<Problem>(
  deps: Pick<UsecaseDeps, 'store' | 'engine'>,
  frame: OrderFrame,
  decide: (context: WriteContext) => Result<Ordered, Problem>,
): Promise<Result<CommandAnswer, Problem | CommandDiffers>> {
  const { runId, root, also, effectKeys = 'all', commandId, requestDigest, loaded } = frame;
  const key = commandKey(commandId);
  const result = await deps.store.commit<CommandAnswer, Problem | CommandDiffers>({
    runId,
    ...(root !== undefined && { root }),
    ...(also !== undefined && { also }),
    effectKeys,
    answerKey: key,
    decide: (context) => {
      const before = answeredBefore(context.answer, requestDigest);
      if (!before.ok) return before;
      if (before.value !== undefined) return ok({ value: before.value, change: undefined });
      const ordered = decide(context);
      if (!ordered.ok) return ordered;
      const { events, options, payloads = [] } = ordered.value;
      const base = loaded ? plannedFor(ordered.value.base, loaded.plan.machineDigest) : ordered.value.base;
      const at = context.now;
      const change = extend(base, context.effects, events, { at, epoch: base.epoch, by: 'console' }, options);
      const { headSeq } = change.run;
      const value: CommandAnswer = { commandId, runId, headSeq };
      const ledgerVersion = context.ledgerVersion + (change.effects.length > 0 ? 1 : 0);
      const accepted = loaded && acceptedPlan(loaded, { headSeq, ledgerVersion });
      const answer = JSON.stringify(accepted === undefined ? value : { ...value, accepted });
      return ok({
        value,
        change: { ...change, payloads, answers: [{ key, runId, requestDigest, answer, at }] },
      });
    },
  });
  if (result.ok) deps.engine.wake(result.value.runId);
  return result;
}

const acceptedPlan = (
  { plan, plannedAt }: LoadedPlan,
  after: Pick<AcceptedPlan, 'headSeq' | 'ledgerVersion'>,
): AcceptedPlan => ({
  plan,
  plannedAt,
  ...(plan.machineDigest !== undefined && { machineDigest: plan.machineDigest }),
  ...after,
});

/** The run that an order is for: it is there, and has its home here. */
export function orderedRun(
  { run }: Pick<WriteContext, 'run'>,
  runId: RunId,
): Result<RunRecord, NotFound | Mirror> {
  if (run === undefined) return fail(noRun(runId));
  return run.home === 'mirror' ? fail(mirrorOf(runId)) : ok(run);
}
