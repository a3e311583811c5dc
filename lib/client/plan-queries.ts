import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { Result } from '@/lib/core/shared/result';
import { type ApiProblem, apiUrl, orThrow, postJson, runPath } from './api';
import type { CommandAnswer, CommandBody, PlanAnswer, PlanBody } from './api-types';
import { MOMENT_MS, runKeys } from './run-queries';

export const planKeys = {
  plans: (id: string) => [...runKeys.live(id), 'plan'] as const,
  plan: (id: string, body: PlanBody) => [...planKeys.plans(id), body] as const,
};

/** What an order would do. Changes nothing, so it is a query; it is asked again whenever the run moves. */
export const planQuery = (id: string, body: PlanBody) =>
  queryOptions({
    queryKey: planKeys.plan(id, body),
    queryFn: async ({ signal }) =>
      orThrow(await postJson<PlanAnswer>(apiUrl(runPath(id, '/plan')), body, signal)),
    gcTime: MOMENT_MS,
    placeholderData: keepPreviousData,
    retry: false,
  });

/** Gives an order. The same `commandId` again gets the first answer, so a repeat after a lost answer is safe. */
export const sendCommand = (id: string, body: CommandBody): Promise<Result<CommandAnswer, ApiProblem>> =>
  postJson<CommandAnswer>(apiUrl(runPath(id, '/commands')), body);

/** A fresh id for an order: one for each press of a button, kept for its retries. */
export const newCommandId = (): CommandBody['commandId'] =>
  `cmd_${crypto.randomUUID()}` as CommandBody['commandId'];
