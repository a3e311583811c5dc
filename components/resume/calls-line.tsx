import { plural } from '@/components/ui/format';
import type { PlanAnswer } from '@/lib/client/api-types';
import { isOver } from './plan-draft';
import { fromTheRecord, willCall } from './will-call';

/** What the order calls outside, in one line below the steps. */
export function CallsLine({ plan }: { readonly plan: PlanAnswer }) {
  const { calls, mayCall, notAgain } = willCall(plan);
  if (plan.mode === 'replay')
    return (
      <p className="calls small">
        <span className="third">Will call</span>
        <span>nothing outside</span>
        <span className="third">From the record</span>
        <span>{fromTheRecord(plan.steps)}</span>
      </p>
    );
  return (
    <p className="calls small">
      <span className="third">Will call</span>
      {calls.length === 0 ? (
        <span>{isOver(plan) ? 'nothing' : 'nothing that is recorded'}</span>
      ) : (
        calls.map((call) => <span key={call}>{call}</span>)
      )}
      {!isOver(plan) && mayCall > 0 && (
        <span className="third">then may call {plural(mayCall, 'tool')}, see the end of the list</span>
      )}
      <span className="grow" />
      <span className="third">Confirmed effects not sent again</span>
      <strong>{notAgain}</strong>
    </p>
  );
}
