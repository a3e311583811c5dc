import Link from 'next/link';
import { costCell, tokensCell } from '@/components/run/cost-words';
import { situationOf, timesOf } from '@/components/run/run-words';
import { badgeView, runStatusView } from '@/components/run/views';
import { duration, whole } from '@/components/ui/format';
import { Glyph } from '@/components/ui/glyph';
import { Badge, Mark, type MarkView } from '@/components/ui/mark';
import { Ago } from '@/components/ui/time';
import type { RunSummary } from '@/lib/client/api-types';
import { runHref } from '@/lib/client/url-state';

/** The end of an id, which is always shown. */
const TAIL = 6;

/** A row that the newest answer does not have. */
const changed: MarkView = { tone: 'neutral', glyph: 's-unknown', word: 'Changed' };

export function RunRow({ run, gone }: { readonly run: RunSummary; readonly gone: boolean }) {
  const parent = run.lineage.parent;
  const tokens = tokensCell(run.cost);
  const cost = costCell(run.cost);
  const times = timesOf(run);
  return (
    <>
      <td>
        <Mark view={gone ? changed : runStatusView[run.status]} />
      </td>
      <td>{run.agent}</td>
      <td>
        <span className="idcell">
          <Link
            href={runHref(run.id)}
            prefetch={false}
            data-run={run.id}
            className="mono midcut"
            title={run.id}
            aria-label={run.id}
          >
            <span className="clip">{run.id.slice(0, -TAIL)}</span>
            <span>{run.id.slice(-TAIL)}</span>
          </Link>
          {parent && (
            <span className="lin third" title={`${parent.mode} of ${parent.runId} at seq ${parent.seq}`}>
              <Glyph name={parent.mode} />
              {parent.runId.length <= 14 ? parent.runId : parent.runId.slice(-TAIL)}
            </span>
          )}
        </span>
      </td>
      <td>
        <span className="where">
          {(['diverged', 'replaying'] as const)
            .filter((badge) => run.badges.includes(badge))
            .map((badge) => (
              <Badge key={badge} view={badgeView[badge]} />
            ))}
          {run.visit && !gone && <code>{run.visit.state}</code>}
          <span className="second clip" title={gone ? undefined : situationOf(run)}>
            {gone ? 'no longer among these runs' : situationOf(run)}
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
        {run.badges.includes('perhaps-twice') && (
          <Badge
            view={badgeView['perhaps-twice']}
            word="perhaps twice"
            title="Two calls of one effect may have happened: see its Effects tab"
          />
        )}
        {run.badges.includes('ran-twice') && (
          <Badge view={badgeView['ran-twice']} word="ran twice" title={badgeView['ran-twice'].word} />
        )}
      </td>
      <td className="num">
        <Ago at={run.updatedAt} />
      </td>
      <td className="num hide-narrow">{times ? duration(times.ms) : '–'}</td>
      <td className="num hide-narrow" title={tokens.title}>
        {tokens.text}
      </td>
      <td className="num" title={cost.title}>
        {cost.text}
      </td>
      <td className="hide-narrow">{run.source === 'sdk' ? 'SDK worker' : run.source}</td>
    </>
  );
}
