'use client';

import { useQuery } from '@tanstack/react-query';
import dynamic from 'next/dynamic';
import { useRouter } from 'next/navigation';
import { useQueryStates } from 'nuqs';
import { useCallback, useEffect, useEffectEvent, useMemo, useRef, useState } from 'react';
import { Button } from '@/components/ui/button';
import { whole as wholeNumber } from '@/components/ui/format';
import { useHotkeys } from '@/components/ui/hotkeys';
import { PaneBoundary } from '@/components/ui/pane-boundary';
import { ProblemNote, Skeleton } from '@/components/ui/problem-note';
import { type ApiProblem, problemOf } from '@/lib/client/api';
import type { RunSummary } from '@/lib/client/api-types';
import { bucketsQuery, checkpointsQuery, graphQuery, stepsQuery, stopsQuery } from '@/lib/client/run-queries';
import { planHref } from '@/lib/client/url-state';
import { cursorPoint } from './cursor-point';
import { entryBefore } from './graph/to-graph';
import { Inspector } from './inspector';
import { inspectorTabs, tabParams } from './inspector-tabs';
import { LastOrder } from './last-order';
import { neighbour, nextStop, stopsOf } from './moves';
import { NotLive } from './not-live';
import { AnswerRefusal, QuestionPanel } from './question-panel';
import { RunHeader } from './run-header';
import { RunUnread } from './run-unread';
import { Scrubber } from './scrubber';
import { bucketBars, eventBars } from './scrubber-bars';
import { Situation } from './situation';
import { TreePane } from './tree-pane';
import { stepAt } from './tree-rows';
import { type Move, useAskedSeq, useCursor } from './use-cursor';
import { usePaced, useRun, useRunLive, WHOLE_RUN } from './use-run';

/** React Flow comes after the first rows. */
const GraphPane = dynamic(() => import('./graph/graph-pane').then((module) => module.GraphPane), {
  ssr: false,
  loading: () => (
    <section className="pane" aria-label="Machine">
      <div className="pane-head">
        <h2>Machine</h2>
      </div>
    </section>
  ),
});

const PLAY_MS = 220;
const BUCKETS = 300;
const PACE_MS = 120;
const NONE: readonly never[] = [];

export function RunPage({ runId }: { readonly runId: string }) {
  const query = useRun(runId);
  if (query.data) return <Instrument run={query.data} />;
  if (!query.isError) {
    return (
      <main className="page">
        <Skeleton rows={14} />
      </main>
    );
  }
  return <RunUnread runId={runId} error={query.error} onAgain={() => void query.refetch()} />;
}

