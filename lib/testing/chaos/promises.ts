import type { RunEvent } from '@/lib/core/events/run-event';
import { foldRun } from '@/lib/core/projections/run-state';
import type { EffectRow } from '@/lib/wire/v1/runs';
import type { Order } from './operator';

/** One request that the downstream services got. */
export interface LedgerLine {
  readonly operation: string;
  readonly idempotencyKey: string;
  readonly deduplicated: boolean;
}

/** Lines of a ledger file; a last line without its end is not counted, since its request was not answered. */
export const ledgerLines = (text: string): readonly LedgerLine[] =>
  text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as LedgerLine);

/** Where the effects of a finished run differ from exactly one request each. */
export function effectsBroken(
  effects: readonly EffectRow[],
  lines: readonly LedgerLine[],
  sends: Readonly<Record<string, string>>,
): readonly string[] {
  const broken: string[] = [];
  for (const [tool, operation] of Object.entries(sends)) {
    const rows = effects.filter((row) => row.name === tool);
    if (rows.length !== 1) broken.push(`${tool}: ${rows.length} rows in the effect ledger`);
    for (const row of rows) {
      const made = lines.filter(
        (line) => line.operation === operation && line.idempotencyKey === row.idempotencyKey,
      );
      if (made.length !== 1) broken.push(`${tool}: ${made.length} ${operation} lines`);
      if (row.status !== 'confirmed') broken.push(`${tool}: ${row.status} at the end`);
    }
  }
  return broken;
}

/** Where seqs have a gap, epochs fall, something follows the end, or an attempt ran twice. */
export function journalBroken(events: readonly RunEvent[]): readonly string[] {
  const broken: string[] = [];
  let epoch = 0;
  events.forEach((event, at) => {
    if (event.seq !== at + 1) broken.push(`seq ${event.seq} in place ${at + 1}`);
    if (event.by === 'worker' && event.epoch < epoch)
      broken.push(`epoch ${event.epoch} after ${epoch} at ${event.seq}`);
    if (event.by === 'worker') epoch = Math.max(epoch, event.epoch);
  });
  const ends = events.filter((event) => event.kind === 'run.completed').length;
  if (ends !== 1) broken.push(`${ends} times run.completed`);
  const { repeatedAttempts } = foldRun(events).counts;
  if (repeatedAttempts > 0) broken.push(`${repeatedAttempts} attempts ran more than once`);
  return broken;
}

/** What came of comparing an order's plan with the journal. */
export interface Comparison {
  /** Steps of plans that were compared with what was done. */
  readonly steps: number;
  readonly broken: readonly string[];
}

/**
 * Where what ran up to the frontier, and what tools ran beyond it, is not what the plan had said.
 * A worker whose re-entry did not go through ran nothing, and what it should have done is not asked of it; whatever it
 * did is compared all the same. One that went live and was lost at once may not have come to what it had to begin.
 */
export function comparePlan({ commandId, plan }: Order, events: readonly RunEvent[]): Comparison {
  const ends = events.flatMap((event) =>
    event.kind === 'command.ended' && event.commandId === commandId ? [event] : [],
  );
  const claim = events.find((event) => event.kind === 'run.resumed' && event.commandId === commandId);
  if (claim === undefined) {
    // What it would have done changed before anybody claimed it: refused by the console, and planned anew.
    const isRefused = ends.some(({ by, outcome }) => by === 'console' && outcome === 'refused');
    return { steps: 0, broken: isRefused ? [] : [`no worker claimed ${commandId}`] };
  }
  const refused = ends.flatMap(({ by, outcome, detail }) =>
    by === 'worker' && outcome === 'refused' ? [`the order was refused: ${detail}`] : [],
  );
  const own = events.filter((event) => event.epoch === claim.epoch && event.by === 'worker');
  const entry: Entry = {
    isThrough: ends.some((end) => end.outcome === 'done' && end.epoch === claim.epoch),
    isOut: own.some(({ kind }) => CAME_TO_REST.has(kind)),
  };
  const deeds = plan.steps.flatMap((step) =>
    stepBroken(step, own, events, entry).map(
      (what) => `plan said ${step.disposition} for ${step.key}, but ${what}`,
    ),
  );
  const planned = new Set<string>(plan.steps.map((step) => step.key));
  const allowed = new Set(plan.envelope.tools.map((tool) => tool.name));
  const outside = own.flatMap((event) =>
    event.kind === 'step.started' &&
    event.step === 'tool' &&
    !planned.has(event.stepKey) &&
    !allowed.has(event.name)
      ? [`${event.stepKey} ran outside the envelope`]
      : [],
  );
  return { steps: plan.steps.length, broken: [...refused, ...deeds, ...outside] };
}

