'use client';

import { useMutation, useQuery } from '@tanstack/react-query';
import { EffectTag } from '@/components/run/effect-tag';
import { PayloadView } from '@/components/run/payload-view';
import type { Field } from '@/components/run/schema-fields';
import { SchemaForm } from '@/components/run/schema-form';
import { useVerify } from '@/components/run/situation';
import { Button } from '@/components/ui/button';
import { absolute, relative } from '@/components/ui/format';
import { Glyph } from '@/components/ui/glyph';
import { ProblemNote } from '@/components/ui/problem-note';
import { useNow } from '@/components/ui/time';
import { orThrow, problemOf } from '@/lib/client/api';
import type { EffectRow, RunSummary } from '@/lib/client/api-types';
import { newCommandId, sendCommand } from '@/lib/client/plan-queries';
import { readEvents, runKeys } from '@/lib/client/run-queries';
import type { EventOf } from '@/lib/core/events/run-event';
import type { DecisionDraft, Outcome } from './plan-draft';

const answers = {
  happened: { tone: 'ok', glyph: 's-completed', words: 'Found: it happened.' },
  'did-not-happen': { tone: 'neutral', glyph: 's-cancelled', words: 'Not found: it did not happen.' },
  unknown: { tone: 'attention', glyph: 's-unknown', words: 'No definite answer.' },
} as const;

/** The newest answers about this intent, probe or late worker. */
function useVerifications(run: RunSummary, effect: EffectRow) {
  return useQuery({
    queryKey: [...runKeys.live(run.id), 'verified', effect.runId, effect.intentSeq, effect.stepKey],
    queryFn: async ({ signal }) => {
      const { items } = orThrow(await readEvents(effect.runId, effect.intentSeq, 1_000, signal));
      return items.filter(
        (event): event is EventOf<'effect.verified'> =>
          event.kind === 'effect.verified' && event.stepKey === effect.stepKey,
      );
    },
  });
}

