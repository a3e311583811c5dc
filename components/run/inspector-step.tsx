'use client';

import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { OrderNote } from '@/components/resume/order-note';
import { Button, ButtonLink } from '@/components/ui/button';
import { PageLink as Link } from '@/components/ui/confined';
import { CopyButton } from '@/components/ui/copy-button';
import {
  absolute,
  clock,
  dollars,
  duration,
  partEnd,
  plural,
  seen,
  size,
  zoneAt,
} from '@/components/ui/format';
import { Glyph } from '@/components/ui/glyph';
import { Badge, Mark } from '@/components/ui/mark';
import { EmptyNote, Skeleton } from '@/components/ui/problem-note';
import { useZone } from '@/components/ui/zone';
import type { CheckpointRow, EffectRow, RunSummary, StepDetail, StepRow } from '@/lib/client/api-types';
import { effectsQuery, stepQuery } from '@/lib/client/run-queries';
import { planHref, runHref } from '@/lib/client/url-state';
import type { PayloadRef } from '@/lib/core/events/payload';
import type { RunEvent } from '@/lib/core/events/run-event';
import { askWord, useAsking } from './asking';
import { checkpointInShort } from './checkpoint-words';
import { stepTokens } from './cost-words';
import { effectLine, mayHaveBegun } from './effect-line';
import { EffectTag } from './effect-tag';
import { EventSection } from './inspector-event';
import { FirstMessages } from './inspector-messages';
import type { InspectorMoment } from './inspector-moment';
import { checkpointUpTo } from './moves';
import { PayloadView } from './payload-view';
import { statusAt } from './tree-rows';
import { Unread } from './unread';
import { failureWords, kindGlyph, stepView, verdictView } from './views';

type Props = Pick<
  InspectorMoment,
  'run' | 'step' | 'stepLoads' | 'stepUnread' | 'event' | 'seq' | 'checkpoints' | 'onMove'
>;

/** Bytes of `{}`: nothing came with the message. */
const EMPTY_OBJECT = 2;

function Value({
  title,
  note = '',
  payload,
  children,
}: {
  readonly title: string;
  readonly note?: string;
  readonly payload: PayloadRef;
  /** What comes before the payload. */
  readonly children?: ReactNode;
}) {
  return (
    <section className="section">
      <h3>
        {title} <span className="third">{`${size(payload.bytes)}${note}`}</span>
      </h3>
      {children}
      <PayloadView key={payload.sha256} label={title} payload={payload} />
    </section>
  );
}

type Attempt = StepDetail['attempts'][number];

/** `time-out after 1.0 s`, `completed after 40 ms`; of one that has not ended, how it stands. */
const endedWords = ({ at, endedAt, outcome }: Attempt): string =>
  endedAt === null
    ? outcome
    : `${failureWords(outcome)} after ${duration(Date.parse(endedAt) - Date.parse(at))}`;

/** What a line may hold of an error; its event has all of it. */
const ERROR_LINE = 300;

function ErrorLine({ error: { type, message } }: { readonly error: NonNullable<Attempt['error']> }) {
  const said = seen(`${type}: ${message}`);
  const line = said.slice(0, partEnd(said, ERROR_LINE));
  return (
    <span className="second clip block" title={line}>
      {line}
    </span>
  );
}

function Attempts({ run, step, onMove }: Pick<Props, 'run' | 'onMove'> & { readonly step: StepRow }) {
  const detail = useQuery({
    ...stepQuery(run.id, step.stepKey),
    enabled: step.attempt > 1 || step.executions > 1,
  });
  const zone = useZone();
  const attempts = detail.data?.attempts ?? [];
  if (attempts.length < 2) return null;
  const workers = new Set(attempts.map(({ workerId }) => workerId));
  return (
    <section className="section">
      <h3>Attempts</h3>
      <ol className="attempts small">
        {attempts.map((attempt) => (
          <li key={attempt.seq}>
            <span className="line">
              <button type="button" className="link nowrap" onClick={() => onMove(attempt.seq, 'jump')}>
                seq {attempt.seq}
              </button>
              <span className="nowrap">attempt {attempt.attempt}</span>
              <span className="nowrap">{endedWords(attempt)}</span>
              <span className="third clip" title={absolute(Date.parse(attempt.at), zone)}>
                {clock(Date.parse(attempt.at), zone).slice(0, 8)} {zoneAt(Date.parse(attempt.at), zone)}
              </span>
            </span>
            {workers.size > 1 && (
              <span className="third block">worker {attempt.workerId ?? 'not known'}</span>
            )}
            {attempt.error && <ErrorLine error={attempt.error} />}
          </li>
        ))}
      </ol>
    </section>
  );
}

