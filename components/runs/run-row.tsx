import type { ReactNode } from 'react';
import { costCell, tokensCell } from '@/components/run/cost-words';
import { situationOf, timesOf } from '@/components/run/run-words';
import { Took } from '@/components/run/took';
import { badgeView, runStatusView, sourceWord } from '@/components/run/views';
import { plural, whole } from '@/components/ui/format';
import { Glyph } from '@/components/ui/glyph';
import { Link } from '@/components/ui/link';
import { Badge, Mark, type MarkView } from '@/components/ui/mark';
import { Ago } from '@/components/ui/time';
import { useZone } from '@/components/ui/zone';
import type { RunSummary } from '@/lib/client/api-types';
import { runHref } from '@/lib/client/url-state';
import type { Column, ColumnName } from './columns';

/** The end of an id, which is always shown. */
const TAIL = 6;

/** A row that the newest answer does not have. */
const changed: MarkView = { tone: 'neutral', glyph: 's-unknown', word: 'Changed' };

interface Row {
  readonly run: RunSummary;
  readonly gone: boolean;
}

function RunCell({ run }: Row) {
  const parent = run.lineage.parent;
  return (
    <span className="idcell">
      <Link
        href={runHref(run.id)}
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
          {parent.runId.slice(-4)}
        </span>
      )}
    </span>
  );
}

function StateCell({ run, gone }: Row) {
  const zone = useZone();
  const situation = gone ? 'no longer among these runs' : situationOf(run, zone);
  return (
    <span className="where">
      {(['diverged', 'replaying'] as const)
        .filter((badge) => run.badges.includes(badge))
        .map((badge) => (
          <Badge key={badge} view={badgeView[badge]} />
        ))}
      {run.visit && !gone && (
        <code className="clip" dir="auto" title={run.visit.state}>
          {run.visit.state}
        </code>
      )}
      {situation !== '' && (
        <span className="second clip grows" dir="auto" title={situation}>
          {situation}
        </span>
      )}
    </span>
  );
}

/** Full where the run has ended by itself; how many steps another one will have, nothing knows. */
function StepsCell({ run }: Row) {
  const { steps } = run.counts;
  const isWhole = run.status === 'completed';
  return (
    <span
      className="progress"
      title={
        isWhole
          ? plural(steps, 'step')
          : `${plural(steps, 'step')} so far: how many there will be is not known`
      }
    >
      <span className="track" data-open={isWhole || steps === 0 ? undefined : ''} aria-hidden="true">
        {isWhole && steps > 0 && <i className="full" />}
      </span>
      <span className="second">{whole(steps)}</span>
    </span>
  );
}

function DoubtCell({ run }: Row) {
  return (
    <>
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
    </>
  );
}

function DurationCell({ run }: Row) {
  const times = timesOf(run);
  if (times === undefined) return <span title="it has not started">–</span>;
  return times.ms === undefined ? (
    <span title="the trace does not say how it ended">–</span>
  ) : (
    <Took times={times} ms={times.ms} />
  );
}

const cells = {
  status: ({ run, gone }) => <Mark view={gone ? changed : runStatusView[run.status]} />,
  agent: ({ run }) => (
    <span className="clip block" dir="auto" title={run.agent}>
      {run.agent}
    </span>
  ),
  run: RunCell,
  state: StateCell,
  steps: StepsCell,
  doubt: DoubtCell,
  started: ({ run }) => <Ago at={run.createdAt} short />,
  updated: ({ run }) => <Ago at={run.updatedAt} short />,
  duration: DurationCell,
  tokens: ({ run }) => {
    const { text, title } = tokensCell(run.cost);
    return <span title={title}>{text}</span>;
  },
  cost: ({ run }) => {
    const { text, title } = costCell(run.cost);
    return <span title={title}>{text}</span>;
  },
  engine: ({ run }) => (
    <span className="clip block" dir="auto" title={run.source}>
      {sourceWord(run.source)}
    </span>
  ),
  tags: ({ run }) => (
    <span className="clip block" dir="auto" title={run.tags.join(', ')}>
      {run.tags.join(', ')}
    </span>
  ),
} as const satisfies Record<ColumnName, (row: Row) => ReactNode>;

const quiet: ReadonlySet<ColumnName> = new Set([
  'started',
  'updated',
  'duration',
  'tokens',
  'cost',
  'engine',
  'tags',
]);

/** A run's cells in these columns. */
export function RunRow({ run, gone, columns }: Row & { readonly columns: readonly Column[] }) {
  return columns.map(({ name, num }) => {
    const Cell: (row: Row) => ReactNode = cells[name];
    return (
      <td
        key={name}
        className={[num ? 'num' : '', quiet.has(name) ? 'second' : ''].join(' ').trim() || undefined}
        data-column={name}
      >
        <Cell run={run} gone={gone} />
      </td>
    );
  });
}