function Answer({ run, effect }: { readonly run: RunSummary; readonly effect: EffectRow }) {
  const now = useNow();
  const verify = useVerify(run.id);
  const verified = useVerifications(run, effect);
  const newest = verified.data?.at(-1);
  const settled = effect.status !== 'in-doubt';
  const waits = verify.isSuccess && (newest === undefined || newest.at < verify.submittedAt - 60_000);
  const askAgain = effect.askAgainAt === null ? undefined : Date.parse(effect.askAgainAt);
  const reason = settled
    ? 'It is settled'
    : !effect.verifiable
      ? 'This tool has no probe'
      : run.actions.verify.possible
        ? verify.isPending || waits
          ? 'Asked; waits for the answer'
          : undefined
        : (run.actions.verify.reason ?? 'Not possible now');
  return (
    <div className="verify">
      <div className="line">
        <Glyph name="probe" />
        <span className="clip">
          {newest
            ? `${newest.source === 'probe' ? 'Asked the provider' : 'A late worker told'}, ${absolute(newest.at).slice(11, 19)} UTC`
            : effect.verifiable
              ? 'The provider has not been asked'
              : 'No probe is declared'}
        </span>
        <span className="grow" />
        <Button size="small" kind="quiet" hotkey="V" reason={reason} onPress={() => verify.mutate(effect)}>
          {newest ? 'Ask again' : 'Ask the provider'}
        </Button>
      </div>
      <div role="status" aria-label="Provider's answer" aria-live="polite">
        {newest && (
          <div className="answer" data-tone={answers[newest.outcome].tone}>
            <Glyph name={answers[newest.outcome].glyph} toned />
            <div className="grow">
              <strong>{answers[newest.outcome].words}</strong>{' '}
              {newest.receipt !== undefined && <code>{newest.receipt}</code>}
              {newest.note !== undefined && <p className="second break-words">{newest.note}</p>}
            </div>
          </div>
        )}
        {waits && <p className="answer">Asked. A worker with this tool's probe answers; it is shown here.</p>}
        {!settled && askAgain !== undefined && askAgain > now && now > 0 && (
          <p className="answer" data-tone="attention">
            Ask again at {absolute(askAgain).slice(11, 19)} UTC ({relative(askAgain, now)}): before then “not
            found” means not known.
          </p>
        )}
      </div>
      {verify.isError && (
        <ProblemNote title={problemOf(verify.error).title} detail={problemOf(verify.error).detail} />
      )}
    </div>
  );
}

const outcomes: readonly { readonly value: Outcome; readonly word: string; readonly sub: string }[] = [
  {
    value: 'happened',
    word: 'It happened',
    sub: 'Counts as confirmed, is never sent again. The code is given the result that you enter.',
  },
  {
    value: 'did-not-happen',
    word: 'It did not happen',
    sub: 'It is sent again with the same key: a late success is not doubled where the provider knows keys.',
  },
  { value: 'hold', word: 'Hold', sub: 'Nothing runs. It stays in doubt.' },
];

/** Writes the hold into the journal, with who and why; it starts nothing. */
function RecordHold({
  run,
  effect,
  reason,
}: {
  readonly run: RunSummary;
  readonly effect: EffectRow;
  readonly reason: string;
}) {
  const hold = useMutation({
    mutationFn: async () =>
      orThrow(
        await sendCommand(run.id, {
          mode: 'decide',
          commandId: newCommandId(),
          reason,
          decisions: { [effect.stepKey]: { intentSeq: effect.intentSeq, outcome: 'hold' } },
        }),
      ),
  });
  return (
    <div className="pt-2">
      <Button
        size="small"
        reason={effect.held || hold.isSuccess ? 'The hold is recorded' : hold.isPending ? 'Sent' : undefined}
        onPress={() => hold.mutate()}
      >
        {effect.held || hold.isSuccess ? 'Hold recorded' : 'Record the hold'}
      </Button>
      {hold.isError && (
        <ProblemNote title={problemOf(hold.error).title} detail={problemOf(hold.error).detail} />
      )}
    </div>
  );
}

interface Props {
  readonly run: RunSummary;
  /** The person's reason for what is decided here. */
  readonly reason: string;
  readonly effect: EffectRow;
  readonly fields: readonly Field[];
  readonly draft: DecisionDraft | undefined;
  /** The draft is whole and part of the plan. */
  readonly decided: boolean;
  readonly onDraft: (draft: DecisionDraft | undefined) => void;
}

/** One effect whose outcome has to be settled: ask, or decide by hand. */
export function EffectCard({ run, reason, effect, fields, draft, decided, onDraft }: Props) {
  const settled = effect.status !== 'in-doubt';
  const word = settled
    ? effect.status === 'confirmed'
      ? 'It happened'
      : effect.status === 'failed'
        ? 'It did not happen'
        : 'Under way'
    : decided && draft?.outcome !== 'hold'
      ? 'Decided'
      : 'Decide';
  const closed = settled || word === 'Decided';
  return (
    <section
      className="side-card decide"
      data-open={closed ? undefined : ''}
      aria-label={`Effect ${effect.name}`}
    >
      <h2 data-tone={closed ? 'ok' : 'attention'}>
        <Glyph name={closed ? 's-completed' : 's-doubt'} toned />
        {word}: <code>{effect.name}</code>
        <span className="grow" />
        <EffectTag effect={effect.effect} />
      </h2>
      <p className="small second mb-2">
        <code>{effect.stepKey}</code>, intended at seq {effect.intentSeq}
        {effect.executions > 1 && `, may have left ${effect.executions} times`}
        {effect.held && ', on hold by decision'}
        {!effect.guarded && ', unguarded: the provider knows no key, so a late send cannot be stopped'}
        {effect.receipt !== null && (
          <>
            , receipt <code>{effect.receipt}</code>
          </>
        )}
      </p>
      <Answer run={run} effect={effect} />
      {!settled && (
        <fieldset className="choices">
          <legend className="visually-hidden">What happened to {effect.name}?</legend>
          {outcomes.map(({ value, word: choice, sub }) => (
            <div key={value} className="choice">
              <input
                type="radio"
                id={`${effect.stepKey} ${value}`}
                name={`decision ${effect.stepKey}`}
                checked={draft?.outcome === value}
                onChange={() =>
                  onDraft({ outcome: value, texts: draft?.texts ?? {}, receipt: draft?.receipt ?? '' })
                }
              />
              <div>
                <label htmlFor={`${effect.stepKey} ${value}`}>{choice}</label>
                <span className="sub">{sub}</span>
                {draft?.outcome === value && value === 'hold' && (
                  <RecordHold run={run} effect={effect} reason={reason} />
                )}
                {draft?.outcome === value && value === 'happened' && (
                  <div className="pb-1">
                    <SchemaForm
                      fields={fields}
                      texts={draft.texts}
                      onChange={(name, text) =>
                        onDraft({ ...draft, texts: { ...draft.texts, [name]: text } })
                      }
                    />
                    <label className="mt-2 block">
                      <span className="small">
                        Receipt<span className="third"> optional, the evidence</span>
                      </span>
                      <input
                        className="text mono"
                        aria-label="Receipt"
                        value={draft.receipt}
                        onChange={(event) => onDraft({ ...draft, receipt: event.target.value })}
                      />
                    </label>
                  </div>
                )}
              </div>
            </div>
          ))}
        </fieldset>
      )}
      {effect.input && (
        <details className="mt-2 small">
          <summary className="second">What was sent</summary>
          <PayloadView label={`Arguments of ${effect.name}`} payload={effect.input} />
        </details>
      )}
    </section>
  );
}
