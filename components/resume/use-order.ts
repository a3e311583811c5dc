'use client';

import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import type { ApiProblem } from '@/lib/client/api';
import type { CommandAnswer, CommandBody, PlanAnswer, PlanBody } from '@/lib/client/api-types';
import { newCommandId, planKeys, sendCommand } from '@/lib/client/plan-queries';

interface Order {
  readonly plan: PlanAnswer;
  readonly body: PlanBody;
  readonly reason: string;
}

/**
 * Gives the order that a plan stands for. An order whose answer never came keeps its id, so that pressing again cannot
 * give it twice; a refusal keeps the plan that was refused, to show what is different in the new one.
 */
export function useOrder(runId: string, onAccepted: (answer: CommandAnswer) => void) {
  const client = useQueryClient();
  const [state, setState] = useState<{
    readonly pending: boolean;
    readonly problem?: ApiProblem;
    readonly plan?: PlanAnswer;
  }>({ pending: false });
  const unanswered = useRef<
    { readonly digest: string; readonly commandId: CommandBody['commandId'] } | undefined
  >(undefined);

  const send = async ({ plan, body, reason }: Order) => {
    const commandId =
      unanswered.current?.digest === plan.digest ? unanswered.current.commandId : newCommandId();
    unanswered.current = { digest: plan.digest, commandId };
    setState({ pending: true });
    const answer = await sendCommand(runId, {
      ...body,
      commandId,
      reason,
      planDigest: plan.digest,
    } as CommandBody);
    if (answer.ok) {
      onAccepted(answer.value);
      return;
    }
    if (answer.problem.status !== 0) unanswered.current = undefined;
    setState({ pending: false, problem: answer.problem, plan });
    await client.invalidateQueries({ queryKey: planKeys.plans(runId) });
  };

  return {
    give: (order: Order) => void send(order),
    clear: () => setState({ pending: false }),
    isPending: state.pending,
    problem: state.problem,
    refusedPlan: state.problem?.kind === 'stale-plan' ? state.plan : undefined,
  };
}
