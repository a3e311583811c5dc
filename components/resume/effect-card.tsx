'use client';

import { answeredWords, answerView, askWord, decidedWords, useAsking } from '@/components/run/asking';
import { EffectTag } from '@/components/run/effect-tag';
import { PayloadView } from '@/components/run/payload-view';
import type { Field } from '@/components/run/schema-fields';
import { SchemaForm } from '@/components/run/schema-form';
import { Button } from '@/components/ui/button';
import { moment, relative, seen } from '@/components/ui/format';
import { Glyph } from '@/components/ui/glyph';
import { Link } from '@/components/ui/link';
import { ProblemNote } from '@/components/ui/problem-note';
import { useNow } from '@/components/ui/time';
import { useZone } from '@/components/ui/zone';
import { problemOf } from '@/lib/client/api';
import type { EffectRow, RunSummary } from '@/lib/client/api-types';
import type { Verification } from '@/lib/client/order-events';
import { runHref } from '@/lib/client/url-state';
import { useOrder } from '@/lib/client/use-order';
import { OrderNote } from './order-note';
import { type DecisionDraft, decisionOf, type Outcome } from './plan-draft';

function Answer({
  effect,
  asking,
  said,
  keyed,
}: {
  readonly effect: EffectRow;
  readonly asking: ReturnType<typeof useAsking>;
  /** A person's word, where it is what the outcome is known by. */
  readonly said: Verification['decided'];
  readonly keyed: boolean;
}) {
  const now = useNow();
  const zone = useZone();
  const { order, query, words, reason, ask } = asking;
  const { answer, waits, ended } = query.data ?? {};
  const settled = effect.status !== 'in-doubt';
  const askAgain = effect.askAgainAt === null ? undefined : Date.parse(effect.askAgainAt);
  return (
    <div className="verify" data-keyed={keyed ? '' : undefined}>
      <div className="line">
        <Glyph name="probe" />
        <span className="grow">
          {answer
            ? answeredWords(answer, zone)
            : !effect.verifiable
              ? 'No probe is declared'
              : query.data
                ? waits || ended
                  ? 'Downstream has not answered'
                  : 'Downstream has not been asked'
                : ''}
        </span>
        <Button size="small" kind="quiet" {...(keyed ? { hotkey: 'V' } : {})} reason={reason} onPress={ask}>
          {askWord(query.data)}
        </Button>
      </div>
      <div role="status" aria-label="Answer from downstream" aria-live="polite">
        {answer && (
          <div className="answer" data-tone={answerView[answer.outcome].tone}>
            <Glyph name={answerView[answer.outcome].glyph} toned />
            <div className="grow">
              <strong>{answerView[answer.outcome].words}</strong>{' '}
              {answer.receipt !== undefined && <code>{answer.receipt}</code>}
              {answer.note !== undefined && <p className="second break-words">{seen(answer.note)}</p>}
            </div>
          </div>
        )}
        {said !== undefined && <p className="answer">{decidedWords(said, zone)}</p>}
        {!settled && words !== undefined && (
          <p className="answer" data-tone={ended === undefined ? undefined : 'attention'}>
            {words}
          </p>
        )}
        {!settled && askAgain !== undefined && askAgain > now && now > 0 && (
          <p className="answer" data-tone="attention">
            Ask again at {moment(askAgain, zone)} ({relative(askAgain, now)}): before then “not found” means
            not known.
          </p>
        )}
      </div>
      {query.isError && (
        <ProblemNote title="The answers could not be read" detail={problemOf(query.error).detail} />
      )}
      <OrderNote order={order} />
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
    sub: 'The call goes out under the same key: a late success is not doubled where downstream knows keys.',
  },
  { value: 'hold', word: 'Hold', sub: 'Nothing runs. It stays in doubt.' },
];

/** Writes the decision into the journal, with who and why, by itself: it starts nothing. */
function RecordDecision({
  run,
  effect,
  draft,
  fields,
  reason,
  onActed,
}: {
  readonly run: RunSummary;
  readonly effect: EffectRow;
  readonly draft: DecisionDraft;
  readonly fields: readonly Field[];
  readonly reason: string;
  readonly onActed: () => void;
}) {
  const order = useOrder(run.id, `decide ${effect.stepKey} ${effect.intentSeq}`, { onAccepted: onActed });
  const decision = decisionOf(draft, effect, fields);
  const what = draft.outcome === 'hold' ? 'hold' : 'decision';
  const done = draft.outcome === 'hold' && effect.held;
  if (done && order.accepted !== undefined) order.clear();
  return (
    <div className="pt-2">
      <Button
        size="small"
        reason={done ? 'The hold is recorded' : typeof decision === 'string' ? decision : order.lock}
        onPress={() => {
          if (typeof decision !== 'string')
            order.give(
              { mode: 'decide', reason, decisions: { [effect.stepKey]: decision } },
              `Record the ${what}`,
            );
        }}
      >
        {done ? 'Hold recorded' : `Record the ${what}`}
      </Button>
      <OrderNote order={order} />
    </div>
  );
}

