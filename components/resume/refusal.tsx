import { clock } from '@/components/ui/format';
import { ProblemNote } from '@/components/ui/problem-note';
import type { ApiProblem } from '@/lib/client/api';

/** Who was first: the worker that holds the run, or the person whose order waits for one. */
function holderWords(holder: unknown): string {
  if (typeof holder !== 'object' || holder === null) return 'the run is held';
  const { workerId, actor, mode, since } = holder as Readonly<Record<string, unknown>>;
  const time = typeof since === 'string' ? ` since ${clock(Date.parse(since)).slice(0, 8)} UTC` : '';
  if (typeof workerId === 'string') return `held by ${workerId}${time}`;
  if (typeof actor === 'string')
    return `held by the ${typeof mode === 'string' ? mode : 'order'} of ${actor}${time}`;
  return 'the run is held';
}

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
    case 'held':
      return (
        <ProblemNote title={`Refused: ${holderWords(problem.members['holder'])}`} detail={problem.detail} />
      );
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
