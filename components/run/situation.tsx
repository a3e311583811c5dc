'use client';

import { useQuery } from '@tanstack/react-query';
import { memo, type ReactNode } from 'react';
import { OrderNote } from '@/components/resume/order-note';
import { Button, ButtonLink } from '@/components/ui/button';
import { moment, plural, seen } from '@/components/ui/format';
import { Glyph, type GlyphName } from '@/components/ui/glyph';
import { useHotkeys } from '@/components/ui/hotkeys';
import type { Tone } from '@/components/ui/mark';
import { ProblemNote } from '@/components/ui/problem-note';
import { useNow } from '@/components/ui/time';
import { useZone } from '@/components/ui/zone';
import { problemOf } from '@/lib/client/api';
import type { EffectRow, RunSummary } from '@/lib/client/api-types';
import { endedOrderQuery } from '@/lib/client/order-events';
import { effectsQuery, eventsQuery } from '@/lib/client/run-queries';
import { planHref } from '@/lib/client/url-state';
import { useHasWorker } from '@/lib/client/workers';
import { callIn } from '@/lib/core/events/step-key';
import { askWord, keyedDoubt, useAsking } from './asking';
import { PayloadView } from './payload-view';
import { impossibleNow, orderStanding, restWords } from './run-words';
import { runStatusView } from './views';

function Strip({
  tone,
  glyph,
  label,
  children,
  actions,
}: {
  readonly tone: Tone;
  readonly glyph: GlyphName;
  readonly label: string;
  readonly children: ReactNode;
  readonly actions?: ReactNode;
}) {
  return (
    <section className="situation" data-tone={tone} aria-label={label}>
      <Glyph name={glyph} />
      <p>{children}</p>
      <span className="grow" />
      {actions}
    </section>
  );
}

const interruptionWords = (run: RunSummary): string => {
  const { interruption } = run;
  if (!interruption) return '';
  const worker = interruption.workerId === null ? 'Its worker' : `Worker ${interruption.workerId}`;
  switch (interruption.cause) {
    case 'lease-lapsed':
      return `${worker} was lost: its lease lapsed at seq ${interruption.seq}.`;
    case 'hand-over':
      return `${worker} gave the run back at seq ${interruption.seq}.`;
    case 'order-refused':
      return 'The order was refused at its claim: the plan had changed. No worker has begun it.';
    default:
      return 'The trace ends here, without an outcome.';
  }
};

/** Nobody asked for this pause: the run came to something that its plan did not show. */
function pauseWords(before: string): string {
  const [, kind = '', name = ''] = /^(state|tool|plan):\s*(.*)$/s.exec(before) ?? [];
  if (kind === 'plan') return `What it would have done is not what the plan said. ${name}.`;
  return `It stopped before ${kind === '' ? before : `${kind} ${name}`}, which its plan did not allow.`;
}

/** Doubts that get a strip of their own; the plan has all of them. */
const STRIPS = 3;

function DoubtStrip({
  run,
  effect,
  first,
  keyed,
  children,
}: {
  readonly run: RunSummary;
  readonly effect: EffectRow;
  /** The words and the link that stand for all of them. */
  readonly first: boolean;
  /** The key that asks is this strip's. */
  readonly keyed: boolean;
  readonly children: ReactNode;
}) {
  const now = useNow();
  const zone = useZone();
  const { order, query, said, reason, ask } = useAsking(run, effect);
  useHotkeys(
    [
      {
        key: 'v',
        what: 'ask downstream',
        reason,
        run: () => {
          if (reason === undefined) ask();
        },
      },
    ],
    keyed,
  );
  const counts = effect.askAgainAt === null ? undefined : Date.parse(effect.askAgainAt);
  return (
    <>
      <Strip
        tone="attention"
        glyph="s-doubt"
        label={first ? 'Effects in doubt' : `${effect.name} in doubt`}
        actions={
          <>
            <Button
              size="small"
              glyph="probe"
              reason={reason}
              {...(keyed ? { hotkey: 'V' } : {})}
              onPress={ask}
            >
              {askWord(query.data)}
            </Button>
            {first && (
              <ButtonLink size="small" hotkey="D" href={planHref(run.id, 'resume')}>
                Decide…
              </ButtonLink>
            )}
          </>
        }
      >
        {children} Whether <code title={effect.stepKey}>{effect.name}</code> happened is not known.{' '}
        {said !== undefined && <span role="status">{said} </span>}
        {counts !== undefined && counts > now && now > 0 && (
          <span className="second">A “not found” counts from {moment(counts, zone)}.</span>
        )}
      </Strip>
      {(order.unanswered || order.problem) && <OrderNote order={order} />}
    </>
  );
}

