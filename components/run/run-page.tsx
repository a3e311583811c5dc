'use client';

import { useQuery, useQueryClient } from '@tanstack/react-query';
import dynamic from 'next/dynamic';
import { useRouter } from 'next/navigation';
import { useQueryStates } from 'nuqs';
import { Fragment, useCallback, useEffect, useEffectEvent, useMemo, useRef, useState } from 'react';
import { useConfines } from '@/components/ui/confined';
import { whole as wholeNumber } from '@/components/ui/format';
import { useHotkeys } from '@/components/ui/hotkeys';
import { PaneBoundary } from '@/components/ui/pane-boundary';
import { Skeleton } from '@/components/ui/problem-note';
import { Splitter } from '@/components/ui/splitter';
import { type ApiProblem, problemOf } from '@/lib/client/api';
import type { RunSummary } from '@/lib/client/api-types';
import {
  bucketsQuery,
  checkpointsQuery,
  failuresQuery,
  stepQuery,
  stopsQuery,
  WHOLE_RUN,
} from '@/lib/client/run-queries';
import { inSpans, WHOLE_STEPS } from '@/lib/client/step-windows';
import { planHref, runParams } from '@/lib/client/url-state';
import { cursorPoint } from './cursor-point';
import { FIND_FIELD } from './find-field';
import { startElkAhead } from './graph/start-elk';
import { entryBefore } from './graph/to-graph';
import { Inspector } from './inspector';
import { inspectorTabs, tabParams } from './inspector-tabs';
import { LastOrder } from './last-order';
import { neighbour, nextStop, stopsOf, within } from './moves';
import { NotLive } from './not-live';
import { AnswerRefusal, QuestionPanel } from './question-panel';
import { RunHeader } from './run-header';
import { RunUnread } from './run-unread';
import { impossibleNow } from './run-words';
import { Scrubber } from './scrubber';
import { bucketBars, eventBars } from './scrubber-bars';
import { Situation } from './situation';
import { TreePane } from './tree-pane';
import { stepAt } from './tree-rows';
import { failedOf, Unread } from './unread';
import { useAhead } from './use-ahead';
import { type Move, useAskedSeq, useCursor } from './use-cursor';
import { useGraphs } from './use-graphs';
import { usePanes } from './use-panes';
import { usePaced, useRun, useRunLive } from './use-run';
import { useStale } from './use-stale';
import { useSteps } from './use-steps';

const graphPane = () => import('./graph/graph-pane');
// React Flow and the layout program come after the first rows, and are sent for while they are drawn.
if (typeof window !== 'undefined') {
  startElkAhead();
  void graphPane().catch(() => undefined);
}
const GraphPane = dynamic(() => graphPane().then((module) => module.GraphPane), {
  ssr: false,
  loading: () => (
    <section className="pane" aria-label="Machine">
      <div className="pane-head">
        <h2>Machine</h2>
      </div>
      <div className="graph">
        <Skeleton rows={4} />
      </div>
    </section>
  ),
});

/** What keys write into the address. */
const keyParams = { ...tabParams, find: runParams.find };
const PLAY_MS = 220;
const PACE_MS = 120;
const NONE: readonly never[] = [];

export function RunPage({ runId }: { readonly runId: string }) {
  const query = useRun(runId);
  if (query.data) return <Instrument run={query.data} />;
  if (!query.isError) {
    return (
      <main className="page" aria-busy="true">
        <RunSkeleton />
      </main>
    );
  }
  return <RunUnread runId={runId} error={query.error} onAgain={() => void query.refetch()} />;
}

/** The page's own shape, while nothing of the run is known. */
function RunSkeleton() {
  return (
    <>
      <div className="run-head">
        <div className="grow">
          <div className="skeleton run-skeleton" />
          <div className="skeleton run-skeleton" />
        </div>
      </div>
      <div className="instrument">
        {[10, 6, 8].map((rows, n) => (
          <Fragment key={rows}>
            {n > 0 && <div className="splitter" />}
            <div className="pane">
              <div className="pane-head" />
              <Skeleton rows={rows} />
            </div>
          </Fragment>
        ))}
      </div>
      <div className="scrub">
        <div className="scrub-bar" />
        <div className="track" />
      </div>
    </>
  );
}

