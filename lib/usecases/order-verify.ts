import type { EpochMs, RunId, Sha256, StepKey } from '@/lib/core/events/ids';
import { generationsOf, isInDoubt } from '@/lib/core/projections/ledger';
import type { EffectRecord } from '@/lib/core/projections/records';
import { fail, ok, type Result } from '@/lib/core/shared/result';
import { acceptance, type CommandAnswer, type CommandOf, type CommandProblem } from './command';
import type { UsecaseDeps } from './deps';
import { judgedRun } from './judge-leases';
import { orderedRun, writeOrder } from './write-order';

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
  const run = await judgedRun(deps, runId);
  if (!run.ok) return run;
  const { commandId, stepKey } = command;
  const effect = askedOf(await deps.store.effects(run.value.root), stepKey, deps.store.clock.now());
  if (effect === undefined)
    return fail({ kind: 'not-possible', detail: `No effect is recorded for ${stepKey}.` });
  const owner = effect.runId;
  const elsewhere = owner !== runId && (await deps.store.run(owner))?.home === 'mirror';
  // Whether the call is still under way, or was sent again since, only its own console knows: a probe's "not found"
  // would settle an intent that may not be the newest. A person, who can look there, may decide it here.
  if (elsewhere)
    return fail({
      kind: 'not-possible',
      detail: `Run ${owner} intended ${stepKey} and has its home elsewhere: ask downstream there, or decide what happened.`,
    });
  return writeOrder<CommandProblem>(
    deps,
    { runId: owner, effectKeys: [stepKey], commandId, requestDigest },
    (context) => {
      const found = orderedRun(context, owner);
      if (!found.ok) return found;
      const now = askedOf(context.effects, stepKey, context.now);
      // What the probe of another run's attempt finds would be written to the wrong journal.
      if (now !== undefined && now.runId !== owner)
        return fail({
          kind: 'intent-changed',
          stepKey,
          intentSeq: now.intentSeq,
          detail: `Run ${now.runId} intended ${stepKey} again since; ask for that attempt.`,
        });
      if (now === undefined || !isInDoubt(now, context.now)) {
        return fail({
          kind: 'not-in-doubt',
          stepKey,
          detail: `Whether ${stepKey} happened is known: ${now?.status ?? 'unknown'}.`,
        });
      }
      if (!now.intent.verifiable) {
        return fail({
          kind: 'not-possible',
          detail: `The tool of ${stepKey} has no probe: a person has to decide.`,
        });
      }
      return ok({ base: found.value, events: [{ ...acceptance(command, deps.actor), stepKey }] });
    },
  );
}

/** The effect that a probe for the step is about: the newest in doubt, an older generation's too; else the newest. */
function askedOf(effects: readonly EffectRecord[], stepKey: StepKey, now: EpochMs): EffectRecord | undefined {
  const rows = generationsOf(effects, stepKey);
  return rows.findLast((row) => isInDoubt(row, now)) ?? rows.at(-1);
}
