'use client';

import { memo } from 'react';
import { checkpointInShort } from '@/components/run/checkpoint-words';
import { dispositionView, runStatusView } from '@/components/run/views';
import { Glyph } from '@/components/ui/glyph';
import type { CheckpointRow, GraphAt, PlanAnswer, RunSummary } from '@/lib/client/api-types';
import { thinnedOut } from './plan-draft';
import { railOf, railPlace } from './rail-parts';

interface Props {
  readonly plan: PlanAnswer;
  readonly status: RunSummary['status'];
  /** Those that can be chosen, newest first. */
  readonly offered: readonly CheckpointRow[];
  readonly visits: readonly GraphAt['visits'][number][];
  readonly onPick: (from: string) => void;
}

/** Marks and names that find room on the rail at its narrowest. */
const MARKS = 40;

const stopped: ReadonlySet<RunSummary['status']> = new Set(['failed', 'interrupted', 'paused', 'waiting']);

/** The journal with its checkpoints; what a plan gives back, leaves behind and would run. */
export const Rail = memo(function Rail({ plan, status, offered, visits, onPick }: Props) {
  const { headSeq } = plan;
  const rail = railOf(plan, offered);
  const place = (seq: number) => railPlace(seq, headSeq, rail.end);
  const chosen = offered.find(({ id }) => id === plan.from.checkpointId);
  const marks = thinnedOut(offered, headSeq, MARKS, ({ id }) => id === chosen?.id).toReversed();
  const at = (percent: number) => ({ left: `${percent}%` });
  return (
    <div className="rail" data-branches={rail.branch === undefined ? undefined : ''}>
      {thinnedOut(
        visits.map((visit) => ({ ...visit, seq: visit.enteredSeq })),
        headSeq,
        MARKS,
        () => false,
      ).map((visit) => {
        const to = visit.leftSeq ?? headSeq;
        const left = place(visit.enteredSeq - 1);
        return (
          <span
            key={`${visit.key} ${visit.enteredSeq}`}
            className="seg mono"
            aria-hidden="true"
            title={`${visit.state}, visit ${visit.visit}, seq ${visit.enteredSeq} to ${to}`}
            style={{ ...at(left), width: `${place(to) - left}%` }}
          >
            {visit.state} {visit.visit}
          </span>
        );
      })}
      {rail.stretches.map(({ kind, from, to }) => (
        <i key={kind} className="way" data-k={kind} style={{ ...at(from), width: `${to - from}%` }} />
      ))}
      {rail.branch !== undefined && (
        <>
          <svg className="branch" style={at(rail.branch)} viewBox="0 0 60 30" aria-hidden="true">
            <path d="M6 2c22 0 26 26 54 26" />
          </svg>
          <i className="way" data-k="branch" style={at(rail.branch)} />
        </>
      )}
      {stopped.has(status) && (
        <span className="stop" data-tone={runStatusView[status].tone} style={at(rail.end)}>
          <Glyph name={runStatusView[status].glyph} toned />
        </span>
      )}
      {rail.ahead.map(({ at: percent, name, disposition, words }) => (
        <span
          key={`${name} ${percent}`}
          className="future mono"
          data-tone={disposition === undefined ? 'neutral' : dispositionView[disposition].tone}
          title={words}
          style={at(percent)}
        >
          <Glyph
            name={disposition === undefined ? 's-unreached' : dispositionView[disposition].glyph}
            toned
          />
          <span>{name}</span>
        </span>
      ))}
      {rail.words !== undefined && (
        <span className="rail-words" style={at(rail.end + 2)}>
          {rail.words}
        </span>
      )}
      {plan.mode !== 'replay' && (
        <fieldset className="contents">
          <legend className="visually-hidden">Checkpoints</legend>
          {marks.map((each) => (
            <label
              key={each.id}
              className="point"
              title={`${checkpointInShort(each)}, seq ${each.seq}`}
              style={at(place(each.seq))}
            >
              <input
                type="radio"
                name="checkpoint"
                className="visually-hidden"
                checked={each.id === chosen?.id}
                onChange={() => onPick(each.id)}
                aria-label={`${checkpointInShort(each)}, seq ${each.seq}`}
              />
              <Glyph name="checkpoint" />
              <span aria-hidden="true">{each.n}</span>
            </label>
          ))}
        </fieldset>
      )}
    </div>
  );
});
