import { Button, ButtonLink } from '@/components/ui/button';
import { ProblemNote } from '@/components/ui/problem-note';
import { problemOf } from '@/lib/client/api';

/** In place of a run that could not be read, or that there is none of. */
export function RunUnread({
  runId,
  error,
  onAgain,
}: {
  readonly runId: string;
  readonly error: Error;
  readonly onAgain: () => void;
}) {
  const problem = problemOf(error);
  const isNone = problem.status === 404;
  return (
    <main className="page empty-page">
      <div className="empty-box">
        <ProblemNote
          title={isNone ? `There is no run ${runId}` : problem.title}
          detail={isNone ? 'Its id may have been mistyped, or it was deleted.' : problem.detail}
        >
          <ButtonLink size="small" href="/runs">
            Go to the runs
          </ButtonLink>
          <Button size="small" kind="quiet" onPress={onAgain}>
            Try again
          </Button>
        </ProblemNote>
      </div>
    </main>
  );
}
