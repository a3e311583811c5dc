import type { EpochMs, RunId } from '@/lib/core/events/ids';
import type { Payload, PayloadRef } from '@/lib/core/events/payload';
import type { RunEvent } from '@/lib/core/events/run-event';
import type { Machine } from '@/lib/core/machine/machine';
import type { EffectRecord, RunRecord } from '@/lib/core/projections/records';
import { fail, ok, type Result } from '@/lib/core/shared/result';
import type { UsecaseDeps } from './deps';
import { exportRun, type RunPart } from './export-run';
import { judgedRun } from './judge-leases';
import { liveWorkers } from './list-workers';
import type { Children, WorkerRecord } from './ports';
import { type NotFound, noRun } from './problems';
import { childrenOf } from './run-view';

/** What a page shows of a run beside its journal, as it was at one instant. */
export interface CopiedRun {
  /** By the store's clock: whatever is judged by time is judged as of then. */
  readonly at: EpochMs;
  readonly judgedFrom: EpochMs;
  readonly leaseMs: number;
  readonly run: RunRecord;
  readonly machine?: Machine;
  /** Of the whole lineage, as the run's page shows it. */
  readonly effects: readonly EffectRecord[];
  readonly children: Children;
  /** Live ones that host its agent: what could be done next hangs on them. */
  readonly workers: readonly WorkerRecord[];
}

/** A run as a page without a console needs it: the head first, each payload before the first event that refers to it. */
export type CopyPart =
  | { readonly kind: 'copy'; readonly copy: CopiedRun }
  | { readonly kind: 'payload'; readonly payload: Payload }
  /** Too large for a copy, or beyond what all of them together may be. */
  | { readonly kind: 'left-out'; readonly payload: PayloadRef }
  | { readonly kind: 'event'; readonly event: RunEvent };

export interface CopyLimits {
  /** A larger payload is left out. */
  readonly payloadBytes: number;
  /** Of all payloads together; the first ones count. */
  readonly totalBytes: number;
}

/** The run up to the head that it has now, with what surrounds it. Reads as it is consumed. */
export async function copyRun(
  deps: Pick<UsecaseDeps, 'store' | 'hash' | 'judgedFrom' | 'leaseMs'>,
  ask: { readonly runId: RunId; readonly limits: CopyLimits },
): Promise<Result<{ readonly run: RunRecord; readonly parts: AsyncIterable<CopyPart> }, NotFound>> {
  const at = deps.store.clock.now();
  // A lapse that the page would show is recorded first, as the page does.
  const judged = await judgedRun(deps, ask.runId);
  if (!judged.ok) return judged;
  const choice = new Choice(ask.limits);
  const found = await exportRun(deps, { runId: ask.runId, wants: choice.take });
  if (!found.ok) return fail(noRun(ask.runId));
  const { run, parts } = found.value;
  const [children, effects, workers] = await Promise.all([
    childrenOf(deps, [run.runId], at),
    deps.store.effects(run.root),
    liveWorkers(deps, at),
  ]);
  const copy = {
    at,
    judgedFrom: deps.judgedFrom,
    leaseMs: deps.leaseMs,
    run,
    effects,
    children: children.get(run.runId) ?? { total: 0, newest: [] },
    workers: workers.filter(({ agents }) => agents.some(({ name }) => name === run.state.agent)),
  };
  return ok({ run, parts: copyParts(copy, choice, parts) });
}

/** Which payloads fit. */
class Choice {
  readonly #limits: CopyLimits;
  #bytes = 0;
  #left: PayloadRef[] = [];

  constructor(limits: CopyLimits) {
    this.#limits = limits;
  }

  take = (payload: PayloadRef): boolean => {
    const fits =
      payload.bytes <= this.#limits.payloadBytes && this.#bytes + payload.bytes <= this.#limits.totalBytes;
    if (fits) this.#bytes += payload.bytes;
    else this.#left.push(payload);
    return fits;
  };

  /** What was left out since the last time that it was asked. */
  left(): readonly PayloadRef[] {
    const left = this.#left;
    this.#left = [];
    return left;
  }
}

async function* copyParts(
  copy: Omit<CopiedRun, 'machine'>,
  choice: Choice,
  parts: AsyncIterable<RunPart>,
): AsyncGenerator<CopyPart> {
  for await (const part of parts) {
    for (const payload of choice.left()) yield { kind: 'left-out', payload };
    if (part.kind === 'run')
      yield { kind: 'copy', copy: part.machine === undefined ? copy : { ...copy, machine: part.machine } };
    else yield part;
  }
}
