'use client';

import { memo, useEffect, useRef, useState } from 'react';
import { Button } from '@/components/ui/button';
import { clock, whole } from '@/components/ui/format';
import { Glyph, type GlyphName } from '@/components/ui/glyph';
import type { Tone } from '@/components/ui/mark';
import type { CheckpointRow, GraphAt, RunSummary, StepRow } from '@/lib/client/api-types';
import type { RunEvent } from '@/lib/core/events/run-event';
import { type Bar, keyMove, labelled, positionOf, seqAtPosition, spaced, ticks } from './scrubber-bars';
import type { Move } from './use-cursor';

interface Props {
  readonly run: RunSummary;
  readonly headSeq: number;
  readonly seq: number;
  readonly following: boolean;
  readonly event: RunEvent | undefined;
  readonly bars: readonly Bar[];
  readonly steps: readonly StepRow[];
  readonly checkpoints: readonly CheckpointRow[];
  readonly visits: readonly GraphAt['visits'][number][];
  readonly onMove: Move;
  readonly playing: boolean;
  readonly onPlay: () => void;
}

const percent = (part: number) => `${(part * 100).toFixed(3)}%`;
const HEIGHT = 34;

interface LaneMark {
  readonly seq: number;
  readonly glyph: GlyphName;
  readonly tone: Tone | undefined;
  readonly title: string;
}

/** Effects and errors on the lowest lane, errors last so that they are drawn on top. */
function marksOf({ steps, run }: Pick<Props, 'steps' | 'run'>): readonly LaneMark[] {
  const marks = steps.flatMap((step): LaneMark[] => {
    if (step.effect === 'external' || step.effect === 'idempotent') {
      const doubt = step.status === 'in-doubt' || step.status === 'unknown';
      return [
        {
          seq: step.attemptSeq,
          glyph: step.effect === 'external' ? 'e-external' : 'e-idempotent',
          tone: doubt ? 'attention' : undefined,
          title: `${step.name}, ${step.effect}${doubt ? ', in doubt' : ''}`,
        },
      ];
    }
    if (step.status === 'failed' && step.endedSeq !== null)
      return [{ seq: step.endedSeq, glyph: 's-failed', tone: 'bad', title: `${step.name} failed` }];
    return [];
  });
  if (run.interruption)
    marks.push({ seq: run.interruption.seq, glyph: 's-failed', tone: 'bad', title: 'Interrupted' });
  if (run.failure) marks.push({ seq: run.failure.seq, glyph: 's-failed', tone: 'bad', title: 'Failed' });
  return marks.toSorted((a, b) => a.seq - b.seq);
}

/** Bands of states narrower than this part of the track could not be seen. */
const NARROW = 0.0008;
/** A checkpoint's diamond and its number need this part of the track. */
const NUMBER = 0.03;

type LanesProps = Pick<Props, 'run' | 'headSeq' | 'bars' | 'steps' | 'checkpoints' | 'visits'>;

