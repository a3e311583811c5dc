import type { Seq } from '@/lib/core/events/ids';
import type { EventOf } from '@/lib/core/events/run-event';
import type { Plan, PlanMode } from '@/lib/core/planner/plan';
import type { RunRecord, RunState } from '@/lib/core/projections/records';
import type { AcceptedPlan } from './command';
import type { UsecaseDeps } from './deps';
import { loadPlan, type Today } from './load-plan';
import { stateAt } from './state-at';

type Deps = Pick<UsecaseDeps, 'store' | 'hash' | 'leaseMs' | 'judgedFrom'>;

/** An accepted order that carries out a plan. */
export interface PlannedOrder {
  readonly event: EventOf<'command.accepted'>;
  readonly mode: PlanMode;
  readonly accepted: AcceptedPlan;
}

/**
 * What has changed in what the order would do since it was accepted, in words; undefined where its plan still holds.
 * A plan is made again from the journal as it stood then, the ledger as it is now and the machine of the worker that
 * asks: that the journal went on changes nothing.
 */
export async function changedSince(
  deps: Deps,
  run: RunRecord,
  order: PlannedOrder,
  today: Today | undefined,
  ledgerVersion: number,
): Promise<string | undefined> {
  if (stands(run, order.accepted, ledgerVersion)) return undefined;
  const { event, mode, accepted } = order;
  const base = await standingBefore(deps, run, order);
  if (base === undefined) return 'the run that it goes on from is gone';
  const again = await loadPlan(
    deps,
    base.run,
    {
      mode,
      from: event.from ?? 'latest',
      edits: event.edits ?? [],
      decisions: {},
      options: event.options ?? {},
    },
    { head: base.head, decisions: event.decisions ?? {}, ...(today !== undefined && { today }) },
  );
  if (!again.ok) return 'no plan can be made any more';
  return again.value.plan.digest === accepted.plan.digest
    ? undefined
    : differenceOf(accepted.plan, again.value.plan);
}

/**
 * While neither the run nor the ledger moved a plan stands, being a function of them; but for what time and a worker's
 * machine, where none was planned for, may still change.
 */
const stands = (run: RunRecord, accepted: AcceptedPlan, ledgerVersion: number): boolean =>
  run.headSeq === accepted.headSeq &&
  ledgerVersion === accepted.ledgerVersion &&
  accepted.machineDigest !== undefined &&
  accepted.plan.steps.every((step) => step.disposition !== 'retry-same-key');

/** The run that the plan is about, and its state when the plan was made. */
async function standingBefore(
  deps: Deps,
  run: RunRecord,
  { event, accepted }: PlannedOrder,
): Promise<{ readonly run: RunRecord; readonly head: RunState } | undefined> {
  if (event.parent === undefined)
    return { run, head: (await stateAt(deps, run, (event.seq - 1) as Seq)).state };
  const parent = await deps.store.run(event.parent.runId);
  return parent && { run: parent, head: (await stateAt(deps, parent, accepted.plan.headSeq)).state };
}

const MOST_NAMED = 3;

function differenceOf(before: Plan, now: Plan): string {
  const dispositions = new Map(now.steps.map((step) => [step.key, step.disposition]));
  const changed = before.steps.flatMap(({ key, name, disposition }) => {
    const after = dispositions.get(key);
    return after === disposition ? [] : [`${name}: ${disposition}, now ${after ?? 'not there'}`];
  });
  if (changed.length === 0) return 'the same steps, but not with the same effects or machine';
  const more = changed.length - MOST_NAMED;
  return [...changed.slice(0, MOST_NAMED), ...(more > 0 ? [`${more} more`] : [])].join('; ');
}
