import type { EpochMs } from '@/lib/core/events/ids';
import type { Plan, PlannedStep } from '@/lib/core/planner/plan';
import type { PlanAnswer } from '@/lib/wire/v1/runs';
import { iso, isoOrNull, orNull } from './common';

/** A plan and the instant that it was made for. */
export interface DatedPlan {
  readonly plan: Plan;
  readonly plannedAt: EpochMs;
}

export function presentPlan({ plan, plannedAt }: DatedPlan): PlanAnswer {
  const { envelope, leftBehind, drift } = plan;
  return {
    digest: plan.digest,
    mode: plan.mode,
    runId: plan.runId,
    from: { ...plan.from, checkpointId: orNull(plan.from.checkpointId) },
    headSeq: plan.headSeq,
    machineDigest: orNull(plan.machineDigest),
    steps: plan.steps.map(presentStep),
    envelope: {
      states: [...envelope.states],
      tools: envelope.tools.map((tool) => ({ ...tool, states: [...tool.states] })),
      asksPeople: envelope.asksPeople,
      limits: { steps: orNull(envelope.limits.steps), costMicroUsd: orNull(envelope.limits.costMicroUsd) },
    },
    totals: plan.totals,
    leftBehind: {
      steps: leftBehind.steps,
      effects: leftBehind.effects.map((effect) => ({ ...effect, receipt: orNull(effect.receipt) })),
      questions: [...leftBehind.questions],
    },
    drift: {
      source: drift.source,
      differences: drift.differences.map((difference) => ({
        ...difference,
        recorded: orNull(difference.recorded),
        now: orNull(difference.now),
      })),
      blocked: drift.blocked,
    },
    obstacles: plan.obstacles.map((obstacle) => ({ ...obstacle, stepKey: orNull(obstacle.stepKey) })),
    context: plan.context,
    edits: plan.edits.map((edit) => ({ ...edit })),
    decisions: plan.decisions,
    plannedAt: iso(plannedAt),
  };
}

const presentStep = (step: PlannedStep): PlanAnswer['steps'][number] => ({
  key: step.key,
  name: step.name,
  visit: step.visit,
  kind: step.kind,
  effect: orNull(step.effect),
  disposition: step.disposition,
  reason: step.reason,
  seq: step.seq,
  condition: orNull(step.condition),
  ageMs: orNull(step.ageMs),
  receipt: orNull(step.receipt),
  intentSeq: orNull(step.intentSeq),
  guarded: orNull(step.guarded),
  verifiable: orNull(step.verifiable),
  askAgainAt: isoOrNull(step.askAgainAt),
  ownerRunId: orNull(step.ownerRunId),
});
