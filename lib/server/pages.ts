import { runId } from '@/lib/core/events/ids';
import { getRun } from '@/lib/usecases/get-run';
import type { RunSummary } from '@/lib/wire/v1/runs';
import { deps } from './container';
import { presentRun } from './present/run';

/* What pages are given with their HTML, so that they need not ask for it. The same as the API answers. */

/** Summary of a run; undefined where there is none. */
export async function readRun(id: string): Promise<RunSummary | undefined> {
  const found = await getRun(await deps(), { runId: runId(id) });
  return found.ok ? presentRun(found.value) : undefined;
}
