'use client';

import { useRef } from 'react';
import { impossibleNow } from '@/components/run/run-words';
import { badgeView, runStatusView } from '@/components/run/views';
import { Button, ButtonLink } from '@/components/ui/button';
import { clock, moment, zoneAt } from '@/components/ui/format';
import { Glyph } from '@/components/ui/glyph';
import { Link } from '@/components/ui/link';
import { Badge } from '@/components/ui/mark';
import { Ago } from '@/components/ui/time';
import { toast } from '@/components/ui/toast';
import { useZone } from '@/components/ui/zone';
import type { PlanAnswer, PlanMode, RunSummary } from '@/lib/client/api-types';
import { planModes, runHref } from '@/lib/client/url-state';
import { modes } from './modes';

/** When it came to stand, for a run that does. */
const stoodSince = (run: RunSummary): string | undefined =>
  run.status === 'running' || run.status === 'queued' ? undefined : (run.endedAt ?? run.updatedAt);

/** Which run it is, how it stands, and the way back. */
export function PlanHead({ run, backHref }: { readonly run: RunSummary; readonly backHref: string }) {
  const since = stoodSince(run);
  const zone = useZone();
  return (
    <header className="page-head over">
      <div className="run-id">
        <h1>
          <Link href={runHref(run.id)}>{run.agent}</Link>
          <span className="third font-normal">/</span>
          <span className="mono" title={run.id}>
            {run.id}
          </span>
        </h1>
        <span role="status" aria-label="Run status">
          <Badge view={runStatusView[run.status]} />
        </span>
        {run.effectsInDoubt > 0 && (
          <Badge view={badgeView['in-doubt']} word={`${run.effectsInDoubt} in doubt`} />
        )}
        {since !== undefined && (
          <span className="small third nowrap hide-narrow">
            since {moment(Date.parse(since), zone)}, <Ago at={since} />
          </span>
        )}
      </div>
      <span className="grow" />
      <ButtonLink kind="quiet" href={backHref} hotkey="Esc">
        Back to the run
      </ButtonLink>
    </header>
  );
}

/** The kinds of orders as tabs: arrows go along them, and each that is come to is chosen. */
function ModeTabs({
  run,
  mode,
  onMode,
}: {
  readonly run: RunSummary;
  readonly mode: PlanMode;
  readonly onMode: (mode: PlanMode) => void;
}) {
  const tabs = useRef<HTMLDivElement>(null);
  const step = (by: 1 | -1) => {
    const next = planModes[(planModes.indexOf(mode) + by + planModes.length) % planModes.length] ?? mode;
    tabs.current?.querySelector<HTMLElement>(`[data-mode="${next}"]`)?.focus();
    onMode(next);
  };
  return (
    <div className="segment" role="tablist" aria-label="Mode" ref={tabs}>
      {planModes.map((each) => {
        const why = impossibleNow(run, each);
        return (
          <button
            key={each}
            type="button"
            role="tab"
            id={`mode-${each}`}
            data-mode={each}
            aria-controls="plan"
            aria-selected={mode === each}
            tabIndex={mode === each ? 0 : -1}
            data-impossible={why === undefined ? undefined : ''}
            title={why ?? modes[each].sentence}
            onClick={() => onMode(each)}
            onKeyDown={(event) => {
              if (event.key !== 'ArrowRight' && event.key !== 'ArrowLeft') return;
              event.preventDefault();
              step(event.key === 'ArrowRight' ? 1 : -1);
            }}
          >
            <Glyph name={modes[each].glyph} />
            {modes[each].word}
          </button>
        );
      })}
    </div>
  );
}

async function share(): Promise<void> {
  try {
    await navigator.clipboard.writeText(window.location.href);
    toast.success('The link to this plan was copied', {
      description:
        'It has the kind of order and where it starts; decisions, edits and the reason are not in it.',
    });
  } catch {
    // No leave to write there, or no secure context.
    toast.error('The browser does not let this page copy; take the link from the address bar');
  }
}

/** The kind of order, and when and for which journal its plan was made. */
export function SheetHead({
  run,
  mode,
  plan,
  onMode,
}: {
  readonly run: RunSummary;
  readonly mode: PlanMode;
  readonly plan: PlanAnswer | undefined;
  readonly onMode: (mode: PlanMode) => void;
}) {
  const at = plan === undefined ? undefined : Date.parse(plan.plannedAt);
  const zone = useZone();
  return (
    <div className="sheet-head">
      <ModeTabs run={run} mode={mode} onMode={onMode} />
      <span className="second clip" title={modes[mode].sentence}>
        {modes[mode].sentence}
      </span>
      <span className="grow" />
      {plan && at !== undefined && (
        <span className="third small nowrap hide-narrow" title={moment(at, zone)}>
          planned {clock(at, zone).slice(0, 8)} {zoneAt(at, zone)} from seq {plan.headSeq}
        </span>
      )}
      <Button
        kind="quiet"
        size="small"
        glyph="link"
        title="Copies the address of this plan"
        onPress={() => void share()}
      >
        Share
      </Button>
    </div>
  );
}
