import type { ReactNode } from 'react';
import { Button } from '@/components/ui/button';
import { moment } from '@/components/ui/format';
import { ProblemNote } from '@/components/ui/problem-note';
import { useZone } from '@/components/ui/zone';
import type { Order } from '@/lib/client/use-order';
import { Refusal } from './refusal';

/** What an order came to, where it was not taken or nobody knows; next to the button that gave it. */
export function OrderNote({
  order,
  different,
  blocked,
  children,
}: {
  readonly order: Order;
  /** What can be done about a refusal. */
  readonly children?: ReactNode;
  /** What is different in the plan that was made since. */
  readonly different?: readonly string[] | undefined;
  /** What stands in the way of that plan. */
  readonly blocked?: string | undefined;
}) {
  const { unanswered, problem } = order;
  const zone = useZone();
  if (unanswered)
    return (
      <ProblemNote
        open
        title={`No answer: it is not known whether “${unanswered.words}” was taken`}
        detail={`Given at ${moment(unanswered.at, zone)}. Send it again to find out: it is the same order and cannot be taken twice. Whoever lets it go may find later that it was taken.`}
      >
        <Button size="small" onPress={order.again}>
          Send it again
        </Button>
        <Button size="small" kind="quiet" onPress={order.forget}>
          Let it go
        </Button>
      </ProblemNote>
    );
  if (!problem) return null;
  return (
    <Refusal problem={problem} different={different} blocked={blocked}>
      {children}
    </Refusal>
  );
}