/** Everything on the track that the cursor does not move. */
const Lanes = memo(function Lanes({ run, headSeq, bars, steps, checkpoints, visits }: LanesProps) {
  const marks = spaced(marksOf({ steps, run }), headSeq, 0.002);
  const diamonds = spaced(checkpoints, headSeq, 0.006);
  const numbered = labelled(diamonds, headSeq, NUMBER);
  return (
    <>
      {ticks(headSeq, 10).map((tick) => (
        <text key={tick} x={percent(positionOf(tick, headSeq))} y={11} textAnchor="middle">
          {tick}
        </text>
      ))}
      {visits.map((visit, n) => {
        const from = (visit.enteredSeq - 1) / headSeq;
        const to = (visit.leftSeq ?? headSeq) / headSeq;
        if (to - from < NARROW) return null;
        return (
          <g key={`${visit.key} ${visit.enteredSeq}`}>
            <rect
              className={n % 2 === 0 ? 'band' : 'band-alt'}
              x={percent(from)}
              width={percent(Math.max(0, to - from))}
              y={19}
              height={16}
              rx={2}
            />
            {to - from > visit.state.length * 0.009 && (
              <text className="band-text" x={percent(from)} dx={5} y={31}>
                {visit.state}
              </text>
            )}
          </g>
        );
      })}
      {bars.map((bar) => (
        <rect
          key={bar.fromSeq}
          className="ev"
          data-f={bar.look === 'data' ? undefined : bar.look}
          x={percent((bar.fromSeq - 0.9) / headSeq)}
          width={percent(((bar.toSeq - bar.fromSeq + 1) * 0.8) / headSeq)}
          y={38 + HEIGHT * (1 - bar.height)}
          height={HEIGHT * bar.height}
        />
      ))}
      {diamonds.map((checkpoint) => (
        <svg
          key={checkpoint.id}
          x={percent(positionOf(checkpoint.seq, headSeq))}
          y={82}
          overflow="visible"
          aria-hidden="true"
          className="diamond"
          data-left={checkpoint.inForce ? undefined : ''}
        >
          <path d="M0 -5 5 0 0 5 -5 0z" fill="currentColor">
            <title>{`Checkpoint ${checkpoint.n}, ${checkpoint.name}${checkpoint.inForce ? '' : ', left behind by a rewind'}`}</title>
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
          x={percent(positionOf(mark.seq, headSeq))}
          y={96}
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

export function Scrubber(props: Props) {
  const { headSeq, seq, onMove, event, run } = props;
  const track = useRef<HTMLDivElement>(null);
  const [dragging, setDragging] = useState(false);
  const place = (clientX: number, how: 'jump' | 'slide') => {
    const box = track.current?.getBoundingClientRect();
    if (!box || headSeq === 0) return;
    onMove(seqAtPosition(Math.max(0, Math.min(0.9999, (clientX - box.left) / box.width)), headSeq), how);
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
  const at = percent(positionOf(seq, headSeq));
  return (
    <section className="scrub" aria-label="Scrubber">
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
                {clock(event.at)} <span className="third">UTC</span>
              </span>
              <code className="second">{event.kind}</code>
            </>
          )}
          {props.following && run.status === 'running' && <span className="second">follows the run</span>}
        </div>
        <span className="grow" />
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
      </div>
      <div className="scrub-body">
        <div className="lanes" aria-hidden="true">
          <span style={{ top: 20 }}>States</span>
          <span style={{ top: 48 }}>Events</span>
          <span style={{ top: 75 }}>Checkpoints</span>
          <span style={{ top: 94 }}>Effects, errors</span>
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
          aria-valuetext={`seq ${seq} of ${headSeq}${event ? `, ${event.kind}` : ''}`}
          onPointerDown={(down) => {
            if (down.button !== 0) return;
            down.currentTarget.setPointerCapture(down.pointerId);
            setDragging(true);
            place(down.clientX, 'jump');
          }}
          onPointerMove={(move) => dragging && place(move.clientX, 'slide')}
          onKeyDown={(down) => {
            const to = keyMove(down.key, seq, headSeq);
            if (to === undefined || down.shiftKey || down.metaKey || down.ctrlKey || down.altKey) return;
            down.preventDefault();
            onMove(to, 'slide');
          }}
        >
          <svg className="rail" aria-hidden="true">
            <Lanes
              run={run}
              headSeq={headSeq}
              bars={props.bars}
              steps={props.steps}
              checkpoints={props.checkpoints}
              visits={props.visits}
            />
            <line className="cursor-line" x1={at} x2={at} y1={16} y2={112} />
            <svg x={at} y={0} overflow="visible" aria-hidden="true">
              <rect className="cursor-flag" x={-15} y={0} width={30} height={16} rx={3} />
              <text className="cursor-text" y={12}>
                {seq}
              </text>
            </svg>
          </svg>
        </div>
      </div>
    </section>
  );
}
