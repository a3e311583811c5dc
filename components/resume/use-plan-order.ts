'use client';

import { useQuery } from '@tanstack/react-query';
import { useRouter } from 'next/navigation';
import { useMemo } from 'react';
import { impossibleNow } from '@/components/run/run-words';
import type { PlanMode, RunSummary } from '@/lib/client/api-types';
import { runHref } from '@/lib/client/url-state';
import { type Order, useOrder } from '@/lib/client/use-order';
import { workersQuery } from '@/lib/client/workers';
import { modes } from './modes';
import { type PlanDifferences, planDifferences } from './plan-differences';
import { holdsIn } from './plan-draft';
import { mayBeClaimed, orderWords, queuedWords } from './plan-order-words';
import type { Planned } from './use-plan';
import type { PlanReads } from './use-plan-reads';

/** The button: what it says, why it cannot be pressed, and what a press does. */
export interface PlanOrder {
  readonly order: Order;
  /** Decides nothing but that effects stay in doubt. */
  readonly holding: Order;
  readonly isHold: boolean;
  /** What is different since the plan was read, though nobody chose anything. */
  readonly differences: PlanDifferences | undefined;
  readonly words: string;
  /** The kind of order cannot be given to this run. */
  readonly impossible: string | undefined;
  readonly locked: string | undefined;
  /** What stands in the way of the plan as it is now. */
  readonly blocked: string | undefined;
  /** The order would wait: nobody is connected that may claim it. */
  readonly queued: string | undefined;
  readonly give: () => void;
}

/** `reason`: the person's. `held`: who holds the run, which no order goes past. */
export function usePlanOrder(
  run: RunSummary,
  mode: PlanMode,
  planned: Planned,
  { effects }: Pick<PlanReads, 'effects'>,
  { reason, held }: { readonly reason: string; readonly held: string | undefined },
): PlanOrder {
  const router = useRouter();
  const { plan, body, read, act, open, isCurrent, problem } = planned;
  const order = useOrder(run.id, 'plan', { onAccepted: (answer) => router.push(runHref(answer.runId)) });
  const holding = useOrder(run.id, 'hold', { onAccepted: () => act(Object.keys(body.decisions ?? {})) });
  // What the order itself changes is no news.
  const before = order.accepted === undefined ? read : undefined;
  const differences = useMemo(
    () => (before && plan && before.digest !== plan.digest ? planDifferences(before, plan) : undefined),
    [before, plan],
  );
  const holds = plan === undefined ? undefined : holdsIn(plan, body, effects);
  if (holds === undefined && holding.accepted !== undefined) holding.clear();
  const impossible = impossibleNow(run, mode);
  const blocked = holds === undefined ? plan?.obstacles[0]?.sentence : undefined;
  const workers = useQuery(workersQuery).data;
  const claimed = plan && mayBeClaimed(plan, run.agent, workers);
  const locked =
    order.lock ??
    holding.lock ??
    impossible ??
    open[0] ??
    (problem ? 'There is no plan for this' : undefined) ??
    (isCurrent ? undefined : 'The plan is being made') ??
    (differences ? 'The plan changed: read it first' : undefined) ??
    blocked;
  const words =
    holds !== undefined
      ? 'Record the hold: nothing runs'
      : plan
        ? orderWords(plan, claimed)
        : modes[mode].word;
  return {
    order,
    holding,
    isHold: holds !== undefined,
    differences,
    words,
    impossible,
    locked,
    blocked,
    queued: claimed === false && holds === undefined ? queuedWords(run.agent) : undefined,
    give: () => {
      if (plan === undefined || locked !== undefined || held !== undefined) return;
      if (holds !== undefined) holding.give({ mode: 'decide', reason, decisions: holds }, words);
      else order.give({ ...body, reason, planDigest: plan.digest }, words);
    },
  };
}
