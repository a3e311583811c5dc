import { plural } from '@/components/ui/format';
import type { PlanAnswer, PlannedStep } from '@/lib/client/api-types';

/* What is different in a plan that was made again, row by row and in words. */

/** A row of the envelope: of the states, of a tool by its name, of the limits. */
export type EnvelopeRow = 'states' | 'limits' | `tool ${string}`;

export interface PlanDifferences {
  /** Steps that the new plan treats otherwise than the old one, or that are new in it. */
  readonly keys: ReadonlySet<string>;
  /** Rows of the envelope that say something else, or that are new in it. */
  readonly envelope: ReadonlySet<EnvelopeRow>;
  /** What the new plan has no row for any more. */
  readonly gone: Pick<PlanAnswer, 'steps'> & Pick<PlanAnswer['envelope'], 'tools'>;
  /** All differences, in words. */
  readonly words: readonly string[];
}

/** What a step's line promises. */
const promiseOf = (step: PlannedStep): string =>
  JSON.stringify([step.disposition, step.condition, step.intentSeq, step.receipt, step.ownerRunId]);

/** Keys of the steps that the new plan treats otherwise than the old one, or that are new in it. */
export function changedSteps(before: PlanAnswer, after: PlanAnswer): ReadonlySet<string> {
  const was = new Map<string, string>(before.steps.map((step) => [step.key, promiseOf(step)]));
  return new Set(after.steps.filter((step) => was.get(step.key) !== promiseOf(step)).map((step) => step.key));
}

/** What each row of the envelope says. */
const envelopeRows = ({ states, tools, asksPeople, limits }: PlanAnswer['envelope']) =>
  new Map<EnvelopeRow, string>([
    ['states', JSON.stringify(states)],
    ...tools.map((tool) => [`tool ${tool.name}`, JSON.stringify(tool)] as const),
    ['limits', JSON.stringify([limits, asksPeople])],
  ]);

/** How two plans of one order differ, in all that their digests cover. */
export function planDifferences(before: PlanAnswer, after: PlanAnswer): PlanDifferences {
  const keys = changedSteps(before, after);
  const now = new Set<string>(after.steps.map((step) => step.key));
  const rows = [envelopeRows(before.envelope), envelopeRows(after.envelope)] as const;
  const gone = {
    steps: before.steps.filter((step) => !now.has(step.key)),
    tools: before.envelope.tools.filter(({ name }) => !rows[1].has(`tool ${name}`)),
  };
  const differs = (part: (plan: PlanAnswer) => unknown): boolean =>
    JSON.stringify(part(before)) !== JSON.stringify(part(after));
  const words = [
    keys.size > 0 && `${plural(keys.size, 'step')} marked “changed”`,
    gone.steps.length > 0 && `${plural(gone.steps.length, 'step')} gone from the plan`,
    differs((plan) => [plan.mode, plan.from.entrySeq, plan.mode !== 'resume' && plan.from.seq]) &&
      'the point that it starts from',
    (differs((plan) => plan.machineDigest) || differs((plan) => plan.drift.differences)) &&
      machineWords(after),
    differs((plan) => plan.envelope) && 'what may run beyond the frontier',
    differs((plan) => plan.leftBehind) && 'what is left behind',
    differs((plan) => plan.context.messages) && 'the conversation that is restored',
    (differs((plan) => plan.edits) || differs((plan) => plan.decisions)) && 'what was chosen here',
  ].filter((word) => word !== false);
  // What is left of a digest: the result that the code is given for an effect, and options.
  const isUnnamed = words.length === 0 && before.digest !== after.digest;
  return {
    keys,
    envelope: new Set([...rows[1]].flatMap(([row, says]) => (rows[0].get(row) === says ? [] : [row]))),
    gone,
    words: isUnnamed ? ['a result that the code is given'] : words,
  };
}

/** What the machine has become, in the words of the strip that compares it with the record. */
function machineWords({ drift }: PlanAnswer): string {
  if (drift.source === 'recorded') return 'the machine, compared with no worker’s now';
  const { length } = drift.differences;
  return length === 0
    ? 'the machine, which is as recorded now'
    : `the machine, with ${plural(length, 'declared difference')} now`;
}