function DoubtStrips({
  run,
  effects,
}: {
  readonly run: RunSummary;
  /** Undefined while the ledger is not loaded. */
  readonly effects: readonly EffectRow[] | undefined;
}) {
  const doubts = (effects ?? []).filter((effect) => effect.status === 'in-doubt');
  const head = (
    <>
      <strong>{plural(run.effectsInDoubt, 'effect')} in doubt.</strong>{' '}
      {run.status === 'interrupted' && interruptionWords(run)}
    </>
  );
  if (doubts.length === 0)
    return (
      <Strip
        tone="attention"
        glyph="s-doubt"
        label="Effects in doubt"
        actions={
          <ButtonLink size="small" href={planHref(run.id, 'resume')}>
            Decide…
          </ButtonLink>
        }
      >
        {head}
      </Strip>
    );
  const shown = doubts.slice(0, STRIPS);
  const keyed = keyedDoubt(shown);
  return shown.map((effect, n) => (
    <DoubtStrip
      key={`${effect.stepKey} ${effect.intentSeq}`}
      run={run}
      effect={effect}
      first={n === 0}
      keyed={effect === keyed}
    >
      {n === 0 && (
        <>
          {head} <InForce effects={effects ?? []} />
          {doubts.length > STRIPS && (
            <span className="second"> {doubts.length - STRIPS} more stand in the plan.</span>
          )}
        </>
      )}
    </DoubtStrip>
  ));
}

/** What was done outside and stays so, whatever is ordered next. */
function InForce({ effects }: { readonly effects: readonly EffectRow[] }) {
  const confirmed = effects.filter((effect) => effect.status === 'confirmed');
  if (confirmed.length === 0) return null;
  return (
    <span className="second" title={confirmed.map((effect) => effect.name).join(', ')}>
      Stays in force: {plural(confirmed.length, 'confirmed effect')}.
    </span>
  );
}

function FailureStrip({
  run,
  effects,
}: {
  readonly run: RunSummary;
  readonly effects: readonly EffectRow[];
}) {
  const { failure } = run;
  if (!failure) return null;
  return (
    <Strip tone="bad" glyph="s-failed" label="What happened">
      <strong>Failed{failure.stepKey === null ? '' : ' in '}</strong>
      {failure.stepKey !== null && <code>{failure.stepKey}</code>}
      <strong>.</strong> {seen(`${failure.error.type}: ${failure.error.message}`)}{' '}
      <InForce effects={effects} />
    </Strip>
  );
}

/** Where code and record differed, in a replay or as a run was entered again: the record beside what the code asked. */
function DivergencePanel({
  run,
  effects,
}: {
  readonly run: RunSummary;
  readonly effects: readonly EffectRow[];
}) {
  const near = run.failure?.seq ?? run.headSeq;
  const events = useQuery(eventsQuery(run.id, Math.max(0, near - 20), near));
  const found = events.data?.findLast((event) => event.kind === 'divergence.found');
  if (events.isError)
    return <ProblemNote title="The divergence could not be loaded" detail={problemOf(events.error).detail} />;
  if (found?.kind !== 'divergence.found') return <FailureStrip run={run} effects={effects} />;
  return (
    <section className="divergence" data-tone="bad" aria-label="Divergence">
      <h2>
        <Glyph name="s-diverged" toned />
        First difference at <code>{found.stepKey}</code>
        <span className="second font-normal">{seen(found.sentence)}</span>
      </h2>
      <div className="beside">
        <div>
          <h3>Recorded</h3>
          {found.recorded ? (
            <PayloadView label="Recorded" payload={found.recorded} />
          ) : (
            <p className="third">no record</p>
          )}
        </div>
        <div>
          <h3>New</h3>
          {found.asked ? (
            <PayloadView label="New" payload={found.asked} />
          ) : (
            <p className="third">not asked for</p>
          )}
        </div>
      </div>
    </section>
  );
}

