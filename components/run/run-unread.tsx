import { Button, ButtonLink } from '@/components/ui/button';
import { ProblemNote } from '@/components/ui/problem-note';
import { problemOf } from '@/lib/client/api';
import { answerWords } from './run-words';

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
          title={isNone ? `There is no run ${runId}` : 'The run could not be read'}
          detail={
            isNone
              ? 'Its id may have been mistyped, or the run may be kept by another console.'
              : answerWords(problem)
          }
        >
          {!isNone && (
            <Button size="small" onPress={onAgain}>
              Try again
            </Button>
          )}
          <ButtonLink size="small" {...(isNone ? {} : { kind: 'quiet' })} href="/runs">
            Go to the runs
          </ButtonLink>
        </ProblemNote>
      </div>
    </main>
  );
}
