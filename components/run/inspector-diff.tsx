'use client';

import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { seen } from '@/components/ui/format';
import { EmptyNote, Skeleton } from '@/components/ui/problem-note';
import type { StateDiff } from '@/lib/client/api-types';
import { diffQuery } from '@/lib/client/run-queries';
import type { InspectorMoment } from './inspector-moment';
import { checkpointUpTo } from './moves';
import { PayloadView } from './payload-view';
import { Unread } from './unread';

type Change = StateDiff['changes'][number];
const signs = { added: '+', removed: '−', changed: '~' } as const satisfies Record<Change['change'], string>;
const looks = { added: 'add', removed: 'del', changed: 'chg' } as const satisfies Record<
  Change['change'],
  string
>;

function Side({
  label,
  value,
  payload,
}: {
  readonly label: string;
  readonly value: Change['left'];
  readonly payload: Change['leftRef'];
}) {
  if (payload) return <PayloadView label={label} payload={payload} />;
  return value === null ? null : (
    <code className="block break-words whitespace-pre-wrap">{seen(JSON.stringify(value, null, 1))}</code>
  );
}

function ChangeRow({ change }: { readonly change: Change }) {
  return (
    <li className="diff-change" data-d={looks[change.change]}>
      <p>
        <span className="sign" aria-hidden="true">
          {signs[change.change]}
        </span>
        <code>{change.path}</code> <span className="third small">{change.change}</span>
      </p>
      {change.change !== 'added' && (
        <div className="was">
          <span className="third small">was</span>
          <Side label={`${change.path} before`} value={change.left} payload={change.leftRef} />
        </div>
      )}
      {change.change !== 'removed' && (
        <div className="is">
          <span className="third small">is</span>
          <Side label={`${change.path} after`} value={change.right} payload={change.rightRef} />
        </div>
      )}
    </li>
  );
}

type Props = Pick<InspectorMoment, 'run' | 'settled' | 'step' | 'checkpoints'>;

export function DiffTab({ run, settled: seq, step, checkpoints }: Props) {
  const [since, setSince] = useState<'event' | 'step' | 'checkpoint' | 'start'>('event');
  const checkpoint = checkpointUpTo(checkpoints, seq - 1);
  const from = {
    event: seq - 1,
    step: (step?.startedSeq ?? seq) - 1,
    checkpoint: checkpoint?.seq ?? 0,
    start: 0,
  }[since];
  const query = useQuery(diffQuery(run.id, Math.max(0, from), seq));
  return (
    <>
      <div className="section flex items-center gap-2">
        <span className="small second">Since</span>
        <fieldset className="segment" data-size="small" aria-label="Compare with">
          {(['event', 'step', 'checkpoint', 'start'] as const).map((each) => (
            <button key={each} type="button" aria-pressed={since === each} onClick={() => setSince(each)}>
              {
                {
                  event: 'the event before',
                  step: 'before this step',
                  checkpoint: 'checkpoint',
                  start: 'start',
                }[each]
              }
            </button>
          ))}
        </fieldset>
      </div>
      <p className="px-[14px] pt-2 small third">
        seq {Math.max(0, from)} → {seq}
      </p>
      {query.isError && <Unread what="The difference" error={query.error} onAgain={query.refetch} />}
      {query.isPending && <Skeleton rows={4} />}
      {query.data && query.data.changes.length === 0 && (
        <EmptyNote title="Nothing changed between the two">
          Compare with an earlier moment to see more.
        </EmptyNote>
      )}
      <ul className="py-1" aria-label="Changes">
        {query.data?.changes.map((change) => (
          <ChangeRow key={change.path} change={change} />
        ))}
      </ul>
    </>
  );
}
