'use client';

import { useQuery } from '@tanstack/react-query';
import { useRouter } from 'next/navigation';
import { useQueryStates } from 'nuqs';
import { useCallback, useMemo, useState, useSyncExternalStore } from 'react';
import { LastOrder } from '@/components/run/last-order';
import { NotLive } from '@/components/run/not-live';
import { RunUnread } from '@/components/run/run-unread';
import { impossibleNow } from '@/components/run/run-words';
import { fieldsOf } from '@/components/run/schema-fields';
import { useRested, useRun, useRunLive } from '@/components/run/use-run';
import { Button } from '@/components/ui/button';
import { useHotkeys, useModEnter, useUnsaved } from '@/components/ui/hotkeys';
import { ProblemNote } from '@/components/ui/problem-note';
import { problemOf } from '@/lib/client/api';
import type { EffectRow, PlanAnswer, PlanMode, RunSummary } from '@/lib/client/api-types';
import { ELSEWHERE_MS } from '@/lib/client/order-events';
import { planQuery } from '@/lib/client/plan-queries';
import { checkpointsQuery, effectsQuery, graphQuery, machineQuery } from '@/lib/client/run-queries';
import { planParams, runHref } from '@/lib/client/url-state';
import { useOrder } from '@/lib/client/use-order';
import { backTo, previousUrl } from './back-to';
import { ContextCard } from './context-card';
import { DriftCards, DriftStrip } from './drift-strip';
import { EditsCard } from './edits-card';
import { EffectCard } from './effect-card';
import { LeftBehind } from './left-behind';
import { modes } from './modes';
import { OrderNote } from './order-note';
import {
  changedSteps,
  choices,
  draftToPlan,
  goesWithOrder,
  holdsIn,
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
import { heldBy, PlanFoot } from './plan-foot';
import { PlanHead, SheetHead } from './plan-head';
import { Impossible, PlanProblem } from './plan-notes';
import { ConflictCards, InTheWay, OverCard } from './plan-side';
import { PlanSkeleton } from './plan-skeleton';
import { type Changes, PlanTable } from './plan-table';
import { Rail } from './rail';
import { isSame, type ReadPlan, readOnArrival } from './read-plan';
import { ReplayCards } from './replay-cards';
import { rowKeys } from './row-keys';
import { StartPicker } from './start-picker';

export function PlanPage({ runId }: { readonly runId: string }) {
  const query = useRun(runId);
  if (query.data) return <Planner run={query.data} />;
  if (query.isError)
    return <RunUnread runId={runId} error={query.error} onAgain={() => void query.refetch()} />;
  return (
    <main className="page has-sheet">
      <PlanSkeleton />
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
  const [{ mode, from, only }, setParams] = useQueryStates(planParams, { history: 'replace' });
  const live = useRunLive(run, null);
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
  const [flash, setFlash] = useState({ keys: NOTHING, n: 0 });
  if (query.data !== undefined && query.data !== plan) {
    setPlan(query.data);
    if (plan !== undefined && plan.digest !== query.data.digest)
      setFlash({ keys: flashing(plan, query.data), n: flash.n + 1 });
  }
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
  const holding = useOrder(run.id, 'hold', {
    onAccepted: () => setActed((now) => new Set([...now, ...Object.keys(body.decisions ?? {})])),
  });
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
  const showChanged = differences !== undefined && differences.keys.size > 0 && (
    <Button
      size="small"
      kind="quiet"
      onPress={() => {
        void setParams({ only: null });
        document.querySelector('tr[data-changed]')?.scrollIntoView({ block: 'center' });
      }}
    >
      Show what changed
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
  const toMode = (to: PlanMode) => {
    clear();
    void setParams({ mode: to, from: startOf(to, checkpoints), only: null });
  };
  const holds = plan === undefined ? undefined : holdsIn(plan, body, effects);
  if (holds === undefined && holding.accepted !== undefined) holding.clear();
  const impossible = impossibleNow(run, mode);
  const locked =
    order.lock ??
    holding.lock ??
    impossible ??
    open[0] ??
    (problem ? 'There is no plan for this' : undefined) ??
    (current ? undefined : 'The plan is being made') ??
    (differences ? 'The plan changed: read it first' : undefined) ??
    (holds === undefined ? plan?.obstacles[0]?.sentence : undefined);
  const words =
    holds !== undefined ? 'Record the hold: nothing runs' : plan ? orderWords(plan) : modes[mode].word;
  const held = heldBy(run, mode);
  const give = () => {
    if (plan === undefined || locked !== undefined || held !== undefined) return;
    if (holds !== undefined) holding.give({ mode: 'decide', reason, decisions: holds }, words);
    else order.give({ ...body, reason, planDigest: plan.digest }, words);
  };
  const backHref = backTo(
    run.id,
    useSyncExternalStore(neverChanges, previousUrl, () => undefined),
  );
  const modEnter = useModEnter();
  const back = () => router.push(backHref);
  useHotkeys([
    { key: 'Escape', what: 'Back to the run', run: back },
    { key: 'Mod+Enter', what: 'Do what the button says', reason: held ?? locked, run: give },
    {
      key: 'v',
      what: 'Ask the provider',
      run: () =>
        document.querySelector<HTMLButtonElement>('.verify .line .btn:not([aria-disabled])')?.click(),
    },
    ...rowKeys,
  ]);
  const changes: Changes = { marked: differences?.keys ?? NOTHING, flashed: flash.keys, n: flash.n };
  const offered = choices(checkpoints);

  return (
    <main className="page has-sheet">
      <PlanHead run={run} backHref={backHref} />
      <NotLive liveness={live.liveness} />
      <LastOrder runId={run.id} failure={run.failure} />
      <div className="sheet">
        <SheetHead run={run} mode={mode} plan={plan} onMode={toMode} />
        <div className="mode" role="tabpanel" id="plan" aria-labelledby={`mode-${mode}`}>
          <div className="start">
            <StartPicker
              mode={mode}
              from={from}
              fromName={plan?.from.name}
              checkpoints={checkpoints}
              onPick={pick}
            />
            {plan && <Rail plan={plan} status={run.status} offered={offered} visits={visits} onPick={pick} />}
          </div>
          {impossible !== undefined && held === undefined && (
            <Impossible run={run} mode={mode} reason={impossible} onMode={toMode} />
          )}
          <OrderNote order={holding} />
          <OrderNote order={order} different={differences?.words}>
            {isStale && haveRead}
            {isStale && showChanged}
          </OrderNote>
          {differences && !isStale && (
            <ProblemNote
              open
              title={`The plan changed: ${differences.words.join(', ')}`}
              detail="Nobody chose anything here meanwhile; below is the plan as it is now."
            >
              {haveRead}
              {showChanged}
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
            <PlanProblem
              problem={problem}
              hasPlan={plan !== undefined}
              onRewind={() => void setParams({ mode: 'rewind' })}
              onNewest={() => void setParams({ from: startOf(mode, checkpoints) })}
              onAgain={() => void query.refetch()}
            />
          )}
          {!plan && !problem && <PlanSkeleton inside />}
          {plan && (
            <>
              <DriftStrip plan={plan} run={run} />
              <div className="plan-body" aria-busy={!current}>
                <div className="plan-main">
                  <PlanTable
                    plan={plan}
                    changes={changes}
                    only={only ?? undefined}
                    onOnly={(each) => void setParams({ only: each ?? null })}
                  />
                </div>
                <aside className="plan-side scroll" aria-label="Decisions">
                  {isOver(plan) && <OverCard plan={plan} />}
                  {!isOver(plan) && unshown.length > 0 && (
                    <InTheWay run={run} mode={mode} obstacles={unshown} />
                  )}
                  <ConflictCards run={run} />
                  <DriftCards plan={plan} />
                  {settles(mode) &&
                    effects
                      .filter(
                        (effect) => concerns(effect) || draft.decisions[intentKey(effect)] !== undefined,
                      )
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
                      plan={plan}
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
                  {mode === 'replay' ? <ReplayCards plan={plan} run={run} /> : <ContextCard plan={plan} />}
                </aside>
              </div>
            </>
          )}
          <PlanFoot
            plan={plan}
            held={held}
            words={words}
            glyph={holds === undefined ? modes[mode].glyph : 's-paused'}
            hotkey={modEnter}
            locked={locked}
            reason={reason}
            onReason={setReason}
            onBack={back}
            onGive={give}
          />
        </div>
      </div>
    </main>
  );
}

/** Rows that a choice of the person's changed; with another kind of order all of them are others. */
const flashing = (before: PlanAnswer, after: PlanAnswer): ReadonlySet<string> =>
  before.mode === after.mode ? changedSteps(before, after) : NOTHING;
