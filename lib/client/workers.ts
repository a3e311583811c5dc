import { queryOptions, useQuery } from '@tanstack/react-query';
import type { z } from 'zod';
import type { workerRow } from '@/lib/wire/v1/worker';
import { apiUrl, getJson, orThrow } from './api';
import type { Page } from './api-types';
import { source } from './source';
import { whenIdle } from './when-idle';

type WorkerRow = z.output<typeof workerRow>;

/** Who is connected with which code: as long as it is the same, so is what the workers bear on. */
export const workersMark = (workers: readonly Pick<WorkerRow, 'workerId' | 'agents' | 'live'>[]): string =>
  JSON.stringify(
    workers
      .filter((worker) => worker.live)
      .map(({ workerId, agents }) => [workerId, agents.map((each) => [each.name, each.machineDigest]).sort()])
      .sort(),
  );

/** No stream tells of workers: asked for every few seconds while the page is looked at. */
export const workersQuery = queryOptions({
  queryKey: ['workers'],
  queryFn: async ({ signal }) =>
    orThrow(await whenIdle(() => getJson<Page<WorkerRow>>(apiUrl('/workers'), signal))).items,
  refetchInterval: 4_000,
  retry: false,
});

/** Whether a worker with the agent is connected; undefined where that is not known. */
export const useHasWorker = (agent: string): boolean | undefined =>
  useQuery({
    ...workersQuery,
    enabled: source().single !== true,
    select: (workers) =>
      workers.some((worker) => worker.live && worker.agents.some(({ name }) => name === agent)),
  }).data;