/** A confirmed effect is asked for with other arguments: nothing is sent, and no order to go on gets past it. */
function ConflictStrip({ run }: { readonly run: RunSummary }) {
  const [key, ...more] = run.conflicts;
  if (key === undefined) return null;
  const link = (mode: 'rewind' | 'fork', word: string) => (
    <ButtonLink size="small" href={planHref(run.id, mode)} reason={impossibleNow(run, mode)}>
      {word}
    </ButtonLink>
  );
  return (
    <Strip
      tone="attention"
      glyph="d-blocked"
      label="Effect conflict"
      actions={
        <>
          {link('rewind', 'Rewind…')}
          {link('fork', 'Fork…')}
        </>
      }
    >
      <strong>
        Blocked at <code title={key}>{callIn(key)}</code>.
      </strong>{' '}
      It was confirmed with other arguments than the code asks for now; nothing was sent again. Rewind or fork
      to before the step that gave the new arguments, or fork with an edit that brings the old ones.
      {more.length > 0 && <span className="second"> {plural(more.length, 'more step')} blocked so.</span>}
    </Strip>
  );
}

/** A run that rests or waits though nothing went wrong: who stopped it and why, or whom it waits for. */
function RestStrip({ run }: { readonly run: RunSummary }) {
  const stopped = run.status === 'paused' || run.status === 'cancelled';
  const order = useQuery({ ...endedOrderQuery(run.id), enabled: stopped });
  const words = restWords(run, order.data ?? undefined);
  if (words === undefined || (stopped && order.isPending)) return null;
  const { tone, glyph } = runStatusView[run.status];
  return (
    <Strip tone={tone} glyph={glyph} label="What happened">
      {words}
    </Strip>
  );
}

function OrderStrip({ run }: { readonly run: RunSummary }) {
  const standing = orderStanding(run, useHasWorker(run.agent));
  if (standing === undefined || run.pending === null) return null;
  return (
    <Strip tone="active" glyph="s-queued" label="Order under way">
      <strong>{run.pending.mode}</strong> accepted from {run.pending.actor}; {standing.sentence}
    </Strip>
  );
}

/** Why the run stands as it does, above everything else. Empty while there is nothing to say. */
export const Situation = memo(function Situation({ run }: { readonly run: RunSummary }) {
  const stopped = run.status === 'failed' || run.status === 'interrupted' || run.effectsInDoubt > 0;
  const effects = useQuery({ ...effectsQuery(run.id), enabled: stopped });
  const ledger = effects.data?.items;
  return (
    <>
      {/* A copy may hold an order that its home took; nothing carries it out here. */}
      {run.home === 'here' && <OrderStrip run={run} />}
      {run.effectsInDoubt > 0 && <DoubtStrips run={run} effects={ledger} />}
      {run.effectsInDoubt === 0 && run.status === 'interrupted' && (
        <Strip tone="bad" glyph="s-interrupted" label="What happened">
          <strong>Interrupted.</strong> {interruptionWords(run)} Nothing is in doubt.{' '}
          <InForce effects={ledger ?? []} />
        </Strip>
      )}
      {run.status !== 'running' && run.endedAt === null && <ConflictStrip run={run} />}
      {run.pausedBefore !== null && (
        <Strip tone="attention" glyph="s-paused" label="What happened">
          <strong>Paused by itself.</strong> {pauseWords(run.pausedBefore)} Look at the plan again.
        </Strip>
      )}
      <RestStrip run={run} />
      {run.failure?.cause === 'diverged' ? (
        <DivergencePanel run={run} effects={ledger ?? []} />
      ) : (
        run.status === 'failed' && <FailureStrip run={run} effects={ledger ?? []} />
      )}
      {stopped && effects.isError && (
        <ProblemNote title="The effects could not be read" detail={problemOf(effects.error).detail}>
          <Button size="small" onPress={() => void effects.refetch()}>
            Try again
          </Button>
        </ProblemNote>
      )}
    </>
  );
});
