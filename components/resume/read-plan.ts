import type { PlanAnswer, PlanMode } from '@/lib/client/api-types';
import { changedSteps } from './plan-differences';
import type { Draft } from './plan-draft';

/* What a person has read, so that a plan which changes by itself is not taken for it. */

/** What a person has chosen: while it stays the same, a plan that differs has changed by itself. */
export interface Chosen {
  readonly mode: PlanMode;
  readonly from: string;
  readonly draft: Draft;
}

/** A plan as it was first shown for a choice, or as it was when the person said that they had read it. */
export interface ReadPlan {
  readonly plan: PlanAnswer;
  readonly of: Chosen;
}

export const isSame = (a: Chosen, b: Chosen): boolean =>
  a.mode === b.mode && a.from === b.from && a.draft === b.draft;

/** A fork or a replay of a run that goes on: what it would copy grows with every step, and nothing of it changes. */
const growsWithTheRun = (before: PlanAnswer, after: PlanAnswer): boolean =>
  (after.mode === 'fork' || after.mode === 'replay') &&
  JSON.stringify([before.machineDigest, before.drift.differences, before.envelope]) ===
    JSON.stringify([after.machineDigest, after.drift.differences, after.envelope]);

/**
 * What counts as read once `plan` has come: the plan itself where the person chose anew, where it changed by what they
 * did themselves (`acted`: keys of effects that they asked about or decided), and where it grows with a run that goes on
 * (`goesOn`). Else what had been read before: `plan` has changed by itself, and is to be shown against that.
 */
export function readOnArrival(
  read: ReadPlan | undefined,
  plan: PlanAnswer,
  of: Chosen,
  { acted, goesOn }: { readonly acted: ReadonlySet<string>; readonly goesOn: boolean },
): ReadPlan {
  if (read === undefined || !isSame(read.of, of)) return { plan, of };
  if (read.plan.digest === plan.digest) return read;
  const byThePerson = [...changedSteps(read.plan, plan)].some((key) => acted.has(key));
  return byThePerson || (goesOn && growsWithTheRun(read.plan, plan)) ? { plan, of } : read;
}