/** What a probe or a late worker said, where it could confirm nothing by itself: it brought no result. */
const suggested = (effect: EffectRow) =>
  effect.evidence?.find(({ intentSeq }) => intentSeq === effect.intentSeq);

interface Props {
  readonly run: RunSummary;
  /** The person's reason for what is decided here. */
  readonly reason: string;
  readonly effect: EffectRow;
  readonly fields: readonly Field[];
  readonly draft: DecisionDraft | undefined;
  /** The draft is whole and part of the plan. */
  readonly decided: boolean;
  /** The key that asks is this card's. */
  readonly keyed: boolean;
  /** The person is at this card. */
  readonly onHere: () => void;
  readonly onDraft: (draft: DecisionDraft) => void;
  /** The person asked about it or decided it, by itself. */
  readonly onActed: () => void;
}

/** The decision by which the outcome is known, where no answer gave it. */
function personsWord(
  { status, confirmedBy }: Pick<EffectRow, 'status' | 'confirmedBy'>,
  known: Verification | undefined,
): Verification['decided'] {
  const { decided, answer } = known ?? {};
  if (confirmedBy === 'decision') return decided;
  return status === 'failed' && answer?.outcome !== 'did-not-happen' ? decided : undefined;
}

function outcomeWord({ status, confirmedBy }: EffectRow, said: Verification['decided']): string {
  switch (status) {
    case 'confirmed':
      return confirmedBy === 'decision' ? 'Decided that it happened' : 'It happened';
    case 'failed':
      return said === undefined ? 'It did not happen' : 'Decided that it did not happen';
    case 'compensated':
      return 'Compensated';
    case 'intended':
    case 'in-doubt':
      return 'Under way';
  }
}

/** One effect whose outcome has to be known: ask, or decide. */
export function EffectCard(props: Props) {
  const { run, reason, effect, fields, draft, decided, onDraft, onActed } = props;
  const asking = useAsking(run, effect, onActed);
  const said = personsWord(effect, asking.query.data);
  const settled = effect.status !== 'in-doubt';
  const elsewhere = effect.runId !== run.id;
  const word = settled
    ? outcomeWord(effect, said)
    : decided && draft?.outcome !== 'hold'
      ? 'Decided'
      : 'Decide';
  const closed = settled || word === 'Decided';
  return (
    <section
      className="side-card decide"
      data-open={closed ? undefined : ''}
      aria-label={`Effect ${effect.name}`}
      onFocus={props.onHere}
    >
      <h2 data-tone={closed ? 'ok' : 'attention'}>
        <Glyph name={closed ? 's-completed' : 's-doubt'} toned />
        {word}: <code>{effect.name}</code>
        <span className="grow" />
        <EffectTag effect={effect.effect} />
      </h2>
      <p className="small second mb-2">
        <code>{effect.stepKey}</code>, intended at seq {effect.intentSeq}
        {elsewhere && (
          <>
            {' '}
            of{' '}
            <Link className="link" href={runHref(effect.runId, effect.intentSeq)}>
              {effect.runId}
            </Link>
          </>
        )}
        {effect.executions > 1 && `, may have left ${effect.executions} times`}
        {effect.held && ', on hold by decision'}
        {!effect.guarded && ', unguarded: downstream knows no key, so a late send cannot be stopped'}
        {effect.receipt !== null && (
          <>
            , receipt <code>{effect.receipt}</code>
          </>
        )}
      </p>
      <Answer effect={effect} asking={asking} said={said} keyed={props.keyed} />
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
                  onDraft({
                    outcome: value,
                    texts: draft?.texts ?? {},
                    receipt: draft?.receipt ?? suggested(effect)?.receipt ?? '',
                  })
                }
              />
              <div>
                <label htmlFor={`${effect.stepKey} ${value}`}>{choice}</label>
                {value === 'happened' && suggested(effect) !== undefined && (
                  <span className="suggest">suggested by {suggested(effect)?.source}</span>
                )}
                <span className="sub">{sub}</span>
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
                {draft?.outcome === value && (
                  <>
                    <p className="sub pt-1">
                      {elsewhere
                        ? `Run ${effect.runId} intended it: the decision is recorded by itself, before the order, and counts for every run of the lineage.`
                        : value === 'hold'
                          ? ''
                          : 'It is recorded with the order below; or by itself, which starts nothing.'}
                    </p>
                    <RecordDecision
                      run={run}
                      effect={effect}
                      draft={draft}
                      fields={fields}
                      reason={reason}
                      onActed={onActed}
                    />
                  </>
                )}
              </div>
            </div>
          ))}
        </fieldset>
      )}
      {effect.input && (
        <details className="mt-2 small">
          <summary className="second">Its arguments</summary>
          <PayloadView label={`Arguments of ${effect.name}`} payload={effect.input} />
        </details>
      )}
    </section>
  );
}
