'use client';

import { DropdownMenu, Popover } from 'radix-ui';
import { Fragment, memo, useEffect, useRef, useState } from 'react';
import { toast } from 'sonner';
import { ExportDialog, ExportItem } from '@/components/export/export-dialog';
import { Button, ButtonLink } from '@/components/ui/button';
import { PageLink as Link } from '@/components/ui/confined';
import { duration, plural } from '@/components/ui/format';
import { Glyph } from '@/components/ui/glyph';
import { Badge } from '@/components/ui/mark';
import { Ago } from '@/components/ui/time';
import type { RunAction, RunSummary } from '@/lib/client/api-types';
import { planHref, type planModes, runHref } from '@/lib/client/url-state';
import { costWords } from './cost-words';
import type { CursorPoint } from './cursor-point';
import { OrderDialog } from './order-dialog';
import { impossibleNow, phaseOf, timesOf } from './run-words';
import { badgeView, runStatusView } from './views';

/** In the order of what they are worth: those that find no room are the last ones. */
function FactList({ run }: { readonly run: RunSummary }) {
  const { parent, children } = run.lineage;
  const cost = costWords(run.cost);
  const times = timesOf(run);
  return (
    <>
      <span>
        <Glyph name="fork" />
        {parent ? (
          <span>
            {parent.mode} of{' '}
            <Link className="link" href={runHref(parent.runId, parent.seq)}>
              {parent.runId}
            </Link>
          </span>
        ) : (
          <span>original</span>
        )}
      </span>
      {children.length > 0 && (
        <span>
          {/* One text: a gap stands between the parts of a fact. */}
          <span>
            {children.slice(-2).map((child, n) => (
              <Fragment key={child.runId}>
                {n > 0 && '; '}
                <Link className="link" href={runHref(child.runId)} title={child.runId}>
                  {child.mode} {child.runId.slice(-6)}, {runStatusView[child.status].word.toLowerCase()}
                </Link>
              </Fragment>
            ))}
            {run.lineage.childCount > 2 && ` and ${run.lineage.childCount - 2} more`}
          </span>
        </span>
      )}
      <span>
        <b>{run.counts.steps}</b> {run.counts.steps === 1 ? 'step' : 'steps'} ended
      </span>
      {run.endedAt === null && <span>{phaseOf(run)}</span>}
      {times !== undefined && (
        <span>
          started <Ago at={times.at} />
        </span>
      )}
      {times?.ms !== undefined && <span>{duration(times.ms)}</span>}
      {cost !== undefined && <span>{cost}</span>}
      <span>{run.holder ? `held by ${run.holder.workerId}` : 'lease free'}</span>
      {run.line > 0 && <span>{plural(run.line, 'rewind')}</span>}
      {run.tags.length > 0 && <span>tagged {run.tags.join(', ')}</span>}
    </>
  );
}

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
      {hidden > 0 && (
        <Popover.Root>
          <Popover.Trigger className="facts-more" aria-label={`${hidden} more facts of the run`}>
            +{hidden}
          </Popover.Trigger>
          <Popover.Portal>
            <Popover.Content className="menu facts-all" align="start" sideOffset={4} aria-label="All facts">
              <FactList run={run} />
            </Popover.Content>
          </Popover.Portal>
        </Popover.Root>
      )}
    </div>
  );
}

/** Link of an order from the cursor, or why there is none. */
const fromCursor = (run: RunSummary, mode: 'fork' | 'rewind', point: CursorPoint) => ({
  href: planHref(run.id, mode, 'from' in point ? point.from : undefined),
  reason: impossibleNow(run, mode) ?? ('reason' in point ? point.reason : undefined),
});

function More({
  run,
  rewindPoint,
  onOrder,
}: {
  readonly run: RunSummary;
  readonly rewindPoint: CursorPoint;
  readonly onOrder: (order: 'pause' | 'cancel') => void;
}) {
  const rewind = fromCursor(run, 'rewind', rewindPoint);
  const item = (
    action: RunAction,
    word: string,
    act: () => void,
    reason: string | undefined = impossibleNow(run, action),
  ) => {
    return (
      <DropdownMenu.Item
        key={action}
        aria-disabled={reason !== undefined || undefined}
        onSelect={(event) => {
          if (reason === undefined) act();
          else event.preventDefault();
        }}
      >
        <span>
          {word}
          {reason !== undefined && <small>{reason}</small>}
        </span>
      </DropdownMenu.Item>
    );
  };
  return (
    <DropdownMenu.Root>
      <DropdownMenu.Trigger className="btn" data-size="large" data-icon="" aria-label="More actions">
        <Glyph name="dots" />
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content className="menu" align="end" sideOffset={4}>
          {rewind.reason === undefined ? (
            <DropdownMenu.Item asChild>
              <Link href={rewind.href}>Rewind…</Link>
            </DropdownMenu.Item>
          ) : (
            item('rewind', 'Rewind…', () => undefined, rewind.reason)
          )}
          {item('pause', 'Pause…', () => onOrder('pause'))}
          {item('cancel', 'Cancel the run…', () => onOrder('cancel'))}
          <ExportItem />
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

const primaryWord = (run: RunSummary): string => {
  const { next, checkpoint } = run;
  if (next?.action === 'resume') return checkpoint ? `Resume from checkpoint ${checkpoint.n}…` : 'Resume…';
  if (next?.action === 'verify' || next?.action === 'decide') return 'Settle and resume…';
  return 'Resume…';
};

export const RunHeader = memo(function RunHeader({
  run,
  forkPoint,
  rewindPoint,
}: {
  readonly run: RunSummary;
  readonly forkPoint: CursorPoint;
  readonly rewindPoint: CursorPoint;
}) {
  const [order, setOrder] = useState<'pause' | 'cancel' | undefined>(undefined);
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
      <More run={run} rewindPoint={rewindPoint} onOrder={setOrder} />
      <ExportDialog run={run} />
      {order && <OrderDialog run={run} mode={order} onClose={() => setOrder(undefined)} />}
    </header>
  );
});
