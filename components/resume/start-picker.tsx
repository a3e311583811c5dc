'use client';

import { Popover } from 'radix-ui';
import { lazy, Suspense, useState } from 'react';
import { checkpointInShort } from '@/components/run/checkpoint-words';
import { Glyph } from '@/components/ui/glyph';
import { Skeleton } from '@/components/ui/problem-note';
import type { CheckpointRow, PlanMode } from '@/lib/client/api-types';
import { choices, startWords } from './plan-draft';

const PointList = lazy(() => import('./point-list').then((module) => ({ default: module.PointList })));

interface Props {
  readonly mode: PlanMode;
  readonly from: string;
  readonly fromName: string | undefined;
  readonly checkpoints: readonly CheckpointRow[];
  /** There is nothing for the order to do. */
  readonly over: boolean;
  readonly onPick: (from: string) => void;
}

/** What the button says: the point, by what it is. */
function pointWords(
  mode: PlanMode,
  from: string,
  chosen: CheckpointRow | undefined,
  name: string | undefined,
): string {
  if (mode === 'replay') return 'The first event';
  if (from === 'latest') return 'The newest point';
  if (from === 'start') return 'The start';
  return chosen === undefined ? (name ?? from) : `Checkpoint ${chosen.n}`;
}

/** Where to start: a list that can be searched, of points named by what had just happened; the safest is chosen first. */
export function StartPicker({ mode, from, fromName, checkpoints, over, onPick }: Props) {
  const [open, setOpen] = useState(false);
  const offered = choices(checkpoints);
  const chosen = offered.find(({ id }) => id === from);
  const pick = (to: string) => {
    setOpen(false);
    onPick(to);
  };
  return (
    <div className="pick">
      <span className="third small">Start from</span>
      <Popover.Root open={open} onOpenChange={setOpen}>
        <Popover.Trigger
          className="btn"
          data-size="small"
          aria-label={`Start from ${pointWords(mode, from, chosen, fromName)}`}
          disabled={mode === 'replay'}
        >
          <Glyph name="checkpoint" />
          <strong className="clip">{pointWords(mode, from, chosen, fromName)}</strong>
          {mode !== 'replay' && <Glyph name="chevron-down" />}
        </Popover.Trigger>
        <Popover.Portal>
          <Popover.Content className="menu points" align="start" sideOffset={4} aria-label="Where to start">
            <Suspense fallback={<Skeleton rows={5} />}>
              <PointList mode={mode} from={from} offered={offered} onPick={pick} />
            </Suspense>
          </Popover.Content>
        </Popover.Portal>
      </Popover.Root>
      <span className="small second clip" title={chosen && checkpointInShort(chosen)}>
        {mode === 'replay' ? (
          'A replay always covers the whole run.'
        ) : (
          <>
            {chosen !== undefined && <>{chosen.name}. </>}
            {startWords(mode, from, checkpoints, over)}
          </>
        )}
      </span>
    </div>
  );
}