/** One instrument, one cursor: tree, graph, inspector and scrubber all show the same moment. */
function Instrument({ run }: { readonly run: RunSummary }) {
  const router = useRouter();
  const [, setParams] = useQueryStates(tabParams, { history: 'replace' });
  const { asked, ask } = useAskedSeq();
  const live = useRunLive(run.id, run.headSeq, asked);
  const { headSeq } = live;
  const { at, following, move } = useCursor(asked, ask, headSeq);
  const settled = usePaced(at, PACE_MS);
  const [refused, setRefused] = useState<ApiProblem | undefined>(undefined);

  const steps = useQuery(stepsQuery(run));
  const checkpoints = useQuery(checkpointsQuery(run));
  const whole = useQuery(graphQuery(run.id, run.headSeq));
  const graph = useQuery(graphQuery(run.id, settled));
  const buckets = useQuery({ ...bucketsQuery(run.id, BUCKETS), enabled: headSeq > WHOLE_RUN });
  const stops = useQuery(stopsQuery(run.id));
  const stepRows = steps.data?.items ?? NONE;
  const checkpointRows = checkpoints.data?.items ?? NONE;
  const visits = whole.data?.visits ?? NONE;

  const places = useMemo(() => stopsOf(stepRows, checkpointRows), [stepRows, checkpointRows]);
  const bars = useMemo(
    () => (headSeq <= WHOLE_RUN ? eventBars(live.events) : bucketBars(buckets.data?.items ?? NONE)),
    [headSeq, live.events, buckets.data],
  );
  const step = useMemo(() => stepAt(stepRows, at), [stepRows, at]);
  const missing = [
    { what: 'The checkpoints', read: checkpoints },
    { what: 'Where the run stopped before', read: stops },
    { what: 'The events of the scrubber', read: buckets },
  ]
    .filter(({ read }) => read.isError)
    .map(({ what, read }) => ({ what, error: read.error, again: () => void read.refetch() }))[0];
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
  const here = { seq: at, step, steps: steps.data?.items, checkpoints: checkpoints.data?.items };
  const forkPoint = cursorPoint('fork', here);
  const rewindPoint = cursorPoint('rewind', here);
  useHotkeys([
    { key: 'ArrowLeft', what: 'one event back', run: () => move(at - 1, 'slide') },
    { key: 'ArrowRight', what: 'one event forward', run: () => move(at + 1, 'slide') },
    {
      key: 'Shift+ArrowLeft',
      what: 'one step back',
      run: () => move(neighbour(places.steps, at, -1), 'slide'),
    },
    {
      key: 'Shift+ArrowRight',
      what: 'one step forward',
      run: () => move(neighbour(places.steps, at, 1), 'slide'),
    },
    { key: 'Home', what: 'first event', run: () => move(1, 'jump') },
    { key: 'End', what: 'newest event', run: () => move(null, 'jump') },
    { key: 'c', what: 'next checkpoint', run: () => jump(places.checkpoints) },
    { key: 'e', what: 'next effect', run: () => jump(places.effects) },
    { key: ' ', what: 'play', run: play },
    { key: 'r', what: 'plan a resume', run: () => go('resume', run.next?.from ?? undefined) },
    { key: 'b', what: 'fork from the cursor', run: () => 'from' in forkPoint && go('fork', forkPoint.from) },
    { key: 'p', what: 'replay', run: () => go('replay', 'start') },
    { key: 'Escape', what: 'up one level', run: () => router.push('/runs') },
    ...inspectorTabs.map(({ key, name, id }) => ({
      key,
      what: name,
      run: () => void setParams({ tab: id }),
    })),
  ]);

  return (
    <main className="page">
      <RunHeader run={run} forkPoint={forkPoint} rewindPoint={rewindPoint} />
      <NotLive liveness={live.liveness} />
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
      <div className="instrument">
        <PaneBoundary name="Timeline">
          <TreePane
            run={run}
            steps={steps.data?.items}
            total={steps.data?.total ?? 0}
            visits={visits}
            checkpoints={checkpointRows}
            stops={stops.data ?? NONE}
            problem={
              steps.isError
                ? { detail: problemOf(steps.error).detail, again: () => void steps.refetch() }
                : undefined
            }
            seq={at}
            onMove={move}
          />
        </PaneBoundary>
        <div className="splitter" aria-hidden="true" />
        <PaneBoundary name="Machine">
          <GraphPane
            atCursor={graph.data}
            whole={whole.data}
            errors={{
              atCursor: graph.isError ? problemOf(graph.error).detail : undefined,
              whole: whole.isError ? problemOf(whole.error).detail : undefined,
            }}
            onEnter={enter}
          />
        </PaneBoundary>
        <div className="splitter" aria-hidden="true" />
        <PaneBoundary name="Inspector">
          <Inspector
            run={run}
            step={step}
            event={live.eventAt(at)}
            seq={at}
            settled={settled}
            checkpoints={checkpointRows}
            onMove={move}
          />
        </PaneBoundary>
      </div>
      {missing && (
        <ProblemNote title={`${missing.what} could not be read`} detail={problemOf(missing.error).detail}>
          <Button size="small" onPress={missing.again}>
            Try again
          </Button>
        </ProblemNote>
      )}
      <Scrubber
        run={run}
        headSeq={headSeq}
        seq={at}
        following={following}
        event={live.eventAt(at)}
        bars={bars}
        steps={stepRows}
        checkpoints={checkpointRows}
        visits={visits}
        onMove={move}
        playing={playing}
        onPlay={play}
      />
    </main>
  );
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
