'use client';

import { useRouter } from 'next/navigation';
import { useQueryStates } from 'nuqs';
import { useCallback, useState, useSyncExternalStore } from 'react';
import { LastOrder } from '@/components/run/last-order';
import { NotLive } from '@/components/run/not-live';
import { RunUnread } from '@/components/run/run-unread';
import { useRun, useRunLive } from '@/components/run/use-run';
import { useStale } from '@/components/run/use-stale';
import { useHotkeys, useModEnter, useUnsaved } from '@/components/ui/hotkeys';
import { useZone } from '@/components/ui/zone';
import type { PlanMode, RunSummary } from '@/lib/client/api-types';
import { planParams } from '@/lib/client/url-state';
import { backTo, previousUrl } from './back-to';
import { DriftStrip } from './drift-strip';
import { modes } from './modes';
import { PlanCards } from './plan-cards';
import type { PlanDifferences } from './plan-differences';
import { choices, isDirty, isOver, modeFor, startOf } from './plan-draft';
import { heldBy, PlanFoot } from './plan-foot';
import { PlanHead, SheetHead } from './plan-head';
import { PlanNews } from './plan-news';
import { Impossible, PlanProblem } from './plan-notes';
import { PlanSkeleton } from './plan-skeleton';
import { PlanTable } from './plan-table';
import { Rail } from './rail';
import { rowKeys } from './row-keys';
import { StartPicker } from './start-picker';
import { NO_KEYS, usePlan } from './use-plan';
import { usePlanOrder } from './use-plan-order';
import { usePlanReads } from './use-plan-reads';

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

const NO_ROWS: PlanDifferences['envelope'] = new Set();
const NOTHING: PlanDifferences['gone'] = { steps: [], tools: [] };

const neverChanges = () => () => undefined;

function Planner({ run }: { readonly run: RunSummary }) {
  const [{ mode, from, only }, setParams] = useQueryStates(planParams, { history: 'replace' });
  const live = useRunLive(run, null);
  const stale = useStale(run.id, live.liveness);
  const [reason, setReason] = useState('');
  const reads = usePlanReads(run);
  const { checkpoints, effects } = reads;
  const planned = usePlan(run, { mode, from }, reads);
  const { plan, problem } = planned;
  const held = heldBy(run, mode, useZone());
  const ordered = usePlanOrder(run, mode, planned, reads, { reason, held });
  const { order, differences, impossible } = ordered;
  useUnsaved(isDirty(planned.draft, effects, reason));

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
  const { back, backHref } = useWayBack(run.id);
  const modEnter = useModEnter();
  useHotkeys([
    { key: 'Escape', what: 'Back to the run', run: back },
    { key: 'Mod+Enter', what: 'Do what the button says', reason: held ?? ordered.locked, run: ordered.give },
    { key: 'v', what: 'Ask downstream', run: pressAsk },
    ...rowKeys,
  ]);

  return (
    <main className="page has-sheet">
      <PlanHead run={run} backHref={backHref} />
      {stale && <NotLive stale={stale} />}
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
              over={plan !== undefined && isOver(plan)}
              onPick={pick}
            />
            {plan && (
              <Rail
                plan={plan}
                status={run.status}
                offered={choices(checkpoints)}
                visits={reads.visits}
                onPick={pick}
              />
            )}
          </div>
          {impossible !== undefined && held === undefined && (
            <Impossible run={run} mode={mode} reason={impossible} onMode={toMode} />
          )}
          <PlanNews
            ordered={ordered}
            failed={reads.failed}
            onRead={() => {
              planned.markRead();
              clear();
            }}
            onShow={() => {
              void setParams({ only: null });
              document.querySelector('tr[data-changed]')?.scrollIntoView({ block: 'center' });
            }}
          />
          {problem && (
            <PlanProblem
              problem={problem}
              hasPlan={plan !== undefined}
              onRewind={() => void setParams({ mode: 'rewind' })}
              onNewest={() => void setParams({ from: startOf(mode, checkpoints) })}
              onAgain={planned.again}
            />
          )}
          {!plan && !problem && <PlanSkeleton inside />}
          {plan && (
            <>
              <DriftStrip plan={plan} run={run} />
              <div className="plan-body" aria-busy={!planned.isCurrent}>
                <div className="plan-main">
                  <PlanTable
                    plan={plan}
                    changes={{
                      marked: differences?.keys ?? NO_KEYS,
                      envelope: differences?.envelope ?? NO_ROWS,
                      gone: differences?.gone ?? NOTHING,
                      flashed: planned.flash.keys,
                      n: planned.flash.n,
                    }}
                    only={only ?? undefined}
                    onOnly={(each) => void setParams({ only: each ?? null })}
                  />
                </div>
                <PlanCards
                  run={run}
                  mode={mode}
                  plan={plan}
                  planned={planned}
                  reads={reads}
                  reason={reason}
                />
              </div>
            </>
          )}
          <PlanFoot
            plan={plan}
            held={held}
            words={ordered.words}
            glyph={ordered.isHold ? 's-paused' : modes[mode].glyph}
            hotkey={modEnter}
            locked={ordered.locked}
            queued={ordered.queued}
            reason={reason}
            onReason={setReason}
            onBack={back}
            onGive={ordered.give}
          />
        </div>
      </div>
    </main>
  );
}

/** Back to where the person came from, or to the run. */
function useWayBack(runId: string) {
  const router = useRouter();
  const backHref = backTo(
    runId,
    useSyncExternalStore(neverChanges, previousUrl, () => undefined),
  );
  return { backHref, back: () => router.push(backHref) };
}

/** Asks about the one effect whose button shows the key. */
const pressAsk = () => document.querySelector<HTMLButtonElement>('.verify[data-keyed] .line .btn')?.click();
