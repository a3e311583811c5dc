import type { RunId, Seq } from '@/lib/core/events/ids';
import { segmentsAt } from '@/lib/core/projections/effective-path';
import type { RunRecord, StepRecord } from '@/lib/core/projections/records';
import { stepsAt } from '@/lib/core/projections/steps';
import { ok, type Result } from '@/lib/core/shared/result';
import type { UsecaseDeps } from './deps';
import { ofOneEdition } from './one-edition';
import type { Page } from './ports';
import type { NotFound } from './problems';

export interface StepView {
  readonly step: StepRecord;
  /** False where a rewind left it behind. */
  readonly inForce: boolean;
}

/**
 * Rows of every line by start; those that share a start (kept over a rewind) stay on one page. `total` counts what is
 * in force. The cost is a page's, whatever the run's length.
 */
export async function listSteps(
  deps: Pick<UsecaseDeps, 'store'>,
  ask: { readonly runId: RunId; readonly after: Seq | undefined; readonly limit: number },
): Promise<Result<Page<StepView>, NotFound>> {
  return ofOneEdition(deps, ask.runId, async (run) => {
    const segments = segmentsAt(run.state.rewinds, run.headSeq);
    const [found, total] = await Promise.all([
      deps.store.steps(ask.runId, { limit: ask.limit, ...(ask.after !== undefined && { after: ask.after }) }),
      deps.store.stepCount(ask.runId, segments),
    ]);
    const last = found.at(-1);
    const more =
      last !== undefined &&
      found.length >= ask.limit &&
      (await deps.store.steps(ask.runId, { after: last.startedSeq, limit: 1 })).length > 0;
    const inForce = await rowsInForce(deps, run, found);
    return ok({
      items: found.map((step) => ({ step, inForce: inForce.has(rowKey(step)) })),
      total,
      nextCursor: more ? String(last.startedSeq) : undefined,
    });
  });
}

/** Which of the rows are in force. Without a rewind all are; with one, a key's rows of other lines say. */
async function rowsInForce(
  deps: Pick<UsecaseDeps, 'store'>,
  run: RunRecord,
  rows: readonly StepRecord[],
): Promise<ReadonlySet<string>> {
  if (run.state.rewinds.length === 0) return new Set(rows.map(rowKey));
  const lines = await deps.store.stepsOf(run.runId, [...new Set(rows.map(({ stepKey }) => stepKey))]);
  return new Set(stepsAt(lines, run.state).map(rowKey));
}

const rowKey = (step: StepRecord): string => `${step.line} ${step.stepKey}`;
