'use client';

import { memo } from 'react';
import { Glyph } from '@/components/ui/glyph';
import type { CheckpointRow, GraphAt, PlanMode } from '@/lib/client/api-types';
import { checkpointName, choices, startWords, thinnedOut } from './plan-draft';

interface Props {
  readonly mode: Exclude<PlanMode, 'replay'>;
  readonly from: string;
  readonly fromName: string | undefined;
  readonly headSeq: number;
  readonly checkpoints: readonly CheckpointRow[];
  readonly visits: readonly GraphAt['visits'][number][];
  readonly onPick: (from: string) => void;
}

/** Marks and names that find room on the rail at its narrowest. */
const MARKS = 60;

/** Where to start, by what had just happened; the newest point is the safest and stands first. */
export const CheckpointPicker = memo(function CheckpointPicker({
  mode,
  from,
  fromName,
  headSeq,
  checkpoints,
  visits,
  onPick,
}: Props) {
  const offered = choices(checkpoints);
  const known = from === 'latest' || from === 'start' || offered.some((each) => each.id === from);
  const chosen = offered.find((each) => each.id === from);
  const restoredTo = from === 'start' ? 0 : (chosen?.seq ?? headSeq);
  return (
    <div className="start">
      <label className="pick">
        <span className="second small">Start from</span>
        <select
          className="text picker"
          aria-label="Checkpoint"
          value={from}
          onChange={(event) => onPick(event.target.value)}
        >
          {!known && <option value={from}>{fromName ?? from}</option>}
          <option value="latest">
            {mode === 'resume' ? 'the newest point (safest)' : 'the newest point'}
          </option>
          {offered.map((each) => (
            <option key={each.id} value={each.id}>
              {checkpointName(each)}
            </option>
          ))}
          <option value="start">the start</option>
        </select>
        <span className="small second clip">{startWords(mode, from, checkpoints)}</span>
      </label>
      <fieldset className="cp-rail" aria-label="Checkpoints">
        {thinnedOut(
          visits.map((visit) => ({ ...visit, seq: visit.enteredSeq })),
          headSeq,
          MARKS,
          () => false,
        ).map((visit) => {
          const to = visit.leftSeq ?? headSeq;
          return (
            <span
              key={`${visit.key} ${visit.enteredSeq}`}
              className="seg mono"
              aria-hidden="true"
              title={`${visit.state}, visit ${visit.visit}, seq ${visit.enteredSeq} to ${to}`}
              style={{
                left: `${((visit.enteredSeq - 1) / Math.max(1, headSeq)) * 100}%`,
                width: `${((to - visit.enteredSeq + 1) / Math.max(1, headSeq)) * 100}%`,
              }}
            >
              {visit.state} {visit.visit}
            </span>
          );
        })}
        <i className="restored" style={{ width: `${headSeq === 0 ? 0 : (restoredTo / headSeq) * 100}%` }} />
        {thinnedOut(offered, headSeq, MARKS, (each) => each.id === from)
          .toReversed()
          .map((each) => (
            <button
              key={each.id}
              type="button"
              aria-pressed={each.id === from}
              aria-label={`Checkpoint ${checkpointName(each)}`}
              title={`Checkpoint ${checkpointName(each)}, seq ${each.seq}`}
              style={{ left: `${headSeq === 0 ? 0 : (each.seq / headSeq) * 100}%` }}
              onClick={() => onPick(each.id)}
            >
              <Glyph name="checkpoint" />
              <span>{each.n}</span>
            </button>
          ))}
      </fieldset>
    </div>
  );
});
