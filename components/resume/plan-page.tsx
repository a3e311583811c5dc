'use client';

import { useQuery } from '@tanstack/react-query';
import Link from 'next/link';
import { useRouter } from 'next/navigation';
import { useQueryStates } from 'nuqs';
import { useCallback, useMemo, useState, useSyncExternalStore } from 'react';
import { LastOrder } from '@/components/run/last-order';
import { NotLive } from '@/components/run/not-live';
import { RunUnread } from '@/components/run/run-unread';
import { impossibleNow } from '@/components/run/run-words';
import { fieldsOf } from '@/components/run/schema-fields';
import { useRested, useRun, useRunLive } from '@/components/run/use-run';
import { badgeView, runStatusView } from '@/components/run/views';
import { Button, ButtonLink } from '@/components/ui/button';
import { moment, sentence } from '@/components/ui/format';
import { Glyph, type GlyphName } from '@/components/ui/glyph';
import { useHotkeys, useModEnter, useUnsaved } from '@/components/ui/hotkeys';
import { Badge } from '@/components/ui/mark';
import { ProblemNote, Skeleton } from '@/components/ui/problem-note';
import { problemOf } from '@/lib/client/api';
import type { EffectRow, PlanMode, RunSummary } from '@/lib/client/api-types';
import { ELSEWHERE_MS } from '@/lib/client/order-events';
import { planQuery } from '@/lib/client/plan-queries';
import { checkpointsQuery, effectsQuery, graphQuery, machineQuery } from '@/lib/client/run-queries';
import { planModes, planParams, runHref } from '@/lib/client/url-state';
import { useOrder } from '@/lib/client/use-order';
import { backTo, previousUrl } from './back-to';
import { CheckpointPicker } from './checkpoint-picker';
import { DriftStrip } from './drift-strip';
import { EditsCard } from './edits-card';
import { EffectCard } from './effect-card';
import { LeftBehind } from './left-behind';
import { OrderNote } from './order-note';
import {
  draftToPlan,
  goesWithOrder,
  intentKey,
  isDirty,
  isOver,
  modeFor,
  noDraft,
  orderWords,
  planDifferences,
  readDraft,
  settles,
  startOf,
} from './plan-draft';
import { PlanTable } from './plan-table';
import { isSame, type ReadPlan, readOnArrival } from './read-plan';

const modes = {
  resume: {
    word: 'Resume',
    glyph: 'resume',
    sentence:
      'Goes on in the same run. Recorded results are returned, confirmed effects are never sent again.',
  },
  fork: {
    word: 'Fork',
    glyph: 'fork',
    sentence:
      'Makes a new run from this point; effects that it inherits keep their keys and are not sent again.',
  },
  replay: {
    word: 'Replay',
    glyph: 'replay',
    sentence: 'A new run from the start: pure steps run, all else answers from the record; nothing goes out.',
  },
  rewind: {
    word: 'Rewind',
    glyph: 'rewind',
    sentence:
      'The same run goes back. Confirmed effects that came later stay in force only if you keep them.',
  },
} as const satisfies Record<PlanMode, { word: string; glyph: GlyphName; sentence: string }>;

export function PlanPage({ runId }: { readonly runId: string }) {
  const query = useRun(runId);
  if (query.data) return <Planner run={query.data} />;
  if (query.isError)
    return <RunUnread runId={runId} error={query.error} onAgain={() => void query.refetch()} />;
  return (
    <main className="page">
      <Skeleton rows={12} />
    </main>
  );
}

const NOTHING: ReadonlySet<string> = new Set();
const NONE: readonly never[] = [];
const neverChanges = () => () => undefined;

/** Effects that this page settles or shows as settled by something else than the call's own answer. */
const concerns = (effect: EffectRow) =>
  effect.status === 'in-doubt' || (effect.confirmedBy !== null && effect.confirmedBy !== 'outcome');

/** Effects of another run, whose stream this page does not hear. */
const elsewhere = (run: RunSummary, effects: readonly EffectRow[]) =>
  effects.some((effect) => effect.status === 'in-doubt' && effect.runId !== run.id);
/** How long a text has to rest before it is planned for. */
const TYPING_MS = 250;

