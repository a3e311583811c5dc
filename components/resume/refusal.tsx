import type { ReactNode } from 'react';
import { moment } from '@/components/ui/format';
import { ProblemNote } from '@/components/ui/problem-note';
import { useZone, type Zone } from '@/components/ui/zone';
import type { ApiProblem } from '@/lib/client/api';

/** Who was first: the worker that holds the run, or the person whose order waits for one. */
function holderWords(holder: unknown, zone: Zone): string {
  if (typeof holder !== 'object' || holder === null) return 'the run is held';
  const { workerId, actor, mode, since } = holder as Readonly<Record<string, unknown>>;
  const time = typeof since === 'string' ? ` since ${moment(Date.parse(since), zone)}` : '';
  if (typeof workerId === 'string') return `held by ${workerId}${time}`;
  if (typeof actor === 'string')
    return `held by the ${typeof mode === 'string' ? mode : 'order'} of ${actor}${time}`;
  return 'the run is held';
}

/** Why an order was refused, in words that say what to do next. */
export function Refusal({
  problem,
  different = [],
  blocked,
  children,
}: {
  readonly problem: ApiProblem;
  readonly children?: ReactNode;
  readonly different?: readonly string[] | undefined;
  /** What stands in the way of the plan that is shown now. */
  readonly blocked?: string | undefined;
}) {
  const zone = useZone();
  switch (problem.kind) {
    case 'stale-plan':
      return (
        <ProblemNote
          title="Refused: the plan was out of date"
          detail={`Nothing ran. Below is the plan as it is now${different.length === 0 ? '' : `; different in it: ${different.join(', ')}`}. ${blocked === undefined ? 'Read it, then press again.' : `It cannot be ordered as it stands: ${blocked}`}`}
        >
          {children}
        </ProblemNote>
      );
    case 'held':
      return (
        <ProblemNote
          title={`Refused: ${holderWords(problem.members['holder'], zone)}`}
          detail={problem.detail}
        >
          {children}
        </ProblemNote>
      );
    case 'already-answered': {
      const by = problem.members['by'];
      return (
        <ProblemNote
          title={`Already answered${typeof by === 'string' ? ` by ${by}` : ''}`}
          detail={problem.detail}
        >
          {children}
        </ProblemNote>
      );
    }
    default:
      return (
        <ProblemNote
          title={`Refused: ${problem.title}`}
          detail={[problem.detail, ...problem.errors.map((each) => `${each.path}: ${each.message}`)].join(
            ' ',
          )}
        >
          {children}
        </ProblemNote>
      );
  }
}
