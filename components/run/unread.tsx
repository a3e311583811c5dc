import type { UseQueryResult } from '@tanstack/react-query';
import { Button } from '@/components/ui/button';
import { ProblemNote } from '@/components/ui/problem-note';
import { problemOf } from '@/lib/client/api';

/** What could not be read, and how it is tried again. */
export interface Failed {
  readonly error: Error;
  readonly again: () => unknown;
}

export const failedOf = ({
  isError,
  error,
  refetch,
}: Pick<UseQueryResult, 'isError' | 'error' | 'refetch'>): Failed | undefined =>
  isError && error !== null ? { error, again: refetch } : undefined;

/** In place of what could not be read: why, and to try it again. `what` begins a sentence. */
export const Unread = ({
  what,
  error,
  onAgain,
}: {
  readonly what: string;
  readonly error: unknown;
  readonly onAgain: () => unknown;
}) => (
  <ProblemNote title={`${what} could not be read`} detail={problemOf(error).detail}>
    <Button size="small" onPress={() => void onAgain()}>
      Try again
    </Button>
  </ProblemNote>
);
