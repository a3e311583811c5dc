'use client';

import { useQuery } from '@tanstack/react-query';
import { plural, size, whole } from '@/components/ui/format';
import { Link } from '@/components/ui/link';
import { ProblemNote } from '@/components/ui/problem-note';
import { problemOf } from '@/lib/client/api';
import type { PlanAnswer } from '@/lib/client/api-types';
import { messagesQuery, stepQuery } from '@/lib/client/run-queries';
import { runHref } from '@/lib/client/url-state';
import { roleShares } from './context-figures';

/** So many messages are weighed; of a longer conversation the newest. */
const WEIGHED = 500;

/** The conversation that the model is given again: what is known of its size now, and why the rest is not. */
export function ContextCard({ plan }: { readonly plan: PlanAnswer }) {
  const { seq } = plan.from;
  const messages = useQuery(messagesQuery(plan.runId, seq, WEIGHED));
  const shares = roleShares(messages.data?.items ?? []);
  const bytes = shares.reduce((sum, each) => sum + each.bytes, 0);
  const weighed = messages.data?.items.length ?? 0;
  return (
    <section className="side-card" aria-label="Context at restart">
      <h2>
        Context at restart
        <span className="grow" />
        <Link className="link small" href={`${runHref(plan.runId, seq)}&tab=messages`}>
          {plural(plan.context.messages, 'message')}
        </Link>
      </h2>
      {messages.isError && (
        <ProblemNote title="The messages could not be read" detail={problemOf(messages.error).detail} />
      )}
      {shares.length > 0 && (
        <>
          <div
            className="ctx-bar"
            role="img"
            aria-label={`${size(bytes)}: ${shares.map((each) => `${each.role} ${size(each.bytes)}`).join(', ')}`}
          >
            {shares.map(({ role, share }) => (
              <i key={role} data-p={role} style={{ width: `${share * 100}%` }} />
            ))}
          </div>
          <ul className="ctx-key" aria-hidden="true">
            {shares.map((each) => (
              <li key={each.role}>
                <i data-p={each.role} />
                {each.role} <b>{size(each.bytes)}</b>
              </li>
            ))}
          </ul>
        </>
      )}
      {weighed < (messages.data?.total ?? 0) && (
        <p className="small third">The newest {whole(weighed)} messages are weighed.</p>
      )}
      <p className="small second">{plan.context.note}</p>
      <LastCall plan={plan} />
    </section>
  );
}

/** Tokens as the provider counted them for the newest call of a model before the point. */
function LastCall({ plan }: { readonly plan: PlanAnswer }) {
  const last = plan.steps.findLast(
    (step) => step.kind === 'llm' && step.seq <= plan.from.seq && step.disposition !== 'execute',
  );
  const step = useQuery({ ...stepQuery(plan.runId, last?.key ?? ''), enabled: last !== undefined }).data;
  const tokens = step?.usage?.inputTokens;
  return (
    <p className="small third">
      Size as it is stored. Tokens are not known before a call: no tokenizer and no window of the model are
      declared.
      {step !== undefined &&
        tokens !== undefined &&
        ` The newest call, ${step.name} at seq ${whole(step.attemptSeq)}${step.model === null ? '' : ` of ${step.model}`}, took ${whole(tokens)} tokens in.`}
    </p>
  );
}
