'use client';

import { useMutation, useQuery } from '@tanstack/react-query';
import { memo, type ReactNode } from 'react';
import { Button, ButtonLink } from '@/components/ui/button';
import { clock, plural } from '@/components/ui/format';
import { Glyph, type GlyphName } from '@/components/ui/glyph';
import type { Tone } from '@/components/ui/mark';
import { ProblemNote } from '@/components/ui/problem-note';
import { useNow } from '@/components/ui/time';
import { orThrow, problemOf } from '@/lib/client/api';
import type { EffectRow, RunSummary } from '@/lib/client/api-types';
import { newCommandId, sendCommand } from '@/lib/client/plan-queries';
import { effectsQuery, readEvents, runKeys } from '@/lib/client/run-queries';
import { planHref } from '@/lib/client/url-state';
import { PayloadView } from './payload-view';

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

/** Sends a verify order for one effect; the answer arrives as an event. */
export function useVerify(runId: string) {
  return useMutation({
    mutationFn: async (effect: Pick<EffectRow, 'stepKey'>) =>
      orThrow(
        await sendCommand(runId, {
          mode: 'verify',
          commandId: newCommandId(),
          reason: '',
          stepKey: effect.stepKey,
        }),
      ),
  });
}

const interruptionWords = (run: RunSummary): string => {
  const { interruption } = run;
  if (!interruption) return '';
  const worker = interruption.workerId === null ? 'Its worker' : `Worker ${interruption.workerId}`;
  switch (interruption.cause) {
    case 'lease-lapsed':
      return `${worker} was lost: its lease lapsed at seq ${interruption.seq}.`;
    case 'hand-over':
      return `${worker} handed the run over when it was stopped.`;
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

function DoubtStrip({ run, effects }: { readonly run: RunSummary; readonly effects: readonly EffectRow[] }) {
  const now = useNow();
  const verify = useVerify(run.id);
  const doubts = effects.filter((effect) => effect.status === 'in-doubt');
  const first = doubts[0];
  if (!first) return null;
  const reason = run.actions.verify.possible
    ? first.verifiable
      ? undefined
      : 'This tool has no probe'
    : (run.actions.verify.reason ?? 'Not possible now');
  return (
    <>
      <Strip
        tone="attention"
        glyph="s-doubt"
        label="Effects in doubt"
        actions={
          <>
            {first.askAgainAt !== null && Date.parse(first.askAgainAt) > now && now > 0 && (
              <span className="small second nowrap hide-narrow">
                a “not found” counts from {clock(Date.parse(first.askAgainAt)).slice(0, 8)} UTC
              </span>
            )}
            <Button
              size="small"
              glyph="probe"
              reason={verify.isPending || verify.isSuccess ? 'Asked; the answer will appear here' : reason}
              onPress={() => verify.mutate(first)}
            >
              Ask the provider
            </Button>
            <ButtonLink size="small" href={planHref(run.id, 'resume')}>
              Decide…
            </ButtonLink>
          </>
        }
      >
        <strong>{plural(doubts.length, 'effect')} in doubt.</strong>{' '}
        {run.status === 'interrupted' && interruptionWords(run)} Whether <code>{first.name}</code> happened is
        not known. <InForce effects={effects} />
      </Strip>
      {verify.isError && (
        <ProblemNote title={problemOf(verify.error).title} detail={problemOf(verify.error).detail} />
      )}
    </>
  );
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
  effects = [],
}: {
  readonly run: RunSummary;
  readonly effects?: readonly EffectRow[];
}) {
  const { failure } = run;
  if (!failure) return null;
  return (
    <Strip tone="bad" glyph="s-failed" label="What happened">
      <strong>Failed{failure.stepKey === null ? '' : ' in '}</strong>
      {failure.stepKey !== null && <code>{failure.stepKey}</code>}
      <strong>.</strong> {failure.error.type}: {failure.error.message} <InForce effects={effects} />
    </Strip>
  );
}

/** Where a replay differed: the record beside what today's code gave. */
export function DivergencePanel({ run }: { readonly run: RunSummary }) {
  const near = run.failure?.seq ?? run.headSeq;
  const events = useQuery({
    queryKey: [...runKeys.run(run.id), 'divergence', near],
    queryFn: async ({ signal }) =>
      orThrow(await readEvents(run.id, Math.max(0, near - 20), 40, signal)).items,
  });
  const found = events.data?.findLast((event) => event.kind === 'divergence.found');
  if (events.isError)
    return <ProblemNote title="The divergence could not be loaded" detail={problemOf(events.error).detail} />;
  if (found?.kind !== 'divergence.found') return <FailureStrip run={run} />;
  return (
    <section className="divergence" data-tone="bad" aria-label="Divergence">
      <h2>
        <Glyph name="s-diverged" toned />
        First difference at <code>{found.stepKey}</code>
        <span className="second font-normal">{found.sentence}</span>
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

/** Why the run stands as it does, above everything else. Empty while there is nothing to say. */
export const Situation = memo(function Situation({ run }: { readonly run: RunSummary }) {
  const stopped = run.status === 'failed' || run.status === 'interrupted' || run.effectsInDoubt > 0;
  const effects = useQuery({ ...effectsQuery(run.id), enabled: stopped });
  if (run.badges.includes('diverged')) return <DivergencePanel run={run} />;
  const strips: ReactNode[] = [];
  // A copy may hold an order that its home took; nothing carries it out here.
  if (run.pending && run.home === 'here') {
    strips.push(
      <Strip key="pending" tone="active" glyph="s-queued" label="Order under way">
        <strong>{run.pending.mode}</strong> accepted from {run.pending.actor};{' '}
        {run.holder
          ? `worker ${run.holder.workerId} carries it out.`
          : 'it starts as soon as a worker with this agent is free.'}
      </Strip>,
    );
  }
  if (run.effectsInDoubt > 0)
    strips.push(<DoubtStrip key="doubt" run={run} effects={effects.data?.items ?? []} />);
  else if (run.status === 'interrupted') {
    strips.push(
      <Strip key="interrupted" tone="bad" glyph="s-interrupted" label="What happened">
        <strong>Interrupted.</strong> {interruptionWords(run)} Nothing is in doubt.{' '}
        <InForce effects={effects.data?.items ?? []} />
      </Strip>,
    );
  }
  if (run.pausedBefore !== null)
    strips.push(
      <Strip key="paused" tone="attention" glyph="s-paused" label="What happened">
        <strong>Paused by itself.</strong> {pauseWords(run.pausedBefore)} Look at the plan again.
      </Strip>,
    );
  if (run.status === 'failed')
    strips.push(<FailureStrip key="failed" run={run} effects={effects.data?.items ?? []} />);
  return strips;
});
