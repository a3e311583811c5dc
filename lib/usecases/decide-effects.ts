import type { EpochMs, RunId, Sha256, StepKey } from '@/lib/core/events/ids';
import type { Payload } from '@/lib/core/events/payload';
import type { Decision, NewEvent } from '@/lib/core/events/run-event';
import { liveLease } from '@/lib/core/journal/lease';
import {
  decidedOn,
  doubtsOf,
  isInDoubt,
  isResultUnknown,
  type Ledger,
  ledgerOf,
  newestOf,
} from '@/lib/core/projections/ledger';
import type { EffectRecord, RunRecord } from '@/lib/core/projections/records';
import { own } from '@/lib/core/projections/state-change';
import { fail, ok, type Result } from '@/lib/core/shared/result';
import { closeEpoch } from './close-epoch';
import { acceptance, type CommandAnswer, type CommandOf, type CommandProblem, withdrawn } from './command';
import { deciderOf } from './decider-of';
import type { UsecaseDeps } from './deps';
import { judgedRun, judgeRun } from './judge-leases';
import { takeDecisions } from './load-plan';
import { orderedRun, writeOrder } from './write-order';

type Deps = Pick<UsecaseDeps, 'store' | 'engine' | 'hash' | 'judgedFrom' | 'actor'>;

/**
 * `decide`: a person says what happened to effects in doubt. Each decision goes to the run that owns the intent, where
 * its home is here, and counts for the lineage; it starts nothing.
 */
export async function decideEffects(
  deps: Deps,
  runId: RunId,
  command: CommandOf<'decide'>,
  requestDigest: Sha256,
): Promise<Result<CommandAnswer, CommandProblem>> {
  const judged = await judgedRun(deps, runId);
  if (!judged.ok) return judged;
  const run = judged.value;
  const { decisions, payloads } = takeDecisions(command.decisions, deps.hash);
  if (Object.keys(decisions).length === 0)
    return fail({ kind: 'not-possible', detail: 'The order names no decision.' });
  const owner = await ownerOf(deps, run, decisions);
  return owner.ok ? decideIn(deps, owner.value, command, decisions, payloads, requestDigest) : owner;
}

/**
 * The run that the decisions are appended to. One order is one write of one run, so that it is carried out whole or
 * not at all: effects of several runs are refused, with the run to decide each of them on.
 */
async function ownerOf(
  deps: Deps,
  run: RunRecord,
  decisions: Readonly<Record<string, Decision>>,
): Promise<Result<RunId, CommandProblem>> {
  const ledger = ledgerOf(await deps.store.effects(run.root));
  const lineage = new Map((await deps.store.lineage(run.root)).map((member) => [member.runId, member]));
  const owners = new Map<RunId, StepKey[]>();
  for (const [stepKey, { intentSeq }] of Object.entries(decisions)) {
    const key = stepKey as StepKey;
    const effect = decidedOn(ledger, run.runId, key, intentSeq) ?? ledger.get(key)?.at(-1);
    if (effect === undefined)
      return fail({ kind: 'not-in-doubt', stepKey: key, detail: `No effect is recorded for ${key}.` });
    const owner = lineage.get(effect.runId)?.home === 'here' ? effect.runId : run.runId;
    owners.set(owner, [...(owners.get(owner) ?? []), key]);
  }
  const [first, ...others] = [...owners].map(([runId, stepKeys]) => ({ runId, stepKeys }));
  if (first === undefined) return fail({ kind: 'not-possible', detail: 'The order names no decision.' });
  if (others.length > 0) {
    const runs = [first, ...others];
    const where = runs.map(({ runId, stepKeys }) => `${stepKeys.join(', ')} on run ${runId}`).join('; ');
    return fail({
      kind: 'several-runs',
      runs,
      detail: `One order decides effects of one run. Decide ${where}.`,
    });
  }
  const member = lineage.get(first.runId);
  if (member !== undefined && member.runId !== run.runId) await judgeRun(deps, member);
  return ok(first.runId);
}

