import type { RunId, Sha256 } from '@/lib/core/events/ids';
import { generationsOf, isInDoubt } from '@/lib/core/projections/ledger';
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
  const effect = generationsOf(await deps.store.effects(run.value.root), stepKey).at(-1);
  if (effect === undefined)
    return fail({ kind: 'not-possible', detail: `No effect is recorded for ${stepKey}.` });
  const owner = effect.runId;
  const elsewhere = owner !== runId && (await deps.store.run(owner))?.home === 'mirror';
  // Whether the call is still under way, or was sent again since, only its own console knows: a probe's "not found"
  // would settle an intent that may not be the newest. A person, who can look there, may decide it here.
  if (elsewhere)
    return fail({
      kind: 'not-possible',
      detail: `Run ${owner} sent ${stepKey} and has its home elsewhere: ask downstream there, or decide by hand what happened.`,
    });
  return writeOrder<CommandProblem>(
    deps,
    { runId: owner, effectKeys: [stepKey], commandId, requestDigest },
    (context) => {
      const found = orderedRun(context, owner);
      if (!found.ok) return found;
      const newest = generationsOf(context.effects, stepKey).at(-1);
      if (newest !== undefined && newest.runId !== owner)
        return fail({
          kind: 'intent-changed',
          stepKey,
          intentSeq: newest.intentSeq,
          detail: `Run ${newest.runId} sent ${stepKey} again since; ask for that attempt.`,
        });
      if (newest === undefined || !isInDoubt(newest, context.now)) {
        return fail({
          kind: 'not-in-doubt',
          stepKey,
          detail: `Whether ${stepKey} happened is known: ${newest?.status ?? 'unknown'}.`,
        });
      }
      // Another run may have sent it again since; what its probe found would be written to the wrong journal.
      if (newest.runId !== owner) {
        return fail({
          kind: 'not-possible',
          detail: `Run ${newest.runId} has sent ${stepKey} since: ask again, it is verified there.`,
        });
      }
      if (!newest.intent.verifiable) {
        return fail({
          kind: 'not-possible',
          detail: `The tool of ${stepKey} has no probe: a person has to decide.`,
        });
      }
      return ok({ base: found.value, events: [{ ...acceptance(command, deps.actor), stepKey }] });
    },
  );
}