function Call({
  step,
  checkpoints,
}: {
  readonly step: StepRow;
  readonly checkpoints: readonly CheckpointRow[];
}) {
  const zone = useZone();
  const safe = checkpointUpTo(checkpoints, step.attemptSeq);
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['Began', absolute(Date.parse(step.startedAt), zone)],
    [
      'Took',
      step.endedAt === null ? undefined : duration(Date.parse(step.endedAt) - Date.parse(step.startedAt)),
    ],
    [
      'Events',
      step.endedSeq === null ? `seq ${step.startedSeq}, open` : `seq ${step.startedSeq} to ${step.endedSeq}`,
    ],
    ['Idempotency key', step.idempotencyKey ?? undefined],
    [
      'Guarded',
      step.guarded === null
        ? undefined
        : step.guarded
          ? 'yes: downstream knows its key'
          : 'no: a late send cannot be stopped',
    ],
    ['Receipt', step.receipt ?? undefined],
    ['Model', step.model ?? undefined],
    ['API', step.api ?? undefined],
    ['Tokens', stepTokens(step.usage)],
    ['Cost', step.usage?.costMicroUsd === undefined ? undefined : dollars(step.usage.costMicroUsd)],
    ['Safe point before', safe && checkpointInShort(safe)],
    [
      'Executions',
      step.executions <= step.attempt
        ? undefined
        : `${step.executions}, in ${plural(step.attempt, 'attempt')}`,
    ],
  ];
  return (
    <section className="section">
      <h3>Call</h3>
      <dl className="kv">
        {facts.map(([name, value]) =>
          value === undefined ? null : (
            <div key={name} className="contents">
              <dt>{name}</dt>
              <dd title={value}>{value}</dd>
            </div>
          ),
        )}
      </dl>
    </section>
  );
}

/** Intended, sent, confirmed: where an effect stands. */
function EffectSection({ run, step }: Pick<Props, 'run'> & { readonly step: StepRow }) {
  const ledger = useQuery(effectsQuery(run.id)).data?.items;
  const { sent, confirmed, done } = effectLine(step, ledger ?? []);
  const conflict = step.inForce && run.conflicts.includes(step.stepKey);
  const begun = mayHaveBegun(step) && !conflict;
  return (
    <section className="section">
      <ol className="ledger" aria-label="Where the effect stands">
        <li data-tone={begun ? 'ok' : 'neutral'} data-open={done ? undefined : ''}>
          <Glyph name={begun ? 'd-restored' : 'd-blocked'} />
          <b>Intended</b>
          <span>
            {begun
              ? `seq ${step.attemptSeq}, on disk`
              : `no, asked at seq ${step.attemptSeq}${conflict ? ' with other arguments than were confirmed' : ''}`}
          </span>
        </li>
        <li data-tone={sent.tone} data-open={done ? undefined : ''}>
          <Glyph name={sent.glyph} />
          <b>Sent?</b>
          <span>{sent.word}</span>
        </li>
        <li data-tone={confirmed.tone}>
          <Glyph name={confirmed.glyph} />
          <b>Confirmed</b>
          <span className="clip" title={confirmed.word}>
            {confirmed.word}
          </span>
        </li>
      </ol>
    </section>
  );
}

/** What may be done about an effect in doubt; asking is possible once the ledger has it. */
function Doubt({ run, step }: Pick<Props, 'run'> & { readonly step: StepRow }) {
  const effect = useQuery(effectsQuery(run.id)).data?.items.findLast(
    (each) => each.stepKey === step.stepKey && each.status === 'in-doubt',
  );
  return (
    <section className="section">
      <div className="note" data-tone="attention">
        <Glyph name="s-doubt" />
        <div className="grow">
          Not sent again until downstream answers or a person decides.
          {effect ? <Ask run={run} effect={effect} /> : <div className="mt-1">{decide(run)}</div>}
        </div>
      </div>
    </section>
  );
}

const decide = (run: RunSummary) => (
  <ButtonLink size="small" hotkey="D" href={planHref(run.id, 'resume')}>
    Decide…
  </ButtonLink>
);

function Ask({ run, effect }: { readonly run: RunSummary; readonly effect: EffectRow }) {
  const { order, query, said, reason, ask } = useAsking(run, effect);
  return (
    <>
      <div className="mt-1 flex gap-2">
        <Button size="small" glyph="probe" reason={reason} onPress={ask}>
          {askWord(query.data)}
        </Button>
        {decide(run)}
      </div>
      {said !== undefined && (
        <p className="mt-1" role="status">
          {said}
        </p>
      )}
      <OrderNote order={order} />
    </>
  );
}

