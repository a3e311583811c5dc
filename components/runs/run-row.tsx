import Link from 'next/link';
import { badgeView, phaseWord, runStatusView } from '@/components/run/views';
import { dollars, duration, short, whole } from '@/components/ui/format';
import { Glyph } from '@/components/ui/glyph';
import { Badge, Mark } from '@/components/ui/mark';
import { Ago } from '@/components/ui/time';
import type { RunSummary } from '@/lib/client/api-types';
import { runHref } from '@/lib/client/url-state';

/** What the run does or why it stopped, in a few words. */
export function situationOf(run: RunSummary): string {
  if (run.status === 'failed') return run.failure?.error.message ?? 'failed';
  if (run.status === 'interrupted') {
    const lost = run.interruption?.cause === 'hand-over' ? 'worker stopped' : 'worker lost';
    return run.effectsInDoubt > 0 ? `${lost}, outcome unknown` : lost;
  }
  if (run.status === 'completed' || run.status === 'cancelled') return '';
  if (run.pending && run.home === 'here') return `${run.pending.mode} accepted, waits for a worker`;
  if (run.status === 'queued') return 'waits for a worker';
  return phaseWord[run.phase];
}

const statusMark = (run: RunSummary) => {
  if (run.badges.includes('diverged')) return badgeView.diverged;
  if (run.badges.includes('replaying') && run.status === 'running') return badgeView.replaying;
  return runStatusView[run.status];
};

const durationOf = (run: RunSummary) =>
  run.startedAt === null
    ? '–'
    : duration(Date.parse(run.endedAt ?? run.updatedAt) - Date.parse(run.startedAt));

export function RunRow({ run }: { readonly run: RunSummary }) {
  const parent = run.lineage.parent;
  const tokens = run.cost.inputTokens + run.cost.outputTokens;
  return (
    <>
      <td>
        <Mark view={statusMark(run)} />
      </td>
      <td>{run.agent}</td>
      <td>
        <span className="idcell">
          <Link
            href={runHref(run.id)}
            prefetch={false}
            data-run={run.id}
            className="mono clip"
            title={run.id}
          >
            {run.id}
          </Link>
          {parent && (
            <span className="lin third" title={`${parent.mode} of ${parent.runId} at seq ${parent.seq}`}>
              <Glyph name={parent.mode} />
              {parent.runId.length <= 14 ? parent.runId : parent.runId.slice(-6)}
            </span>
          )}
        </span>
      </td>
      <td>
        <span className="where">
          {run.visit && <code>{run.visit.state}</code>}
          <span className="second clip" title={situationOf(run)}>
            {situationOf(run)}
          </span>
        </span>
      </td>
      <td className="num">{whole(run.counts.steps)}</td>
      <td>
        {run.effectsInDoubt > 0 && (
          <Badge
            view={badgeView['in-doubt']}
            word={String(run.effectsInDoubt)}
            title={`${run.effectsInDoubt} in doubt: whether it happened is not known`}
          />
        )}
        {run.badges.includes('ran-twice') && (
          <Badge view={badgeView['ran-twice']} word="ran twice" title={badgeView['ran-twice'].word} />
        )}
      </td>
      <td className="num">
        <Ago at={run.updatedAt} />
      </td>
      <td className="num hide-narrow">{durationOf(run)}</td>
      <td className="num hide-narrow">{short(tokens)}</td>
      <td className="num">{dollars(run.cost.costMicroUsd)}</td>
      <td className="hide-narrow">{run.source === 'sdk' ? 'SDK worker' : run.source}</td>
    </>
  );
}
