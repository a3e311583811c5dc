'use client';

import { Fragment } from 'react';
import { PageLink as Link } from '@/components/ui/confined';
import { plural } from '@/components/ui/format';
import { Glyph } from '@/components/ui/glyph';
import { Ago } from '@/components/ui/time';
import type { RunSummary } from '@/lib/client/api-types';
import { runHref } from '@/lib/client/url-state';
import { costWords } from './cost-words';
import { phaseOf, timesOf } from './run-words';
import { Took } from './took';
import { runStatusView, sourceWord } from './views';

/** In the order of what they are worth: those that find no room are the last ones. */
export function FactList({ run }: { readonly run: RunSummary }) {
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
      {times?.ms !== undefined && (
        <span>
          <Took times={times} ms={times.ms} />
        </span>
      )}
      {cost !== undefined && <span>{cost}</span>}
      <span>
        {run.holder
          ? `held by ${run.holder.workerId}`
          : run.home === 'mirror'
            ? `read from ${sourceWord(run.source)}`
            : 'lease free'}
      </span>
      {run.line > 0 && <span>{plural(run.line, 'rewind')}</span>}
      {run.tags.length > 0 && <span>tagged {run.tags.join(', ')}</span>}
    </>
  );
}
