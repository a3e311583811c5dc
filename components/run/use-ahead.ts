'use client';

import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { GraphAt, RunSummary } from '@/lib/client/api-types';
import { machineQuery } from '@/lib/client/run-queries';
import { statesAhead } from './states-ahead';

/** What the machine declares and the run has not entered; the effects of its tools once the machine is read. */
export function useAhead(run: Pick<RunSummary, 'machineDigest'>, whole: GraphAt | undefined) {
  const names = useMemo(() => (whole ? statesAhead(whole) : []), [whole]);
  const calls = names.some(({ tools }) => tools.length > 0);
  const machine = useQuery({
    ...machineQuery(run.machineDigest ?? ''),
    enabled: calls && run.machineDigest !== null,
  }).data;
  return useMemo(
    () =>
      names.map(({ name, tools }) => ({
        name,
        tools: tools.map((tool) => ({ name: tool, effect: machine?.tools[tool]?.effect ?? null })),
      })),
    [names, machine],
  );
}
