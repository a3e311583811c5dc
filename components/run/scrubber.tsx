'use client';

import { useQueryStates } from 'nuqs';
import {
  type CSSProperties,
  memo,
  type RefObject,
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { Button } from '@/components/ui/button';
import { clock, duration, whole, zoneAt } from '@/components/ui/format';
import { Glyph } from '@/components/ui/glyph';
import { Splitter } from '@/components/ui/splitter';
import { useZone } from '@/components/ui/zone';
import type { CheckpointRow, GraphAt, RunSummary, StepRow } from '@/lib/client/api-types';
import { runParams } from '@/lib/client/url-state';
import type { RunEvent } from '@/lib/core/events/run-event';
import { checkpointInShort } from './checkpoint-words';
import { SCRUBBER } from './panes';
import { type Bar, keyMove, labelled, merged, spaced, ticks } from './scrubber-bars';
import { apart, marksOf } from './scrubber-marks';
import { middle, type Scale, seqScale, timeScale } from './scrubber-scale';
import type { FailedAttempt } from './tree-rows';
import type { Move } from './use-cursor';

interface Props {
  readonly run: RunSummary;
  readonly headSeq: number;
  readonly seq: number;
  readonly following: boolean;
  readonly event: RunEvent | undefined;
  readonly eventAt: (seq: number) => RunEvent | undefined;
  readonly bars: readonly Bar[];
  readonly steps: readonly StepRow[];
  readonly failures: readonly FailedAttempt[];
  readonly checkpoints: readonly CheckpointRow[];
  readonly visits: readonly GraphAt['visits'][number][];
  /** Not all steps are held: effects and errors are told by the bars. */
  readonly partial: boolean;
  readonly onMove: Move;
  readonly playing: boolean;
  readonly onPlay: () => void;
}

const percent = (part: number) => `${(part * 100).toFixed(3)}%`;
/** Of the track besides the events' bars: the axis and the states above, checkpoints, effects and errors below. */
const ABOVE = 38;
const BELOW = 40;
/** Of the scrubber besides the track. */
const FRAME = 42;
/** A bar takes at least so much, in px; closer events share one. */
const BAR = 4;

/** Bands of states narrower than this part of the track could not be seen. */
const NARROW = 0.0008;
/** A checkpoint's diamond and its number need this part of the track. */
const NUMBER = 0.03;

type LanesProps = Pick<
  Props,
  'run' | 'bars' | 'steps' | 'failures' | 'checkpoints' | 'visits' | 'partial'
> & {
  readonly scale: Scale;
  readonly axis: 'seq' | 'time';
  /** Px. */
  readonly width: number;
  readonly height: number;
};

/** A letter of a band's text takes so many px, and its ends so many together. */
const LETTER = 6.6;
const ENDS = 10;

function Axis({ scale, axis, bars }: Pick<LanesProps, 'scale' | 'axis' | 'bars'>) {
  const zone = useZone();
  if (axis === 'seq')
    return ticks(scale.headSeq, 10).map((tick) => (
      <g key={tick}>
        <line
          className="tick"
          x1={percent(middle(scale, tick))}
          x2={percent(middle(scale, tick))}
          y1={14}
          y2={18}
        />
        <text x={percent(middle(scale, tick))} y={11} textAnchor="middle">
          {whole(tick)}
        </text>
      </g>
    ));
  const marks = spaced(
    bars.map(({ fromSeq, fromAt }) => ({ seq: fromSeq, at: fromAt })),
    (seq) => middle(scale, seq),
    0.11,
  );
  return marks.map(({ seq, at }) => (
    <g key={seq}>
      <line
        className="tick"
        x1={percent(middle(scale, seq))}
        x2={percent(middle(scale, seq))}
        y1={14}
        y2={18}
      />
      <text
        x={percent(middle(scale, seq))}
        y={11}
        textAnchor={seq === 1 ? 'start' : middle(scale, seq) > 0.96 ? 'end' : 'middle'}
      >
        {clock(at, zone).slice(0, 8)}
      </text>
    </g>
  ));
}

/** Everything on the track that the cursor does not move. */
const Lanes = memo(function Lanes(props: LanesProps) {
  const { run, scale, axis, width, height, steps, failures, checkpoints, visits, partial } = props;
  const place = (seq: number) => middle(scale, seq);
  const marks = apart(marksOf({ steps, failures, run, bars: props.bars, partial }), place, 0.002);
  const diamonds = spaced(checkpoints, place, 0.006);
  const numbered = labelled(diamonds, place, NUMBER);
  const bars = merged(props.bars, Math.max(1, Math.floor(width / BAR)));
  const eventsEnd = ABOVE + height;
  return (
    <>
      <defs>
        <pattern
          id="scrub-hatch"
          width="4"
          height="4"
          patternUnits="userSpaceOnUse"
          patternTransform="rotate(45)"
        >
          <rect className="hatch" width="2" height="4" />
        </pattern>
      </defs>
      <Axis scale={scale} axis={axis} bars={props.bars} />
      <rect className="lane" x={0} y={19} width="100%" height={17} rx={3} />
      {visits.map((visit, n) => {
        const from = scale.begin(visit.enteredSeq);
        const to = visit.leftSeq === null ? 1 : scale.begin(visit.leftSeq + 1);
        if (to - from < NARROW) return null;
        const name = visit.visit > 1 ? `${visit.state} ${visit.visit}` : visit.state;
        return (
          <g key={`${visit.key} ${visit.enteredSeq}`}>
            <rect
              className={n % 2 === 0 ? 'band' : 'band-alt'}
              x={percent(from)}
              width={percent(to - from)}
              y={20}
              height={15}
            />
            {(to - from) * width > name.length * LETTER + ENDS && (
              <text className="band-text" x={percent(from)} dx={5} y={31}>
                {name}
              </text>
            )}
          </g>
        );
      })}
      <line className="tick" x1="0" x2="100%" y1={eventsEnd + 0.5} y2={eventsEnd + 0.5} />
      {bars.map((bar) => {
        const from = scale.begin(bar.fromSeq);
        const wide = scale.begin(bar.toSeq + 1) - from;
        return (
          <rect
            key={bar.fromSeq}
            className="ev"
            data-f={bar.look === 'data' ? undefined : bar.look}
            x={percent(from + wide * 0.1)}
            width={percent(wide * 0.8)}
            y={ABOVE + height * (1 - bar.height)}
            height={height * bar.height}
          />
        );
      })}
      {scale.gaps.map((gap) => (
        <g key={gap.seq}>
          <rect
            className="fold"
            x={percent(gap.from)}
            width={percent(gap.to - gap.from)}
            y={ABOVE}
            height={height}
          >
            <title>{`${duration(gap.ms)} without an event, after seq ${gap.seq}`}</title>
          </rect>
          {(gap.to - gap.from) * width > 44 && (
            <text x={percent((gap.from + gap.to) / 2)} y={ABOVE + 10} textAnchor="middle">
              {duration(gap.ms)}
            </text>
          )}
        </g>
      ))}
      {diamonds.map((checkpoint) => (
        <svg
          key={checkpoint.id}
          x={percent(place(checkpoint.seq))}
          y={eventsEnd + 10}
          overflow="visible"
          aria-hidden="true"
          className="diamond"
          data-left={checkpoint.inForce ? undefined : ''}
          data-best={checkpoint.id === run.checkpoint?.id ? '' : undefined}
        >
          <path d="M0 -5 5 0 0 5 -5 0z" fill="currentColor">
            <title>{`${checkpointInShort(checkpoint)}${checkpoint.inForce ? '' : ', left behind by a rewind'}`}</title>
          </path>
          {numbered.has(checkpoint) && (
            <text x={-9} y={4} textAnchor="end">
              {checkpoint.n}
            </text>
          )}
        </svg>
      ))}
      {marks.map((mark) => (
        <svg
          key={`${mark.seq} ${mark.title}`}
          x={percent(place(mark.seq))}
          y={eventsEnd + 24}
          overflow="visible"
          aria-hidden="true"
          className="bolt"
          data-tone={mark.tone}
        >
          <g transform="translate(-7 -1)">
            <title>{mark.title}</title>
            <Glyph name={mark.glyph} />
          </g>
        </svg>
      ))}
    </>
  );
});

const legend = [
  ['step', 'step'],
  ['data', 'message, variables'],
  ['state', 'state, run'],
  ['bad', 'failure'],
  ['wait', 'waiting'],
] as const;

/** Width of the track, for what has room on it. */
function useWidth(track: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(1_128);
  useEffect(() => {
    const box = track.current;
    if (!box) return;
    const observer = new ResizeObserver(() => setWidth(Math.round(box.getBoundingClientRect().width)));
    observer.observe(box);
    return () => observer.disconnect();
  }, [track]);
  return width;
}

/** When the scale is drawn along time: the bars' ends. */
const instantsOf = (bars: readonly Bar[]) =>
  bars.flatMap(({ fromSeq, toSeq, fromAt, toAt }) =>
    toSeq > fromSeq
      ? [
          { seq: fromSeq, at: fromAt },
          { seq: toSeq, at: toAt },
        ]
      : [{ seq: fromSeq, at: fromAt }],
  );

function Pointed({ event }: { readonly event: RunEvent | undefined }) {
  const zone = useZone();
  return event === undefined ? null : (
    <>
      {' '}
      <code>{event.kind}</code> {clock(event.at, zone)}
    </>
  );
}

const axisParams = { axis: runParams.axis };

export function Scrubber(props: Props) {
  const { headSeq, seq, onMove, event, eventAt, run, bars } = props;
  const zone = useZone();
  const track = useRef<HTMLDivElement>(null);
  const width = useWidth(track);
  const [size, setSize] = useState<number | undefined>(undefined);
  const [dragging, setDragging] = useState(false);
  const [pointed, setPointed] = useState<number | undefined>(undefined);
  const [{ axis }, setParams] = useQueryStates(axisParams, { history: 'replace' });
  const scale = useMemo(
    () => (axis === 'time' ? timeScale(instantsOf(bars), headSeq) : seqScale(headSeq)),
    [axis, bars, headSeq],
  );
  const tall = size ?? SCRUBBER.usual;
  const range = useCallback(() => ({ now: tall, least: SCRUBBER.least, most: SCRUBBER.most }), [tall]);
  const seqUnder = (clientX: number): number | undefined => {
    const box = track.current?.getBoundingClientRect();
    return box && headSeq > 0
      ? scale.seqAt(Math.max(0, Math.min(0.9999, (clientX - box.left) / box.width)))
      : undefined;
  };
  const place = (clientX: number, how: 'jump' | 'slide') => {
    const to = seqUnder(clientX);
    if (to !== undefined) onMove(to, how);
  };
  // While dragging, the pointer belongs to the track wherever it goes.
  useEffect(() => {
    if (!dragging) return;
    const end = () => setDragging(false);
    window.addEventListener('pointerup', end);
    window.addEventListener('pointercancel', end);
    return () => {
      window.removeEventListener('pointerup', end);
      window.removeEventListener('pointercancel', end);
    };
  }, [dragging]);
  const at = percent(middle(scale, seq));
  const flag = Math.max(26, whole(seq).length * 6.5 + 10);
  const trackHeight = tall - FRAME;
  const height = trackHeight - ABOVE - BELOW;
  return (
    <section
      className="scrub"
      aria-label="Scrubber"
      style={{ '--track': `${trackHeight}px` } as CSSProperties}
    >
      <Splitter
        pane="run.scrubber"
        label="Resize scrubber"
        orientation="horizontal"
        grows={-1}
        range={range}
        onSize={setSize}
      />
      <div className="scrub-bar">
        <Button
          kind="quiet"
          size="small"
          glyph="to-start"
          label="First event"
          title="First event (Home)"
          onPress={() => onMove(1, 'jump')}
        />
        <Button
          kind="quiet"
          size="small"
          glyph="event-back"
          label="One event back"
          title="One event back (←)"
          onPress={() => onMove(seq - 1, 'slide')}
        />
        <Button
          size="small"
          glyph={props.playing ? 's-paused' : 'resume'}
          label={props.playing ? 'Stop playing' : 'Play'}
          title="Play (Space)"
          onPress={props.onPlay}
        />
        <Button
          kind="quiet"
          size="small"
          glyph="event-fwd"
          label="One event forward"
          title="One event forward (→)"
          onPress={() => onMove(seq + 1, 'slide')}
        />
        <Button
          kind="quiet"
          size="small"
          glyph="to-end"
          label="Newest event"
          title="Newest event (End)"
          onPress={() => onMove(null, 'jump')}
        />
        <div className="readout">
          <span>
            seq <b>{whole(seq)}</b> <span className="third">of {whole(headSeq)}</span>
          </span>
          {event && (
            <>
              <span>
                {clock(event.at, zone)} <span className="third">{zoneAt(event.at, zone)}</span>
              </span>
              <code className="second">{event.kind}</code>
            </>
          )}
          {props.following && run.status === 'running' && <span className="second">follows the run</span>}
        </div>
        <span className="grow" />
        <span className="key-legend hide-medium" aria-hidden="true">
          {legend.map(([look, word]) => (
            <span key={look}>
              <i data-f={look} />
              {word}
            </span>
          ))}
        </span>
        <span className="keys hide-narrow" aria-hidden="true">
          <kbd>←</kbd>
          <kbd>→</kbd> event
        </span>
        <span className="keys hide-narrow" aria-hidden="true">
          <kbd>⇧</kbd>
          <kbd>→</kbd> step
        </span>
        <span className="keys hide-narrow" aria-hidden="true">
          <kbd>C</kbd> checkpoint
        </span>
        <span className="keys hide-narrow" aria-hidden="true">
          <kbd>E</kbd> effect
        </span>
        <span className="keys" aria-hidden="true">
          <kbd>?</kbd> all keys
        </span>
        <fieldset className="segment" data-size="small" aria-label="Axis">
          <button type="button" aria-pressed={axis === 'seq'} onClick={() => void setParams({ axis: 'seq' })}>
            Seq
          </button>
          <button
            type="button"
            aria-pressed={axis === 'time'}
            onClick={() => void setParams({ axis: 'time' })}
          >
            Time, gaps folded
          </button>
        </fieldset>
      </div>
      <div className="scrub-body">
        <div className="lanes" aria-hidden="true">
          <span style={{ top: 20 }}>States</span>
          <span style={{ top: ABOVE + height / 2 - 7 }}>Events</span>
          <span style={{ top: ABOVE + height + 3 }}>Checkpoints</span>
          <span style={{ top: ABOVE + height + 20 }}>Effects, errors</span>
        </div>
        <div
          ref={track}
          className="track inset"
          role="slider"
          tabIndex={0}
          aria-label="Cursor"
          aria-valuemin={1}
          aria-valuemax={Math.max(1, headSeq)}
          aria-valuenow={seq}
          aria-valuetext={`seq ${seq} of ${headSeq}${event ? `, ${event.kind}, ${clock(event.at, zone)} ${zoneAt(event.at, zone)}` : ''}`}
          onPointerDown={(down) => {
            if (down.button !== 0) return;
            down.currentTarget.setPointerCapture(down.pointerId);
            setDragging(true);
            place(down.clientX, 'jump');
          }}
          onPointerMove={(move) => {
            setPointed(seqUnder(move.clientX));
            if (dragging) place(move.clientX, 'slide');
          }}
          onPointerLeave={() => setPointed(undefined)}
          onKeyDown={(down) => {
            const to = keyMove(down.key, seq, headSeq);
            if (to === undefined || down.shiftKey || down.metaKey || down.ctrlKey || down.altKey) return;
            down.preventDefault();
            onMove(to, 'slide');
          }}
        >
          <svg className="track-lanes" aria-hidden="true">
            <Lanes
              run={run}
              scale={scale}
              axis={axis}
              width={width}
              height={height}
              partial={props.partial}
              bars={bars}
              steps={props.steps}
              failures={props.failures}
              checkpoints={props.checkpoints}
              visits={props.visits}
            />
            <line className="cursor-line" x1={at} x2={at} y1={16} y2={trackHeight} />
            <svg x={at} y={0} overflow="visible" aria-hidden="true">
              <rect className="cursor-flag" x={-flag / 2} y={0} width={flag} height={16} rx={3} />
              <text className="cursor-text" y={12}>
                {whole(seq)}
              </text>
            </svg>
          </svg>
          {pointed !== undefined && !dragging && pointed !== seq && (
            <span
              className="pointed"
              aria-hidden="true"
              data-side={middle(scale, pointed) > 0.8 ? 'left' : 'right'}
              style={{ left: percent(middle(scale, pointed)) }}
            >
              seq {whole(pointed)}
              <Pointed event={eventAt(pointed)} />
            </span>
          )}
        </div>
      </div>
    </section>
  );
}
