import type { RunEvent } from '@/lib/core/events/run-event';
import type { Plan, PlannedStep } from '@/lib/core/planner/plan';

/** How many lines of plans were compared with what the journal says was done, and where the two differ. */
export interface Predicted {
  readonly compared: number;
  readonly misses: readonly string[];
}

/**
 * Compares the plan of every resume with the epoch that carried it out: up to the frontier, what was shown is what ran.
 * It reads the journal alone; the worker's own check of its plan has no part in it.
 */
export function comparePlans(
  orders: readonly { readonly commandId: string; readonly plan: Plan }[],
  events: readonly RunEvent[],
): Predicted {
  let compared = 0;
  const misses: string[] = [];
  for (const { commandId, plan } of orders) {
    if (plan.mode !== 'resume') continue;
    const claimed = events.find((event) => event.kind === 'run.resumed' && event.commandId === commandId);
    if (claimed === undefined) continue;
    const done = events.filter((event) => event.epoch === claimed.epoch && event.by === 'worker');
    for (const step of plan.steps) {
      compared++;
      const miss = missOf(step, done, commandId);
      if (miss !== undefined) misses.push(`plan of ${commandId}: ${step.key} ${step.disposition}: ${miss}`);
    }
    const refused = done.find((event) => event.kind === 'command.ended' && event.outcome === 'refused');
    if (refused !== undefined) misses.push(`plan of ${commandId} was refused: ${JSON.stringify(refused)}`);
  }
  return { compared, misses };
}

/** What contradicts one line of a plan; `done`: what the worker wrote in that epoch. */
function missOf(step: PlannedStep, done: readonly RunEvent[], commandId: string): string | undefined {
  const of = done.filter((event) => 'stepKey' in event && event.stepKey === step.key);
  const begins = of.filter((event) => event.kind === 'step.started');
  const isLive = done.some((event) => event.kind === 'command.ended' && event.commandId === commandId);
  // A worker that was dropped may not have come to it; one that let the run rest or end has.
  const cameToRest = done.some((event) => event.kind === 'run.completed' || event.kind === 'run.waiting');
  const answers = of.some(({ kind }) => ['step.reused', 'step.skipped', 'step.completed'].includes(kind));
  // What the record answered is told before the order's end; a worker may be dropped in between.
  const early = of.find(({ kind }) => kind !== 'step.reused' && kind !== 'step.skipped');
  if (!isLive && early !== undefined) return `${early.kind} before the run was live`;
  switch (step.disposition) {
    case 'restored':
      return of.length > 0 ? `${of[0]?.kind} though its visit is closed` : undefined;
    case 'reuse':
    case 'skip':
      if (begins.length > 0) return 'it was executed';
      return cameToRest && !answers ? 'nothing tells that the record answered' : undefined;
    case 'recompute':
      return begins.some((event) => event.kind === 'step.started' && event.intent !== undefined)
        ? 'a pure step left an intent'
        : undefined;
    case 'execute':
      if (of.some(({ kind }) => kind === 'step.reused' || kind === 'step.skipped'))
        return 'the record answered';
      return cameToRest && step.condition === undefined && step.kind !== 'human' && begins.length === 0
        ? 'it was not executed'
        : undefined;
    case 'retry-same-key':
      return cameToRest && begins.length === 0 && !answers ? 'it was not sent again' : undefined;
    case 'needs-decision':
    case 'blocked':
      return begins.length > 0 ? 'it was sent' : undefined;
  }
}
