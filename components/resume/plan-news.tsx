import { Button } from '@/components/ui/button';
import { ProblemNote } from '@/components/ui/problem-note';
import { OrderNote } from './order-note';
import type { PlanDifferences } from './plan-differences';
import type { PlanOrder } from './use-plan-order';
import type { PlanReads } from './use-plan-reads';

/** Whether any row of the table shows what changed. */
const hasRows = ({ keys, envelope, gone }: PlanDifferences): boolean =>
  keys.size + envelope.size + gone.steps.length + gone.tools.length > 0;

/** Over the plan: what an order came to, what changed by itself and is to be read, what could not be read. */
export function PlanNews({
  ordered,
  failed,
  onRead,
  onShow,
}: {
  readonly ordered: Pick<PlanOrder, 'order' | 'holding' | 'differences' | 'blocked'>;
  readonly failed: PlanReads['failed'];
  /** The person says that they have read the plan as it is now. */
  readonly onRead: () => void;
  readonly onShow: () => void;
}) {
  const { order, holding, differences, blocked } = ordered;
  const isStale = order.problem?.kind === 'stale-plan';
  const ways = differences && (
    <>
      <Button size="small" onPress={onRead}>
        I have read it
      </Button>
      {hasRows(differences) && (
        <Button size="small" kind="quiet" onPress={onShow}>
          Show what changed
        </Button>
      )}
    </>
  );
  return (
    <>
      <OrderNote order={holding} />
      <OrderNote order={order} different={differences?.words} blocked={blocked}>
        {isStale && ways}
      </OrderNote>
      {differences && !isStale && (
        <ProblemNote
          open
          title={`The plan changed: ${differences.words.join(', ')}`}
          detail="Nobody chose anything here meanwhile; below is the plan as it is now."
        >
          {ways}
        </ProblemNote>
      )}
      {failed && (
        <ProblemNote title={`${failed.what} could not be read`} detail={failed.problem.detail}>
          <Button size="small" onPress={failed.again}>
            Try again
          </Button>
        </ProblemNote>
      )}
    </>
  );
}
