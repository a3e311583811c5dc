import type { Disposition } from '../core/planner/plan';
import type { PlanToCheck } from './journal-port';
import type { Operation } from './operation';
import type { Answered } from './re-entry';

/**
 * Compares what is about to happen at the frontier with what the plan showed. The first contradiction as a sentence;
 * `undefined` where they agree. `answered`: calls that the record answered; `standings`: what becomes of open ones.
 */
export function contradiction(
  plan: PlanToCheck,
  answered: readonly Answered[],
  standings: readonly { readonly op: Operation; readonly disposition: string }[],
): string | undefined {
  const planned = new Map<string, Disposition>(plan.steps.map(({ key, disposition }) => [key, disposition]));
  const agree = (op: Operation, does: string): boolean => {
    const said = planned.get(op.key);
    return said !== undefined && (said === does || sameToTheWorld(said, does, op));
  };
  for (const { op, event } of answered) {
    const isFailure =
      event.kind === 'step.failed' || (event.kind === 'step.reused' && event.error !== undefined);
    // An effect that a plan shows as done is not one whose failure the code is given.
    if (isFailure && planned.get(op.key) === 'skip')
      return sentence(op, 'skip', 'reuse, of the failure that is recorded');
    const does =
      op.effect === 'pure' ? 'recompute' : op.effect === 'external' && !isFailure ? 'skip' : 'reuse';
    if (!agree(op, does)) return sentence(op, planned.get(op.key), does);
  }
  for (const { op, disposition } of standings) {
    if (!agree(op, disposition)) return sentence(op, planned.get(op.key), disposition);
  }
  return undefined;
}

/** Two words for what leaves the world as it is: an answer from the record; a person or a read asked again. */
function sameToTheWorld(said: Disposition, does: string, op: Operation): boolean {
  const answers = ['reuse', 'skip'];
  if (answers.includes(said) && answers.includes(does)) return true;
  return op.step === 'human' && (answers.includes(said) || said === 'execute');
}

const sentence = (op: Operation, said: Disposition | undefined, does: string) =>
  said === undefined
    ? `${op.key} is not in the plan; it would be: ${does}`
    : `The plan said ${said} for ${op.key}; it would be: ${does}`;
