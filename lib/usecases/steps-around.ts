import { type RunId, type Seq, seq } from '@/lib/core/events/ids';
import { inForce, segmentsAt } from '@/lib/core/projections/effective-path';
import { type GraphVisit, type VisitEvent, visitsOf } from '@/lib/core/projections/graph';
import type { RunRecord } from '@/lib/core/projections/records';
import { ok, type Result } from '@/lib/core/shared/result';
import type { UsecaseDeps } from './deps';
import { listSteps, type StepView } from './list-steps';
import { ofOneEdition } from './one-edition';
import type { NotFound } from './problems';

interface StepsAround {
  /** By start, all that began after `after`, up to `to`. */
  readonly steps: readonly StepView[];
  readonly after: Seq;
  /** Undefined: to the end. */
  readonly to: Seq | undefined;
  /** How many steps of the run are in force. */
  readonly total: number;
  /** Visits in force that were open in that stretch, by entry. */
  readonly visits: readonly GraphVisit[];
}

/** Events before the moment that are looked through for steps: first so many, then, where steps are few, so many. */
const LOOKED_THROUGH = [400, 4_000] as const;
/** Entries and exits of visits that are looked through. */
const VISIT_EVENTS = 200;

/**
 * The steps that began last before `at`, that of `at` among them, at most `before`; and so many after it that they are
 * `before + after` together, where the run has them. Rows that share a start stay together. Undefined where no step
 * began near before `at`. The cost does not grow with the run.
 */
export async function stepsAround(
  deps: Pick<UsecaseDeps, 'store'>,
  ask: { readonly runId: RunId; readonly at: Seq; readonly before: number; readonly after: number },
): Promise<Result<StepsAround | undefined, NotFound>> {
  return ofOneEdition(deps, ask.runId, async (run) => {
    for (const looked of LOOKED_THROUGH) {
      const from = seq(Math.max(0, ask.at - looked));
      const read = await listSteps(deps, {
        runId: ask.runId,
        after: from,
        // At most one begins with each event.
        limit: looked + ask.after + ask.before,
      });
      if (!read.ok) return read;
      const { items, total, nextCursor } = read.value;
      const begun = items.findLastIndex(({ step }) => step.startedSeq <= ask.at) + 1;
      if (begun < ask.before && from > 0 && looked !== LOOKED_THROUGH.at(-1)) continue;
      if (begun === 0 && from > 0) return ok(undefined);
      const first = startOfRow(items, Math.max(0, begun - ask.before));
      const end = startOfRow(items, Math.min(items.length, first + ask.before + ask.after));
      const steps = items.slice(first, end);
      const newest = steps.at(-1);
      if (newest === undefined) return ok(undefined);
      const after = items[first - 1]?.step.startedSeq ?? from;
      const next = items[end]?.step.startedSeq;
      const to =
        next !== undefined ? seq(next - 1) : nextCursor === undefined ? undefined : newest.step.startedSeq;
      return ok({ steps, after, to, total, visits: await visitsIn(deps, run, after, to) });
    }
    return ok(undefined);
  });
}

/** Where the rows begin that share a start with the one at `n`. */
function startOfRow(items: readonly StepView[], n: number): number {
  let at = n;
  while (at > 0 && items[at] && items[at - 1]?.step.startedSeq === items[at]?.step.startedSeq) at -= 1;
  return at;
}

async function visitsIn(
  { store }: Pick<UsecaseDeps, 'store'>,
  run: RunRecord,
  after: Seq,
  /** Undefined: to the end. */
  end: Seq | undefined,
): Promise<readonly GraphVisit[]> {
  const to = end ?? run.headSeq;
  const events = await store.events(run.runId, {
    before: seq(to + 1),
    limit: VISIT_EVENTS,
    kinds: ['state.entered', 'state.left'],
    descending: true,
  });
  const segments = segmentsAt(run.state.rewinds, run.headSeq);
  const path = events.filter((event): event is VisitEvent => inForce(event.seq, segments)).toReversed();
  return visitsOf(path, to, end === undefined ? run.state.at : undefined).filter(
    ({ leftSeq }) => leftSeq === undefined || leftSeq > after,
  );
}
