import type { EpochMs, MachineDigest, Seq, WorkerId } from '@/lib/core/events/ids';
import type { Payload } from '@/lib/core/events/payload';
import type { Decision, Edit, PlanFrom, PlanOptions } from '@/lib/core/events/run-event';
import type { Machine } from '@/lib/core/machine/machine';
import type { Plan, PlanMode } from '@/lib/core/planner/plan';
import { type PlanProblem, planRun, resolvePoint } from '@/lib/core/planner/plan-run';
import { inForce, segmentsAt } from '@/lib/core/projections/effective-path';
import type { RunRecord, RunState, StepRecord } from '@/lib/core/projections/records';
import { statusNow } from '@/lib/core/projections/run-status';
import { startedBefore } from '@/lib/core/projections/step-transitions';
import type { Json } from '@/lib/core/shared/canonical-json';
import { ok, type Result } from '@/lib/core/shared/result';
import { applyEdits, type Edited, noEdits } from './apply-edits';
import type { UsecaseDeps } from './deps';
import { liveWorkers } from './list-workers';
import { jsonPayload, refOf } from './payload-of';
import { stateAt } from './state-at';

/** A decision as a person gives it: its result inline. */
export type DecisionAsk = Omit<Decision, 'result'> & { readonly result?: { readonly value: Json } };

export interface PlanAsk {
  readonly mode: PlanMode;
  readonly from: PlanFrom;
  readonly edits: readonly Edit[];
  readonly decisions: Readonly<Record<string, DecisionAsk>>;
  readonly options: PlanOptions;
}

/** A plan with what it was made on: the same head and ledger give the same plan. */
export interface LoadedPlan {
  readonly plan: Plan;
  readonly plannedAt: EpochMs;
  readonly run: RunRecord;
  readonly ledgerVersion: number;
  readonly decisions: Readonly<Record<string, Decision>>;
  /** Results that the decisions bring. */
  readonly payloads: readonly Payload[];
  readonly edited: Edited;
}

export type { PlanProblem };

/** What today's agent code declares, by the newest live worker that hosts it. */
export interface Today {
  readonly digest: MachineDigest;
  readonly machine: Machine;
  readonly workerId: WorkerId;
}

/**
 * Reads what `planRun` needs and makes the plan. Given at a claim: the state when the plan was made, the machine of the
 * worker that asks, and the order's decisions, whose results are stored already.
 */
export async function loadPlan(
  deps: Pick<UsecaseDeps, 'store' | 'hash' | 'leaseMs' | 'judgedFrom'>,
  run: RunRecord,
  ask: PlanAsk,
  given: {
    readonly head?: RunState;
    readonly today?: Today;
    readonly decisions?: Readonly<Record<string, Decision>>;
  } = {},
): Promise<Result<LoadedPlan, PlanProblem>> {
  const ledgerVersion = await deps.store.ledgerVersion(run.root);
  const head = given.head ?? run.state;
  const [rows, checkpoints, effects, machine, today] = await Promise.all([
    deps.store.steps(run.runId),
    deps.store.checkpoints(run.runId),
    deps.store.effects(run.root),
    head.machineDigest === undefined ? undefined : deps.store.machines.get(head.machineDigest),
    given.today ?? todayOf(deps, run),
  ]);
  const steps = given.head === undefined ? rows : rowsAsOf(rows, given.head);
  const point = resolvePoint(ask.mode, ask.from, { head, steps, checkpoints });
  if (!point.ok) return point;
  const at = point.value.seq;
  const pointState = at === head.seq ? head : (await stateAt(deps, run, at)).state;
  const entrySeq = pointState.visit?.entrySeq;
  const visitEvents =
    ask.edits.length > 0 && entrySeq !== undefined && entrySeq < at
      ? (
          await deps.store.events(run.runId, {
            after: entrySeq,
            before: (at + 1) as Seq,
            limit: at - entrySeq,
            kinds: ['variables.patched'],
          })
        ).filter((event) => inForce(event.seq, segmentsAt(pointState.rewinds, at)))
      : [];
  const taken = takeDecisions(ask.decisions, deps.hash);
  const { decisions, payloads } =
    given.decisions === undefined ? taken : { decisions: given.decisions, payloads: [] };
  const now = deps.store.clock.now();
  const plan = planRun(
    {
      run,
      status: given.head === undefined ? statusNow(run, now, deps.judgedFrom) : head.status,
      mode: ask.mode,
      from: ask.from,
      edits: ask.edits,
      decisions,
      accepted: given.decisions !== undefined,
      options: ask.options,
      now,
      head,
      point: pointState,
      steps,
      checkpoints,
      effects,
      visitEvents,
      ...(machine !== undefined && { machine }),
      ...(today !== undefined && { today }),
      judgedFrom: deps.judgedFrom,
    },
    deps.hash,
  );
  if (!plan.ok) return plan;
  // Whether a path leads somewhere is for the values to say: what the order would refuse, its plan refuses.
  const edited =
    ask.edits.length === 0
      ? ok(noEdits)
      : await applyEdits(deps, (await stateAt(deps, run, plan.value.from.entrySeq)).state, ask.edits);
  if (!edited.ok) return edited;
  return ok({
    plan: plan.value,
    plannedAt: now,
    run,
    ledgerVersion,
    decisions,
    payloads,
    edited: edited.value,
  });
}

/** Rows as they were at `head`: of those begun by then, only what is open, stopped or failed last there can have moved. */
function rowsAsOf(rows: readonly StepRecord[], head: RunState): readonly StepRecord[] {
  return rows.map((row) => {
    const then = startedBefore(head, row.stepKey);
    return then?.line === row.line ? then : row;
  });
}

/** Decisions with their results as payloads. */
export function takeDecisions(
  asked: Readonly<Record<string, DecisionAsk>>,
  hash: UsecaseDeps['hash'],
): { readonly decisions: Readonly<Record<string, Decision>>; readonly payloads: readonly Payload[] } {
  const payloads: Payload[] = [];
  const decisions: Record<string, Decision> = Object.create(null) as Record<string, Decision>;
  for (const [key, { result, ...rest }] of Object.entries(asked)) {
    if (result === undefined) {
      decisions[key] = rest;
      continue;
    }
    const payload = jsonPayload(result.value, hash);
    payloads.push(payload);
    decisions[key] = { ...rest, result: refOf(payload) };
  }
  return { decisions: { ...decisions }, payloads };
}

async function todayOf(
  deps: Pick<UsecaseDeps, 'store' | 'leaseMs'>,
  run: RunRecord,
): Promise<Today | undefined> {
  const now = deps.store.clock.now();
  const live = [...(await liveWorkers(deps, now))].sort((a, b) => b.firstSeenAt - a.firstSeenAt);
  for (const worker of live) {
    const agent = worker.agents.find(({ name }) => name === run.state.agent);
    const machine = agent === undefined ? undefined : await deps.store.machines.get(agent.machineDigest);
    if (agent !== undefined && machine !== undefined)
      return { digest: agent.machineDigest, machine, workerId: worker.workerId };
  }
  return undefined;
}