async function decideIn(
  deps: Deps,
  owner: RunId,
  command: CommandOf<'decide'>,
  decisions: Readonly<Record<string, Decision>>,
  payloads: readonly Payload[],
  requestDigest: Sha256,
): Promise<Result<CommandAnswer, CommandProblem>> {
  const { commandId } = command;
  const result = await writeOrder<CommandProblem>(
    deps,
    { runId: owner, commandId, requestDigest },
    (context) => {
      const found = orderedRun(context, owner);
      if (!found.ok) return found;
      const run = found.value;
      const ledger = ledgerOf(context.effects);
      let closes = false;
      for (const [stepKey, decision] of Object.entries(decisions)) {
        const key = stepKey as StepKey;
        const effect = decidedOn(ledger, owner, key, decision.intentSeq);
        if (effect === undefined) return fail(noSuchIntent(ledger.get(key)?.at(-1), stepKey, decision));
        const refusal = refusalOf(effect, decision, context.now);
        if (refusal !== undefined) return fail(refusal);
        if (effect.status !== 'confirmed' && mayStillReport(run, effect, ledger)) closes = true;
      }
      const events: readonly NewEvent[] = [
        acceptance(command, deps.actor),
        ...Object.entries(decisions).map(([stepKey, decision]) =>
          decided(command, stepKey, decision, deps.actor),
        ),
        { kind: 'command.ended', commandId, outcome: 'done' },
        ...needlessVerifies(run, decisions, ledger, context.now, deps.judgedFrom),
      ];
      // What its worker did not report may still be under way: its epoch ends here, so that it can report nothing else.
      return ok({ base: closes ? closeEpoch(run) : run, events, payloads });
    },
  );
  if (result.ok || result.problem.kind !== 'not-in-doubt') return result;
  const { stepKey } = result.problem;
  const by = await deciderOf(deps, owner, stepKey, decisions[stepKey]?.intentSeq);
  return by === undefined
    ? result
    : fail({ kind: 'already-answered', by, detail: `${by} decided ${stepKey} already.` });
}

const decided = (
  command: CommandOf<'decide'>,
  stepKey: string,
  decision: Decision,
  actor: string,
): NewEvent => ({
  kind: 'effect.decided',
  stepKey: stepKey as StepKey,
  decision,
  actor,
  reason: command.reason,
  commandId: command.commandId,
});

/**
 * Nobody needs to ask any more what a person has said; a probe that is under way goes on, and so does one for another
 * attempt in doubt.
 */
function needlessVerifies(
  run: RunRecord,
  decisions: Readonly<Record<string, Decision>>,
  ledger: Ledger,
  now: EpochMs,
  judgedFrom: EpochMs,
): readonly NewEvent[] {
  if (liveLease(run, now, judgedFrom)?.mode === 'verify') return [];
  const isSaid = (stepKey: StepKey): boolean => {
    const decision = own(decisions, stepKey);
    if (decision === undefined || decision.outcome === 'hold') return false;
    const doubts = doubtsOf(run.runId, ledger.get(stepKey) ?? [], now);
    return doubts.every(({ intentSeq }) => intentSeq === decision.intentSeq);
  };
  return run.state.verifies
    .filter(({ stepKey }) => isSaid(stepKey))
    .map(({ commandId }) => withdrawn(commandId, 'decided'));
}

const needsResult =
  'A decision that it happened needs the call’s result, which the agent’s code will be given.';
const later = 'Keeping, compensating and running in addition come with a later release.';

function noSuchIntent(newest: EffectRecord | undefined, stepKey: string, decision: Decision): CommandProblem {
  if (newest === undefined)
    return { kind: 'not-in-doubt', stepKey, detail: `No effect is recorded for ${stepKey}.` };
  const { intentSeq } = newest;
  return {
    kind: 'intent-changed',
    stepKey,
    intentSeq,
    detail:
      decision.intentSeq < intentSeq
        ? `${stepKey} was sent again since, at seq ${intentSeq}; the decision is for the attempt at seq ${decision.intentSeq}.`
        : `${stepKey} has no attempt at seq ${decision.intentSeq}; its newest is at seq ${intentSeq}.`,
  };
}

function refusalOf(effect: EffectRecord, decision: Decision, now: EpochMs): CommandProblem | undefined {
  const { stepKey } = effect;
  // That it happened may be known without what it answered: that much a person can still say.
  const asksResult = isResultUnknown(effect) && decision.outcome === 'happened';
  if (!isInDoubt(effect, now) && !asksResult) {
    const detail = `Whether ${stepKey} happened is known: ${effect.status}.`;
    return { kind: 'not-in-doubt', stepKey, detail };
  }
  if (decision.outcome === 'happened' && decision.result === undefined)
    return { kind: 'not-possible', detail: needsResult };
  const known =
    decision.outcome === 'happened' || decision.outcome === 'did-not-happen' || decision.outcome === 'hold';
  return known ? undefined : { kind: 'not-possible', detail: later };
}

/**
 * The call is the lease holder's own newest, and its worker has not said how it ended. A probe's holder made no call, and
 * who sent the step again has nothing more to say of the attempt before.
 */
const mayStillReport = (run: RunRecord, effect: EffectRecord, ledger: Ledger): boolean =>
  run.lease !== undefined &&
  run.lease.mode !== 'verify' &&
  effect.runId === run.runId &&
  effect.epoch === run.lease.epoch &&
  newestOf(ledger, run.runId, effect.stepKey)?.call.intentSeq === effect.intentSeq &&
  !reportedByWorker(run, effect.stepKey);

/** The worker itself appended `step.failed` for the attempt, so nothing of it is under way. */
function reportedByWorker(run: RunRecord, stepKey: string): boolean {
  const step = Object.hasOwn(run.state.open, stepKey) ? run.state.open[stepKey] : run.state.stopped[stepKey];
  return step !== undefined && step.failure !== undefined;
}
