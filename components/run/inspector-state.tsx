'use client';

import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { seen, size } from '@/components/ui/format';
import { EmptyNote, Skeleton } from '@/components/ui/problem-note';
import { payloadQuery, stateQuery, writesQuery } from '@/lib/client/run-queries';
import type { PayloadRef } from '@/lib/core/events/payload';
import type { InspectorMoment } from './inspector-moment';
import { PayloadView } from './payload-view';
import { Unread } from './unread';
import type { Move } from './use-cursor';
import { phaseWord, runStatusView } from './views';

/** Small values are shown in their row. */
const INLINE = 512;

function Variable({
  name,
  payload,
  writtenAt,
  onMove,
}: {
  readonly name: string;
  readonly payload: PayloadRef;
  /** Seq of the event that wrote it; undefined where it is not known. */
  readonly writtenAt: number | undefined;
  readonly onMove: Move;
}) {
  const [open, setOpen] = useState(false);
  const inline = useQuery({ ...payloadQuery(payload.sha256), enabled: payload.bytes <= INLINE });
  return (
    <>
      <li>
        <button
          type="button"
          className="flex min-w-0 grow gap-2"
          aria-expanded={open}
          onClick={() => setOpen(!open)}
        >
          <span className="third" aria-hidden="true">
            {open ? '▾' : '▸'}
          </span>
          <span className="k" title={name}>
            {name}
          </span>
          <span className="v s">
            {inline.data === undefined ? `${payload.codec}, ${size(payload.bytes)}` : seen(inline.data)}
          </span>
        </button>
        {writtenAt !== undefined && (
          <button
            type="button"
            className="by link"
            title={`Written at seq ${writtenAt}: go there`}
            aria-label={`Go to seq ${writtenAt}, where ${name} was written`}
            onClick={() => onMove(writtenAt, 'jump')}
          >
            seq {writtenAt}
          </button>
        )}
      </li>
      {open && (
        <li className="block px-[14px] py-1">
          <PayloadView label={name} payload={payload} />
        </li>
      )}
    </>
  );
}

/** Until a moment’s own writes are read, those of another one stand in: what was written later is none of it. */
const writtenBy = (at: number | undefined, seq: number): number | undefined =>
  at !== undefined && at <= seq ? at : undefined;

export function StateTab({ run, settled, onMove }: Pick<InspectorMoment, 'run' | 'settled' | 'onMove'>) {
  const query = useQuery(stateQuery(run.id, settled));
  const written = useQuery(
    writesQuery(run.id, query.data?.seq ?? settled, Object.keys(query.data?.variables ?? {})),
  ).data;
  if (query.isError) return <Unread what="The state" error={query.error} onAgain={query.refetch} />;
  if (!query.data) return <Skeleton rows={6} />;
  const state = query.data;
  const variables = Object.entries(state.variables);
  const apis = Object.entries(state.apis);
  return (
    <>
      <section className="section">
        <dl className="kv">
          <dt>Status</dt>
          <dd>
            {runStatusView[state.status].word}, {phaseWord[state.phase]}
          </dd>
          <dt>State</dt>
          <dd>
            {state.visit
              ? `${state.visit.state}, visit ${state.visit.visit}, since seq ${state.visit.entrySeq}`
              : 'none yet'}
          </dd>
          <dt>Conversation</dt>
          <dd>{state.messages.count} messages</dd>
          <dt>So far</dt>
          <dd>
            {state.counts.steps} steps, {state.counts.visits} visits, {state.counts.checkpoints} checkpoints
          </dd>
          {apis.map(([name, api]) => (
            <div key={name} className="contents">
              <dt>API {name}</dt>
              <dd>
                {api.status === 'ok' ? 'answers' : 'unavailable'}, last call {api.lastCall} at seq {api.seq}
              </dd>
            </div>
          ))}
          <dt>Folded</dt>
          <dd className="third">
            snapshot at {state.folded.snapshotSeq} + {state.folded.events} events
          </dd>
        </dl>
      </section>
      {state.input && (
        <section className="section">
          <h3>
            Input of the run <span className="third">{size(state.input.bytes)}</span>
          </h3>
          <PayloadView label="Input of the run" payload={state.input} />
        </section>
      )}
      <section aria-label="Variables" className="py-2">
        <h3 className="px-[14px] small flex gap-2">
          Variables <span className="third font-normal">{variables.length}</span>
          <span className="grow" />
          {written !== undefined && written.size > 0 && (
            <span className="third font-normal" aria-hidden="true">
              written at
            </span>
          )}
        </h3>
        {variables.length === 0 ? (
          <EmptyNote title="No variable is set here" />
        ) : (
          <ul className="vars">
            {variables.map(([name, payload]) => (
              <Variable
                key={name}
                name={name}
                payload={payload}
                writtenAt={writtenBy(written?.get(name), state.seq)}
                onMove={onMove}
              />
            ))}
          </ul>
        )}
      </section>
    </>
  );
}
