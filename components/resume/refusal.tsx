import { absolute } from '@/components/ui/format';
import { ProblemNote } from '@/components/ui/problem-note';
import type { ApiProblem } from '@/lib/client/api';

interface Holder {
  readonly workerId: string;
  readonly since: string;
}
const isHolder = (value: unknown): value is Holder =>
  typeof value === 'object' &&
  value !== null &&
  'workerId' in value &&
  typeof value.workerId === 'string' &&
  'since' in value &&
  typeof value.since === 'string';

/** Why an order was refused, in words that say what to do next. */
export function Refusal({ problem }: { readonly problem: ApiProblem }) {
  switch (problem.kind) {
    case 'stale-plan':
      return (
        <ProblemNote
          title="Refused: the plan was out of date"
          detail="Nothing ran. Below is the new plan; what is different is marked “changed”. Read it and press again."
        />
      );
    case 'held': {
      const holder = problem.members['holder'];
      return (
        <ProblemNote
          title={
            isHolder(holder)
              ? `Refused: held by ${holder.workerId} since ${absolute(Date.parse(holder.since))}`
              : 'Refused: the run is held'
          }
          detail={problem.detail}
        />
      );
    }
    default:
      return (
        <ProblemNote
          title={`Refused: ${problem.title}`}
          detail={[problem.detail, ...problem.errors.map((each) => `${each.path}: ${each.message}`)].join(
            ' ',
          )}
        />
      );
  }
}
