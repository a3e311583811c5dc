import type { RunEvent } from '@/lib/core/events/run-event';
import type { Plan, PlanMode, PlannedStep } from '@/lib/core/planner/plan';
import type { Ordered } from './sdk-console';

/** How many lines of plans were compared with what the journal says was done, by mode, and where the two differ. */
export interface Predicted {
  readonly compared: Readonly<Record<PlanMode, number>>;
  readonly misses: readonly string[];
}

/**
 * Compares the plan of every order with the epoch of `events` that carried it out: up to the frontier, what was shown is
 * what ran. It reads the journal alone; the worker's own check of its plan has no part in it.
 */
export function comparePlans(orders: readonly Ordered[], events: readonly RunEvent[]): Predicted {
  const compared = { resume: 0, rewind: 0, fork: 0, replay: 0 };
  const misses: string[] = [];
  for (const { commandId, runId, plan } of orders) {
    if (runId !== events[0]?.runId) continue;
    const epoch = carriedOutIn(plan.mode, commandId, events);
    if (epoch === undefined) continue;
    const done = events.filter((event) => event.epoch === epoch && event.by === 'worker');
    const name = `plan of ${plan.mode} ${commandId}`;
    for (const step of plan.steps) {
      compared[plan.mode]++;
      const miss = plan.mode === 'replay' ? replayMissOf(step, done) : missOf(step, done, commandId);
      if (miss !== undefined) misses.push(`${name}: ${step.key} ${step.disposition}: ${miss}`);
    }
    misses.push(
      ...unplanned(plan, done, commandId).map((key) => `${name}: ${key} is not in it, and was answered`),
    );
    const refused = done.find((event) => event.kind === 'command.ended' && event.outcome === 'refused');
    if (refused !== undefined) misses.push(`${name} was refused: ${JSON.stringify(refused)}`);
  }
  return { compared, misses };
}

/** The epoch of the claim that an order led to. A replay has one, from its first event on. */
const carriedOutIn = (mode: PlanMode, commandId: string, events: readonly RunEvent[]) =>
  events.find((event) =>
    mode === 'replay'
      ? event.kind === 'run.started'
      : event.kind === 'run.resumed' && event.commandId === commandId,
  )?.epoch;

/** Calls before the frontier of which the plan has no line. */
function unplanned(plan: Plan, done: readonly RunEvent[], commandId: string): readonly string[] {
  const live = done.findIndex((event) => event.kind === 'command.ended' && event.commandId === commandId);
  const before = plan.mode === 'replay' || live < 0 ? done : done.slice(0, live);
  const planned = new Set<string>(plan.steps.map(({ key }) => key));
  return before.flatMap((event) =>
    'stepKey' in event && event.stepKey !== undefined && !planned.has(event.stepKey) ? [event.stepKey] : [],
  );
}

/** What contradicts one line of a replay's plan. */
function replayMissOf(step: PlannedStep, done: readonly RunEvent[]): string | undefined {
  const of = done.filter((event) => 'stepKey' in event && event.stepKey === step.key);
  const ran = of.some(({ kind }) => kind === 'step.started');
  const answered = of.some(({ kind }) => kind === 'step.reused' || kind === 'step.skipped');
  const over = done.some(({ kind }) => kind === 'run.completed');
  switch (step.disposition) {
    case 'restored':
    case 'blocked':
      return of.length > 0 ? `${of[0]?.kind} of it` : undefined;
    case 'recompute':
      return answered || (over && !ran) ? 'it was not computed again' : undefined;
    case 'reuse':
    case 'skip':
      if (ran) return 'it was executed';
      return over && !answered ? 'nothing tells that the record answered' : undefined;
    case 'execute':
    case 'retry-same-key':
    case 'needs-decision':
      return 'no replay does that';
  }
}

/** What contradicts one line of a plan; `done`: what the worker wrote in that epoch. */
function missOf(step: PlannedStep, done: readonly RunEvent[], commandId: string): string | undefined {
  const of = done.filter((event) => 'stepKey' in event && event.stepKey === step.key);
  const begins = of.filter((event) => event.kind === 'step.started');
  const isLive = done.some((event) => event.kind === 'command.ended' && event.commandId === commandId);
  // A worker that was dropped may not have come to it; one that let the run rest or end has.
  const cameToRest = done.some((event) => event.kind === 'run.completed' || event.kind === 'run.waiting');
  // Beyond the point the code may go another way.
  const isDue = cameToRest && step.condition === undefined;
  const fromRecord = of.some(({ kind }) => kind === 'step.reused' || kind === 'step.skipped');
  const answers = fromRecord || of.some(({ kind }) => kind === 'step.completed');
  // What the record answered is told before the order's end; a worker may be dropped in between.
  const early = of.find(({ kind }) => kind !== 'step.reused' && kind !== 'step.skipped');
  if (!isLive && early !== undefined) return `${early.kind} before the run was live`;
  switch (step.disposition) {
    case 'restored':
      return of.length > 0 ? `${of[0]?.kind} though its visit is closed` : undefined;
    case 'reuse':
    case 'skip':
      if (begins.length > 0) return 'it was executed';
      if (of.some(({ kind }) => kind === (step.disposition === 'skip' ? 'step.reused' : 'step.skipped')))
        return 'it was answered as the other of the two';
      return isDue && !answers ? 'nothing tells that the record answered' : undefined;
    case 'recompute':
      if (fromRecord) return 'the record answered';
      return begins.some((event) => event.kind === 'step.started' && event.intent !== undefined)
        ? 'a pure step left an intent'
        : undefined;
    case 'execute':
      if (fromRecord) return 'the record answered';
      return isDue && step.kind !== 'human' && begins.length === 0 ? 'it was not executed' : undefined;
    case 'retry-same-key':
      return isDue && begins.length === 0 && !answers ? 'it was not sent again' : undefined;
    case 'needs-decision':
    case 'blocked':
      if (step.condition === undefined) return 'the order was accepted all the same';
      return begins.length > 0 ? 'it was sent' : undefined;
  }
}
