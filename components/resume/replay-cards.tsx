import type { PlanAnswer, RunSummary } from '@/lib/client/api-types';
import { unescapeName } from '@/lib/core/events/step-key';
import { fromTheRecord } from './will-call';

/** What a replay runs against, and that it touches nothing. */
export function ReplayCards({ plan, run }: { readonly plan: PlanAnswer; readonly run: RunSummary }) {
  const models = plan.steps.filter(({ kind }) => kind === 'llm');
  const blocked = plan.steps.find(({ disposition }) => disposition === 'blocked');
  return (
    <>
      <section className="side-card" aria-label="Replay">
        <h2>Nothing outside is touched</h2>
        <p className="small second">
          Effects, reads and people answer from the record: {fromTheRecord(plan.steps)}. Pure steps run with
          today's code; the first difference stops the replay, and the new run shows recorded beside new.
        </p>
      </section>
      <section className="side-card" aria-label="Model calls">
        <h2>Model calls</h2>
        <p className="small second">
          {models.length === 0
            ? 'None was recorded.'
            : `The recorded ${models.length === 1 ? 'answer is' : `${models.length} answers are`} returned; no model is called.`}
        </p>
      </section>
      <section className="side-card" aria-label="Against">
        <h2>Against</h2>
        <dl className="kv">
          <dt>Code</dt>
          <dd>
            {run.agent},{' '}
            {plan.drift.source === 'worker'
              ? 'of the newest live worker'
              : 'of the record: no worker is connected'}
          </dd>
          <dt>Machine</dt>
          <dd>
            {plan.machineDigest === null ? (
              'the trace names none'
            ) : (
              <code title={plan.machineDigest}>{plan.machineDigest.slice(0, 8)}</code>
            )}
          </dd>
          <dt>Stops at</dt>
          <dd>
            the first difference
            {blocked !== undefined && (
              <>
                , or <code>{unescapeName(blocked.name)}</code>, seq {blocked.seq}
              </>
            )}
          </dd>
        </dl>
      </section>
    </>
  );
}