/** What is broken, where nobody counts. */
export const planBroken = (order: Order, events: readonly RunEvent[]): readonly string[] =>
  comparePlan(order, events).broken;

/** By these a worker shows that everything it had to begin when it went live was begun. */
const CAME_TO_REST: ReadonlySet<RunEvent['kind']> = new Set([
  'run.waiting',
  'run.completed',
  'run.failed',
  'state.left',
] as const);

/** How far the epoch came that carried the order out. */
interface Entry {
  /** Re-entry went through: everything that the record answers is answered. */
  readonly isThrough: boolean;
  /** It also came past what was open at the frontier. */
  readonly isOut: boolean;
}

/** True where a worker carried the order out: its re-entry went through. */
export const isCarriedOut = ({ commandId }: Order, events: readonly RunEvent[]): boolean =>
  events.some(
    (event) => event.kind === 'command.ended' && event.commandId === commandId && event.outcome === 'done',
  );

type PlannedStep = Order['plan']['steps'][number];

function stepBroken(
  step: PlannedStep,
  own: readonly RunEvent[],
  events: readonly RunEvent[],
  { isThrough, isOut }: Entry,
): readonly string[] {
  const did = (...kinds: readonly RunEvent['kind'][]) =>
    own.some((event) => kinds.includes(event.kind) && 'stepKey' in event && event.stepKey === step.key);
  const ran = did('step.started');
  const unless = (holds: boolean, what: string) => (holds ? [] : [what]);
  // A recorded answer is noted before the order's end; one that the ledger has for an open call comes after it.
  const isDue = step.effect === 'external' || step.effect === 'idempotent' ? isThrough && isOut : isThrough;
  switch (step.disposition) {
    case 'restored':
      return unless(!own.some((event) => 'stepKey' in event && event.stepKey === step.key), 'it was touched');
    case 'reuse':
      return [
        ...unless(!ran, 'it ran'),
        ...unless(!isDue || did('step.reused', 'step.completed'), 'it was not answered from the record'),
      ];
    case 'skip':
      return [
        ...unless(!ran, 'it was sent'),
        ...unless(!isDue || did('step.skipped', 'step.completed'), 'it was not answered from the ledger'),
      ];
    case 'recompute':
      return unless(!ran || step.effect === 'pure', 'it ran');
    case 'execute':
      // A question that was begun is asked, once in all; its answer comes whenever it comes.
      if (step.kind === 'human')
        return unless(
          !isThrough || !isOut || asked(step, events) === 1,
          `it was asked ${asked(step, events)} times`,
        );
      return unless(!isThrough || !isOut || ran || step.condition !== null, 'it did not run');
    case 'retry-same-key':
      return [
        ...unless(!isThrough || !isOut || ran, 'it was not sent again'),
        ...unless(keysOf(step, events).size === 1, `it has the keys ${[...keysOf(step, events)].join(', ')}`),
      ];
    case 'needs-decision':
    case 'blocked':
      return ['the order was accepted'];
  }
}

const asked = (step: PlannedStep, events: readonly RunEvent[]): number =>
  events.filter((event) => event.kind === 'question.asked' && event.stepKey === step.key).length;

const keysOf = (step: PlannedStep, events: readonly RunEvent[]): ReadonlySet<string | undefined> =>
  new Set(
    events.flatMap((event) =>
      event.kind === 'step.started' && event.stepKey === step.key ? [event.intent?.idempotencyKey] : [],
    ),
  );