/** One instrument, one cursor: tree, graph, inspector and scrubber all show the same moment. */
function Instrument({ run }: { readonly run: RunSummary }) {
  const router = useRouter();
  const confines = useConfines();
  const [, setParams] = useQueryStates(keyParams, { history: 'replace' });
  const { asked, ask } = useAskedSeq();
  const live = useRunLive(run, asked);
  const { headSeq } = live;
  const stale = useStale(run.id, live.liveness);
  const { at, following, move } = useCursor(asked, ask, headSeq);
  const settled = usePaced(at, PACE_MS);
  const [refused, setRefused] = useState<ApiProblem | undefined>(undefined);

  const stands = useStands();
  const checkpoints = useQuery({ ...checkpointsQuery(run), enabled: stands || run.headSeq <= WHOLE_STEPS });
  const graphs = useGraphs(run, stands);
  const more = checkpoints.isPending || graphs.visitsLoad ? 'loads' : 'read';
  const { query: steps, shown, opening, fill, fillAll, loadsAll } = useSteps(run, settled, headSeq, more);
  const buckets = useQuery({ ...bucketsQuery(run.id), enabled: headSeq > WHOLE_RUN });
  const stops = useQuery(stopsQuery(run.id));
  const failures = useQuery(failuresQuery(run.id, run.counts.failedAttempts));
  const ahead = useAhead(run, graphs.atHead);
  const panes = usePanes();
  const stepRows = shown?.items ?? NONE;
  const spans = shown?.spans ?? NONE;
  const checkpointRows = checkpoints.data?.items ?? NONE;
  const { visits } = graphs;

  const places = useMemo(() => stopsOf(stepRows, checkpointRows), [stepRows, checkpointRows]);
  const bars = useMemo(
    () => (headSeq <= WHOLE_RUN ? eventBars(live.events) : bucketBars(buckets.data?.items ?? NONE)),
    [headSeq, live.events, buckets.data],
  );
  // In a stretch that is not held, the newest step before the cursor is not the one that it stands in.
  const isKnown = spans.length < 2 || inSpans(spans, at);
  const step = useMemo(() => (isKnown ? stepAt(stepRows, at) : undefined), [stepRows, at, isKnown]);
  const missing = [
    { what: 'The events', failed: live.unread },
    { what: 'The checkpoints', failed: failedOf(checkpoints) },
    { what: 'The visits', failed: graphs.listsFailed },
    { what: 'Where the run stopped before', failed: failedOf(stops) },
    { what: 'The events of the scrubber', failed: failedOf(buckets) },
    { what: 'The failed attempts', failed: failedOf(failures) },
  ].find(({ failed }) => failed !== undefined);
  const { playing, play } = usePlay(at, headSeq, move);

  // Read when a state is pressed, so that the graph is not drawn anew for each move.
  const newest = useRef({ at, move });
  useEffect(() => {
    newest.current = { at, move };
  });
  const enter = useCallback((entries: readonly number[]) => {
    const entry = entryBefore(entries, newest.current.at);
    if (entry !== undefined) newest.current.move(entry, 'jump');
  }, []);

  const jump = (seqs: readonly number[]) => {
    const to = nextStop(seqs, at);
    if (to !== undefined) move(to, 'jump');
  };
  const go = (action: 'resume' | 'fork' | 'replay', from?: string) => {
    if (run.actions[action].possible) router.push(planHref(run.id, action, from));
  };
  const client = useQueryClient();
  /** Each attempt has its place in the journal; a step of one attempt has nowhere to go. */
  const toAttempt = async (by: 1 | -1) => {
    if (step === undefined || (step.attempt < 2 && step.executions < 2)) return;
    const detail = await client.fetchQuery(stepQuery(run.id, step.stepKey)).catch(() => undefined);
    const to = neighbour(detail?.attempts.map(({ seq }) => seq) ?? [], newest.current.at, by);
    if (to !== newest.current.at) newest.current.move(to, 'slide');
  };
  const here = {
    seq: at,
    step,
    steps: isKnown ? shown?.items : undefined,
    checkpoints: checkpoints.data?.items,
  };
  const forkPoint = cursorPoint('fork', here);
  const rewindPoint = cursorPoint('rewind', here);
  const find = () => {
    const open = document.getElementById(FIND_FIELD);
    if (open) open.focus();
    else void setParams({ find: '' });
  };
  useHotkeys([
    { key: 'ArrowLeft', what: 'one event back', run: () => move(at - 1, 'slide') },
    { key: 'ArrowRight', what: 'one event forward', run: () => move(at + 1, 'slide') },
    {
      key: 'Shift+ArrowLeft',
      what: 'one step back',
      run: () => move(within(spans, at, neighbour(places.steps, at, -1)), 'slide'),
    },
    {
      key: 'Shift+ArrowRight',
      what: 'one step forward',
      run: () => move(within(spans, at, neighbour(places.steps, at, 1)), 'slide'),
    },
    { key: 'Home', what: 'first event', run: () => move(1, 'jump') },
    { key: 'End', what: 'newest event', run: () => move(null, 'jump') },
    { key: 'c', what: 'next checkpoint', run: () => jump(places.checkpoints) },
    { key: 'e', what: 'next effect', run: () => jump(places.effects) },
    { key: ' ', what: 'play', run: play },
    {
      key: 'r',
      what: 'plan a resume',
      reason: impossibleNow(run, 'resume'),
      run: () => go('resume', run.next?.from ?? undefined),
    },
    // With a doubt, the strip that tells of it has the key.
    ...(run.effectsInDoubt === 0
      ? [{ key: 'v', what: 'ask downstream', reason: 'No effect is in doubt', run: () => undefined }]
      : []),
    {
      key: 'd',
      what: 'decide what is in doubt',
      run: () => {
        if (run.effectsInDoubt > 0) go('resume');
      },
    },
    { key: '[', what: 'the attempt before', run: () => void toAttempt(-1) },
    { key: ']', what: 'the next attempt', run: () => void toAttempt(1) },
    {
      key: 'b',
      what: 'fork from the cursor',
      reason: impossibleNow(run, 'fork') ?? ('reason' in forkPoint ? forkPoint.reason : undefined),
      run: () => 'from' in forkPoint && go('fork', forkPoint.from),
    },
    {
      key: 'p',
      what: 'replay',
      reason: impossibleNow(run, 'replay'),
      run: () => go('replay', 'start'),
    },
    { key: '/', what: 'find in this run', run: find },
    { key: 'f', what: 'find in this run', run: find },
    { key: 'Escape', what: 'up one level', run: () => confines ?? router.push('/runs') },
    ...inspectorTabs.map(({ key, name, id }) => ({
      key,
      what: name,
      run: () => void setParams({ tab: id }),
    })),
  ]);

  return (
    <main className="page">
      <RunHeader run={run} forkPoint={forkPoint} rewindPoint={rewindPoint} />
      {stale && <NotLive stale={stale} />}
      <Situation run={run} />
      <LastOrder runId={run.id} failure={run.failure} />
      {asked !== null && asked > headSeq && (
        <div className="notice" data-tone="attention" role="status">
          There is no event {wholeNumber(asked)} yet: the run has {wholeNumber(headSeq)}. The newest is shown.
        </div>
      )}
      {refused && <AnswerRefusal problem={refused} onClose={() => setRefused(undefined)} />}
      {run.questions
        .filter((question) => question.status === 'open' && question.inForce)
        .map((question) => (
          <QuestionPanel key={question.questionId} run={run} question={question} onRefused={setRefused} />
        ))}
      <div className="instrument" ref={panes.box}>
        <PaneBoundary name="Timeline">
          <TreePane
            run={run}
            steps={shown?.items}
            total={shown?.total ?? 0}
            visits={opening?.visits ?? visits}
            checkpoints={opening === undefined ? checkpointRows : NONE}
            stops={stops.data ?? NONE}
            failures={failures.data ?? NONE}
            ahead={ahead}
            spans={spans}
            opening={opening !== undefined}
            onFill={fill}
            onFillAll={loadsAll ? undefined : fillAll}
            problem={
              steps.isError
                ? { detail: problemOf(steps.error).detail, again: () => void steps.refetch() }
                : undefined
            }
            seq={at}
            onMove={move}
          />
        </PaneBoundary>
        <Splitter
          pane="run.tree"
          label="Resize timeline"
          orientation="vertical"
          grows={1}
          range={panes.treeRange}
          onSize={panes.sizeTree}
        />
        <PaneBoundary name="Machine">
          <GraphPane
            run={run}
            settled={settled}
            whole={graphs.atHead}
            lists={graphs.lists}
            failed={graphs.headFailed}
            onEnter={enter}
          />
        </PaneBoundary>
        <Splitter
          pane="run.inspector"
          label="Resize inspector"
          orientation="vertical"
          grows={-1}
          range={panes.inspectorRange}
          onSize={panes.sizeInspector}
        />
        <PaneBoundary name="Inspector">
          <Inspector
            run={run}
            step={step}
            stepLoads={!isKnown || shown === undefined}
            stepUnread={shown === undefined ? failedOf(steps) : undefined}
            event={live.eventAt(at)}
            seq={at}
            settled={settled}
            checkpoints={checkpointRows}
            onMove={move}
          />
        </PaneBoundary>
      </div>
      {missing?.failed && (
        <Unread what={missing.what} error={missing.failed.error} onAgain={missing.failed.again} />
      )}
      <Scrubber
        run={run}
        headSeq={headSeq}
        seq={at}
        following={following}
        event={live.eventAt(at)}
        eventAt={live.eventAt}
        partial={spans.length > 1}
        bars={bars}
        steps={stepRows}
        failures={failures.data ?? NONE}
        checkpoints={checkpointRows}
        visits={visits}
        onMove={move}
        playing={playing}
        onPlay={play}
      />
    </main>
  );
}

/** What grows with a long run is read so long after the page began, when the rest is drawn. */
const STANDS_MS = 700;

function useStands(): boolean {
  const [stands, setStands] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setStands(true), STANDS_MS);
    return () => clearTimeout(timer);
  }, []);
  return stands;
}

/** Walks the cursor event by event to the head; pressed at the head, it starts over. */
function usePlay(at: number, headSeq: number, move: Move) {
  const [wanted, setPlaying] = useState(false);
  const playing = wanted && at < headSeq;
  // The head of a live run moves faster than the cursor does: that must not begin the wait anew.
  const advance = useEffectEvent(() => {
    if (at + 1 >= headSeq) setPlaying(false);
    move(at + 1, 'slide');
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: one wait for each place of the cursor
  useEffect(() => {
    if (!playing) return;
    const timer = setTimeout(advance, PLAY_MS);
    return () => clearTimeout(timer);
  }, [playing, at]);
  const play = () => {
    if (!playing && at >= headSeq) move(1, 'jump');
    setPlaying(!playing);
  };
  return { playing, play };
}