function Planner({ run }: { readonly run: RunSummary }) {
  const router = useRouter();
  const [{ mode, from }, setParams] = useQueryStates(planParams, { history: 'replace' });
  const live = useRunLive(run.id, run.headSeq, null);
  const [draft, setDraft] = useState(noDraft);
  const [reason, setReason] = useState('');
  const checkpointsRead = useQuery(checkpointsQuery(run));
  const visits = useQuery(graphQuery(run.id, run.headSeq)).data?.visits ?? NONE;
  const effectsRead = useQuery({
    ...effectsQuery(run.id),
    refetchInterval: (query) => (elsewhere(run, query.state.data?.items ?? NONE) ? ELSEWHERE_MS : false),
  });
  const checkpoints = checkpointsRead.data?.items ?? NONE;
  const effects = effectsRead.data?.items ?? NONE;
  const machine = useQuery({
    ...machineQuery(run.machineDigest ?? ''),
    enabled: run.machineDigest !== null && effects.some(concerns),
  }).data;
  const fieldsFor = (effect: Pick<EffectRow, 'name'>) => fieldsOf(machine?.tools[effect.name]?.result);
  const { open } = readDraft(run.id, mode, from, draft, effects, fieldsFor);
  const asked = draftToPlan(draft, useRested(draft, TYPING_MS));
  const { body } = readDraft(run.id, mode, from, asked, effects, fieldsFor);
  const query = useQuery({
    ...planQuery(run.id, body),
    refetchInterval: elsewhere(run, effects) ? ELSEWHERE_MS : false,
  });
  // A plan that could not be made leaves the last one, and what was entered beside it, where they are.
  const [plan, setPlan] = useState(query.data);
  if (query.data !== undefined && query.data !== plan) setPlan(query.data);
  const [read, setRead] = useState<ReadPlan | undefined>(undefined);
  const [acted, setActed] = useState(NOTHING);
  const chosen = { mode, from, draft: asked };
  const isMine = read !== undefined && isSame(read.of, chosen);
  const arrived = query.isSuccess && !query.isPlaceholderData && (isMine || !query.isFetching);
  if (arrived) {
    const now = readOnArrival(read, query.data, chosen, { acted, goesOn: run.status === 'running' });
    if (now !== read) {
      setRead(now);
      setActed(NOTHING);
    }
  }
  const current = arrived && asked === draft;
  const problem = query.isError ? problemOf(query.error) : undefined;
  const order = useOrder(run.id, 'plan', { onAccepted: (answer) => router.push(runHref(answer.runId)) });
  // What the order itself changes is no news.
  const before = arrived && order.accepted === undefined ? read?.plan : undefined;
  const differences = useMemo(
    () => (before && plan && before.digest !== plan.digest ? planDifferences(before, plan) : undefined),
    [before, plan],
  );
  const hasRead = () => {
    if (plan) setRead({ plan, of: chosen });
    order.clear();
  };
  const haveRead = differences && (
    <Button size="small" onPress={hasRead}>
      I have read it
    </Button>
  );
  const isStale = order.problem?.kind === 'stale-plan';
  useUnsaved(isDirty(draft, effects, reason));
  // What has a card of its own stands there.
  const unshown = (plan?.obstacles ?? []).filter(
    (obstacle) =>
      obstacle.stepKey === null ||
      obstacle.kind === 'needs-keep' ||
      !settles(mode) ||
      !effects.some((effect) => effect.stepKey === obstacle.stepKey && concerns(effect)),
  );

  const { clear } = order;
  const pick = useCallback(
    (to: string) => {
      clear();
      void setParams({ from: to, mode: modeFor(mode, to, checkpoints) });
    },
    [clear, setParams, mode, checkpoints],
  );
  const locked =
    order.lock ??
    impossibleNow(run, mode) ??
    open[0] ??
    (problem ? 'There is no plan for this' : undefined) ??
    (current ? undefined : 'The plan is being made') ??
    (differences ? 'The plan changed: read it first' : undefined) ??
    plan?.obstacles[0]?.sentence;
  const words = plan ? orderWords(plan) : modes[mode].word;
  const give = () => {
    if (plan === undefined || locked !== undefined) return;
    order.give({ ...body, reason, planDigest: plan.digest }, words);
  };
  const backHref = backTo(
    run.id,
    useSyncExternalStore(neverChanges, previousUrl, () => undefined),
  );
  const modEnter = useModEnter();
  const back = () => router.push(backHref);
  useHotkeys([
    { key: 'Escape', what: 'back to the run', run: back },
    { key: 'Mod+Enter', what: 'do what the button says', run: give },
    {
      key: 'v',
      what: 'ask the provider',
      run: () =>
        document.querySelector<HTMLButtonElement>('.verify .line .btn:not([aria-disabled])')?.click(),
    },
  ]);

  return (
    <main className="page has-sheet">
      <header className="page-head over">
        <div className="run-id">
          <h1>
            <Link href={runHref(run.id)}>{run.agent}</Link>
            <span className="third font-normal">/</span>
            <span className="mono" title={run.id}>
              {run.id}
            </span>
          </h1>
          <span role="status" aria-label="Run status">
            <Badge view={runStatusView[run.status]} />
          </span>
          {run.effectsInDoubt > 0 && (
            <Badge view={badgeView['in-doubt']} word={`${run.effectsInDoubt} in doubt`} />
          )}
        </div>
        <span className="grow" />
        <ButtonLink kind="quiet" href={backHref} hotkey="Esc">
          Back to the run
        </ButtonLink>
      </header>
      <NotLive liveness={live.liveness} />
      <LastOrder runId={run.id} />
      <div className="sheet">
        <div className="sheet-head">
          <fieldset className="segment" aria-label="Mode">
            {planModes.map((each) => {
              const why = impossibleNow(run, each);
              return (
                <button
                  key={each}
                  type="button"
                  aria-pressed={mode === each}
                  aria-disabled={why !== undefined || undefined}
                  title={why ?? modes[each].sentence}
                  onClick={() => {
                    clear();
                    void setParams({ mode: each, from: startOf(each, checkpoints) });
                  }}
                >
                  <Glyph name={modes[each].glyph} />
                  {modes[each].word}
                </button>
              );
            })}
          </fieldset>
          <span className="second clip" title={modes[mode].sentence}>
            {modes[mode].sentence}
          </span>
          <span className="grow" />
          {plan && (
            <span className="third small nowrap">
              planned {moment(Date.parse(plan.plannedAt))}, head {plan.headSeq}
            </span>
          )}
        </div>
        {mode !== 'replay' && (
          <CheckpointPicker
            mode={mode}
            from={from}
            fromName={plan?.from.name}
            headSeq={run.headSeq}
            checkpoints={checkpoints}
            visits={visits}
            onPick={pick}
          />
        )}
        <OrderNote order={order} different={differences?.words}>
          {isStale && haveRead}
        </OrderNote>
        {differences && !isStale && (
          <ProblemNote
            open
            title={`The plan changed: ${differences.words.join(', ')}`}
            detail="Nobody chose anything here meanwhile; below is the plan as it is now."
          >
            {haveRead}
          </ProblemNote>
        )}
        {(checkpointsRead.isError || effectsRead.isError) && (
          <ProblemNote
            title={`${checkpointsRead.isError ? 'The checkpoints' : 'The effects'} could not be read`}
            detail={problemOf(checkpointsRead.error ?? effectsRead.error).detail}
          >
            <Button
              size="small"
              onPress={() => {
                void checkpointsRead.refetch();
                void effectsRead.refetch();
              }}
            >
              Try again
            </Button>
          </ProblemNote>
        )}
        {problem && (
          <ProblemNote
            title={problem.kind === 'use-rewind' ? 'An older point needs a rewind' : problem.title}
            detail={[problem.detail, ...problem.errors.map((each) => `${each.path}: ${each.message}`)]
              .map(sentence)
              .join(' ')
              .concat(plan ? ' Below is the last plan that could be made.' : '')}
          >
            {problem.kind === 'use-rewind' ? (
              <Button size="small" onPress={() => void setParams({ mode: 'rewind' })}>
                Plan a rewind
              </Button>
            ) : problem.kind === 'no-such-point' ? (
              <Button size="small" onPress={() => void setParams({ from: startOf(mode, checkpoints) })}>
                Start from the newest point
              </Button>
            ) : (
              <Button size="small" onPress={() => void query.refetch()}>
                Plan again
              </Button>
            )}
          </ProblemNote>
        )}
        {!plan && !problem && <Skeleton rows={10} />}
        {plan && (
          <>
            <DriftStrip plan={plan} />
            <div className="plan-body" aria-busy={!current}>
              <div className="plan-main">
                <PlanTable plan={plan} changed={differences?.keys ?? NOTHING} />
              </div>
              <aside className="plan-side scroll" aria-label="Decisions">
                {isOver(plan) && (
                  <section className="side-card" aria-label="Nothing to do">
                    <h2 data-tone="ok">
                      <Glyph name="s-completed" toned />
                      Nothing to {modes[mode].word.toLowerCase()}
                    </h2>
                    <p className="small second">
                      {plan.obstacles.map((obstacle) => obstacle.sentence).join(' ')}
                      {mode === 'resume' &&
                        ' Fork it to go another way from one of its points, or replay it to see whether today’s code does the same.'}
                    </p>
                  </section>
                )}
                {!isOver(plan) && unshown.length > 0 && (
                  <section className="side-card" aria-label="In the way">
                    <h2>In the way</h2>
                    <ul className="small">
                      {unshown.map((obstacle) => (
                        <li
                          key={`${obstacle.kind} ${obstacle.stepKey}`}
                          className="flex gap-2"
                          data-tone={obstacle.kind === 'needs-decision' ? 'attention' : 'bad'}
                        >
                          <Glyph name={obstacle.kind === 'needs-decision' ? 'd-decide' : 'd-blocked'} toned />
                          <span>{obstacle.sentence}</span>
                        </li>
                      ))}
                    </ul>
                  </section>
                )}
                {settles(mode) &&
                  effects
                    .filter((effect) => concerns(effect) || draft.decisions[intentKey(effect)] !== undefined)
                    .map((effect) => (
                      <EffectCard
                        key={`${effect.stepKey} ${effect.generation}`}
                        run={run}
                        reason={reason}
                        effect={effect}
                        fields={fieldsFor(effect)}
                        draft={draft.decisions[intentKey(effect)]}
                        decided={
                          goesWithOrder(run.id, effect, mode) &&
                          body.decisions?.[effect.stepKey] !== undefined
                        }
                        onActed={() => setActed((now) => new Set([...now, effect.stepKey]))}
                        onDraft={(decision) =>
                          setDraft((now) => ({
                            ...now,
                            decisions: { ...now.decisions, [intentKey(effect)]: decision },
                          }))
                        }
                      />
                    ))}
                {mode === 'fork' && (
                  <EditsCard
                    runId={run.id}
                    entrySeq={plan.from.entrySeq}
                    edits={draft.edits}
                    onEdits={(change) => setDraft((now) => ({ ...now, edits: change(now.edits) }))}
                  />
                )}
                {mode !== 'replay' && (
                  <LeftBehind
                    plan={plan}
                    keep={draft.keep}
                    onKeep={(keep) => setDraft((now) => ({ ...now, keep }))}
                  />
                )}
                {mode === 'replay' && (
                  <section className="side-card" aria-label="Replay">
                    <h2>Nothing outside is touched</h2>
                    <p className="small second">
                      Effects, reads and people answer from the record. Pure steps run with today's code; the
                      first difference stops the replay, and the new run shows recorded beside new.
                    </p>
                  </section>
                )}
              </aside>
            </div>
          </>
        )}
        <footer className="plan-foot">
          <label className="field why grow">
            <span>Reason</span>
            <input
              aria-label="Reason"
              placeholder="Kept in the journal with your name"
              value={reason}
              onChange={(event) => setReason(event.target.value)}
            />
          </label>
          {locked !== undefined && plan && (
            <span
              className="small second locked"
              role="status"
              aria-label="Why the button is locked"
              title={locked}
            >
              <Glyph name="lock" />
              <span className="clip">{locked}</span>
            </span>
          )}
          {plan && (
            <span className="digest small" title={`Digest of this plan: ${plan.digest}`}>
              plan <code>{plan.digest.slice(0, 8)}</code>
            </span>
          )}
          <Button onPress={back}>Cancel</Button>
          <Button
            kind="primary"
            size="large"
            glyph={modes[mode].glyph}
            hotkey={modEnter}
            reason={locked}
            onPress={give}
          >
            {words}
          </Button>
        </footer>
      </div>
    </main>
  );
}