/** What was asked and answered. An llm step's request begins with messages that the conversation has. */
function Values({ run, step, note }: Pick<Props, 'run'> & { readonly step: StepRow; readonly note: string }) {
  return (
    <>
      {step.input && (
        <Value title="Input" note={note} payload={step.input}>
          {step.conversation > 0 && (
            <FirstMessages
              key={step.stepKey}
              runId={run.id}
              seq={step.attemptSeq}
              count={step.conversation}
            />
          )}
        </Value>
      )}
      {step.message && <Value title="Message" payload={step.message} />}
      {step.result && (step.message === null || step.result.bytes > EMPTY_OBJECT) && (
        <Value title={step.message === null ? 'Result' : 'Rest of the reply'} payload={step.result} />
      )}
    </>
  );
}

/** What the person, the console or the run did at the cursor comes first; what the step's own events say stands below. */
const isOfStep = (event: RunEvent) => event.kind.startsWith('step.');

export function StepTab({ run, step, stepLoads, stepUnread, event, seq, checkpoints, onMove }: Props) {
  const other = event !== undefined && !isOfStep(event) && <EventSection run={run} event={event} />;
  if (!step)
    return (
      <>
        {other}
        {stepUnread ? (
          <Unread what="The steps" error={stepUnread.error} onAgain={stepUnread.again} />
        ) : stepLoads ? (
          <Skeleton rows={6} />
        ) : (
          <EmptyNote title="No step has begun here">
            Move the cursor forward, or choose a step in the timeline.
          </EmptyNote>
        )}
      </>
    );
  const then = statusAt(step, seq);
  const effectful = step.effect === 'external' || step.effect === 'idempotent';
  const fromRecord = step.status === 'reused' || step.status === 'skipped';
  return (
    <>
      {other}
      <header className="inspector-head">
        <div className="line">
          <Glyph name={kindGlyph[step.kind]} />
          <h2 className="clip">
            {step.name}
            <span className="third">{step.stepKey.slice(step.stepKey.lastIndexOf('#'))}</span>
          </h2>
          {step.effect !== null && <EffectTag effect={step.effect} />}
          <span className="grow" />
          <Badge view={stepView(step.status, run.status)} />
        </div>
        <div className="line small second">
          <code className="step-key">{step.stepKey}</code>
          <CopyButton key={step.stepKey} text={step.stepKey} what="the step key" compact />
          <span className="grow" />
          <span className="nowrap">attempt {step.attempt}</span>
        </div>
        {then !== step.status && then === 'running' && (
          <p className="small third mt-1">At the cursor it had not ended; below is what it came to.</p>
        )}
        {!step.inForce && (
          <p className="small second mt-1">Left behind by a rewind: kept in history, answers nothing.</p>
        )}
      </header>
      {effectful && !fromRecord && <EffectSection run={run} step={step} />}
      {step.status === 'in-doubt' && step.inForce && <Doubt run={run} step={step} />}
      {step.error && (
        <section className="section">
          <div className="note" data-tone="bad">
            <Glyph name="s-failed" />
            <div className="grow">
              <strong>{seen(step.error.type)}</strong>{' '}
              {step.failure !== null && <span className="second">({failureWords(step.failure)})</span>}
              <p className="break-words whitespace-pre-wrap">{seen(step.error.message)}</p>
              {step.error.stack !== undefined && (
                <details>
                  <summary className="small third">Stack</summary>
                  <pre className="mono break-words whitespace-pre-wrap">{seen(step.error.stack)}</pre>
                </details>
              )}
            </div>
          </div>
        </section>
      )}
      <Call step={step} checkpoints={checkpoints} />
      {step.verdict !== null && (
        <section className="section">
          <h3>Compared with the record</h3>
          <Mark view={verdictView[step.verdict]} />
        </section>
      )}
      {step.source && (
        <section className="section small">
          Answered from the record{step.source.seq !== null && ` at seq ${step.source.seq}`}
          {step.source.runId !== null && (
            <>
              {' of '}
              <Link className="link" href={runHref(step.source.runId, step.source.seq ?? undefined)}>
                {step.source.runId}
              </Link>
            </>
          )}
          .
        </section>
      )}
      <Attempts run={run} step={step} onMove={onMove} />
      <Values run={run} step={step} note={effectful && !fromRecord ? ', recorded before the call' : ''} />
      {event !== undefined && isOfStep(event) && (
        <details className="event-fold">
          <summary className="small second">The event at the cursor</summary>
          <EventSection run={run} event={event} />
        </details>
      )}
    </>
  );
}
