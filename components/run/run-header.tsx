'use client';

import { memo, useEffect, useRef, useState } from 'react';
import { useExportOpen } from '@/components/export/export-open';
import { Button, ButtonLink } from '@/components/ui/button';
import { PageLink as Link, useConfines } from '@/components/ui/confined';
import { Glyph } from '@/components/ui/glyph';
import { Later, part } from '@/components/ui/later';
import { Badge } from '@/components/ui/mark';
import { OpensLater } from '@/components/ui/opens';
import { toast } from '@/components/ui/toast';
import type { RunSummary } from '@/lib/client/api-types';
import { planHref, type planModes } from '@/lib/client/url-state';
import type { CursorPoint } from './cursor-point';
import { FactList } from './run-facts';
import { impossibleNow } from './run-words';
import { badgeView, runStatusView } from './views';

const allFacts = part(() => import('./all-facts').then((module) => module.AllFacts));
const moreMenu = part(() => import('./more-menu').then((module) => module.MoreMenu));
const exportDialog = part(() =>
  import('@/components/export/export-dialog').then((module) => module.ExportDialog),
);

/** One line, whatever the room: how many facts stand outside it is said, with the way to all of them. */
function Facts({ run }: { readonly run: RunSummary }) {
  const line = useRef<HTMLDivElement>(null);
  const [hidden, setHidden] = useState(0);
  useEffect(() => {
    const box = line.current;
    if (!box) return;
    const count = () =>
      setHidden(
        [...box.children].filter((fact) => fact instanceof HTMLElement && fact.offsetTop - box.offsetTop > 9)
          .length,
      );
    const sized = new ResizeObserver(count);
    const changed = new MutationObserver(count);
    sized.observe(box);
    changed.observe(box, { childList: true, characterData: true, subtree: true });
    return () => {
      sized.disconnect();
      changed.disconnect();
    };
  }, []);
  return (
    <div className="facts-line">
      <div className="facts" ref={line}>
        <FactList run={run} />
      </div>
      {hidden > 0 && <MoreFacts run={run} hidden={hidden} />}
    </div>
  );
}

/** That it was opened is forgotten with the button: it must not open by itself when the room gets scarce again. */
function MoreFacts({ run, hidden }: { readonly run: RunSummary; readonly hidden: number }) {
  return (
    <OpensLater
      of={allFacts}
      role="dialog"
      className="facts-more"
      aria-label={`${hidden} more facts of the run`}
      props={{ run, hidden }}
    >
      +{hidden}
    </OpensLater>
  );
}

/** Link of an order from the cursor, or why there is none. */
const fromCursor = (run: RunSummary, mode: 'fork' | 'rewind', point: CursorPoint) => ({
  href: planHref(run.id, mode, 'from' in point ? point.from : undefined),
  reason: impossibleNow(run, mode) ?? ('reason' in point ? point.reason : undefined),
});

const primaryWord = (run: RunSummary): string => {
  const { next, checkpoint } = run;
  if (next?.action === 'resume') return checkpoint ? `Resume from checkpoint ${checkpoint.n}…` : 'Resume…';
  if (next?.action === 'verify' || next?.action === 'decide') return 'Decide and resume…';
  return 'Resume…';
};

const isSame = (a: CursorPoint, b: CursorPoint) => JSON.stringify(a) === JSON.stringify(b);

/** Drawn anew where the run or the points have changed, not for each move of the cursor within a step. */
export const RunHeader = memo(
  Header,
  (a, b) => a.run === b.run && isSame(a.forkPoint, b.forkPoint) && isSame(a.rewindPoint, b.rewindPoint),
);

function Header({
  run,
  forkPoint,
  rewindPoint,
}: {
  readonly run: RunSummary;
  readonly forkPoint: CursorPoint;
  readonly rewindPoint: CursorPoint;
}) {
  const confines = useConfines();
  const [open] = useExportOpen();
  const href = (mode: (typeof planModes)[number], from?: string) => planHref(run.id, mode, from);
  const resumes = run.next !== null && !['replay', 'answer', 'rewind'].includes(run.next.action);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(run.id);
      toast.success('The run id was copied');
    } catch {
      // No leave to write there, or no secure context: the id stands beside the button, to be selected.
      toast.error('The browser does not let this page copy; select the run id by hand');
    }
  };
  return (
    <header className="run-head">
      <div className="grow overflow-hidden">
        <div className="run-id">
          <h1>
            <Link href={`/runs?agent=${encodeURIComponent(run.agent)}`}>{run.agent}</Link>
            <span className="third font-normal">/</span>
            <span className="mono" title={run.id}>
              {run.id}
            </span>
          </h1>
          <Button
            kind="quiet"
            size="small"
            glyph="copy"
            label="Copy the run id"
            onPress={() => void copy()}
          />
          <span role="status" aria-label="Run status" aria-live="polite">
            <Badge view={runStatusView[run.status]} />
          </span>
          {run.effectsInDoubt > 0 && (
            <Badge view={badgeView['in-doubt']} word={`${run.effectsInDoubt} in doubt`} />
          )}
          {run.badges
            .filter((badge) => badge !== 'in-doubt')
            .map((badge) => (
              <Badge key={badge} view={badgeView[badge]} />
            ))}
        </div>
        <Facts run={run} />
      </div>
      {run.next && (
        <div className="next-action" title={run.next.sentence}>
          <b>Safest next</b>
          <span className="sentence">{run.next.sentence}</span>
        </div>
      )}
      <ButtonLink
        size="large"
        glyph="fork"
        {...fromCursor(run, 'fork', forkPoint)}
        title="Fork from the cursor (B)"
      >
        Fork
      </ButtonLink>
      <ButtonLink
        size="large"
        glyph="replay"
        href={href('replay', 'start')}
        reason={impossibleNow(run, 'replay')}
        title="Replay: nothing outside is touched (P)"
        {...(run.next?.action === 'replay' ? { kind: 'primary' as const } : {})}
      >
        Replay
      </ButtonLink>
      <ButtonLink
        size="large"
        glyph="resume"
        hotkey="R"
        href={href('resume', run.next?.from ?? undefined)}
        reason={impossibleNow(run, 'resume')}
        {...(resumes ? { kind: 'primary' as const } : {})}
      >
        {primaryWord(run)}
      </ButtonLink>
      <OpensLater
        of={moreMenu}
        role="menu"
        className="btn"
        data-size="large"
        data-icon=""
        aria-label="More actions"
        props={{ run, rewind: fromCursor(run, 'rewind', rewindPoint) }}
      >
        <Glyph name="dots" />
      </OpensLater>
      {confines === undefined && <Later of={exportDialog} shown={open === 'export'} props={{ run }} />}
    </header>
  );
}
