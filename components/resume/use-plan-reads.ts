'use client';

import { useQuery } from '@tanstack/react-query';
import { type Field, fieldsOf } from '@/components/run/schema-fields';
import type { ApiProblem } from '@/lib/client/api';
import { problemOf } from '@/lib/client/api';
import type { CheckpointRow, EffectRow, GraphAt, RunSummary } from '@/lib/client/api-types';
import { ELSEWHERE_MS } from '@/lib/client/order-events';
import { checkpointsQuery, effectsQuery, graphQuery, machineQuery } from '@/lib/client/run-queries';

/** What the page knows of the run besides its plan. */
export interface PlanReads {
  readonly checkpoints: readonly CheckpointRow[];
  readonly visits: readonly GraphAt['visits'][number][];
  readonly effects: readonly EffectRow[];
  /** Fields of the form for the result of such a call. */
  readonly fieldsFor: (effect: Pick<EffectRow, 'name'>) => readonly Field[];
  /** What of it could not be read. */
  readonly failed:
    | { readonly what: string; readonly problem: ApiProblem; readonly again: () => void }
    | undefined;
}

const NONE: readonly never[] = [];

/** Effects whose outcome is decided here, or known from something else than the call's own answer. */
export const concerns = (effect: EffectRow): boolean =>
  effect.status === 'in-doubt' || (effect.confirmedBy !== null && effect.confirmedBy !== 'outcome');

/** Effects of another run, whose stream this page does not hear. */
export const areElsewhere = (run: RunSummary, effects: readonly EffectRow[]): boolean =>
  effects.some((effect) => effect.status === 'in-doubt' && effect.runId !== run.id);

export function usePlanReads(run: RunSummary): PlanReads {
  const checkpoints = useQuery(checkpointsQuery(run));
  const visits = useQuery(graphQuery(run.id, run.headSeq)).data?.visits ?? NONE;
  const ledger = useQuery({
    ...effectsQuery(run.id),
    refetchInterval: ({ state }) => (areElsewhere(run, state.data?.items ?? NONE) ? ELSEWHERE_MS : false),
  });
  const effects = ledger.data?.items ?? NONE;
  const machine = useQuery({
    ...machineQuery(run.machineDigest ?? ''),
    enabled: run.machineDigest !== null && effects.some(concerns),
  }).data;
  const error = checkpoints.error ?? ledger.error;
  return {
    checkpoints: checkpoints.data?.items ?? NONE,
    visits,
    effects,
    fieldsFor: ({ name }) => fieldsOf(machine?.tools[name]?.result),
    failed:
      error === null
        ? undefined
        : {
            what: checkpoints.isError ? 'The checkpoints' : 'The effects',
            problem: problemOf(error),
            again: () => {
              void checkpoints.refetch();
              void ledger.refetch();
            },
          },
  };
}
