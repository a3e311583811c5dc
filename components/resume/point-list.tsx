'use client';

import { Command } from 'cmdk';
import { checkpointInShort } from '@/components/run/checkpoint-words';
import { moment } from '@/components/ui/format';
import { Glyph } from '@/components/ui/glyph';
import { useZone } from '@/components/ui/zone';
import type { CheckpointRow, PlanMode } from '@/lib/client/api-types';
import { type StartPoint, startPoints } from './plan-draft';

interface Props {
  readonly mode: PlanMode;
  readonly from: string;
  /** Newest first. */
  readonly offered: readonly CheckpointRow[];
  readonly onPick: (from: string) => void;
}

function PointItem({
  point,
  current,
  onPick,
}: {
  readonly point: StartPoint;
  readonly current: boolean;
  readonly onPick: (from: string) => void;
}) {
  const { from, words, checkpoint } = point;
  const zone = useZone();
  return (
    <Command.Item
      value={from}
      keywords={[words, checkpoint?.visit ?? '', checkpoint === undefined ? '' : String(checkpoint.seq)]}
      onSelect={() => onPick(from)}
    >
      <Glyph name={current ? 's-completed' : 'checkpoint'} />
      <span className="clip" title={checkpoint && checkpointInShort(checkpoint)}>
        {words}
      </span>
      {point.safest && <span className="suggest">safest</span>}
      <span className="grow" />
      {checkpoint !== undefined && (
        <span className="third small nowrap" title={moment(Date.parse(checkpoint.at), zone)}>
          <code>{checkpoint.visit}</code> seq {checkpoint.seq}
        </span>
      )}
    </Command.Item>
  );
}

/** Points to start from, newest first, found by name, visit, number or seq. */
export function PointList({ mode, from, offered, onPick }: Props) {
  return (
    <Command label="Where to start" defaultValue={from} vimBindings={false} loop filter={everyPart}>
      <div className="palette-field">
        <Glyph name="search" />
        <Command.Input autoFocus aria-label="Find a checkpoint" placeholder="Step, visit, number or seq" />
      </div>
      <Command.List className="palette-list scroll" label="Checkpoints">
        <Command.Empty className="palette-note">No checkpoint has that.</Command.Empty>
        {startPoints(mode, offered).map((point) => (
          <PointItem key={point.from} point={point} current={point.from === from} onPick={onPick} />
        ))}
      </Command.List>
    </Command>
  );
}

/** Every part of what is typed, in any order; the order of the list stays. */
const everyPart = (_value: string, search: string, keywords: string[] = []): number => {
  const text = keywords.join(' ').toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((part) => text.includes(part))
    ? 1
    : 0;
};
