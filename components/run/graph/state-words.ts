import { duration, plural } from '@/components/ui/format';
import type { MarkView } from '@/components/ui/mark';
import type { GraphAt } from '@/lib/client/api-types';
import { runStatusView } from '../views';
import type { StateNodeView, Unvisited } from './to-graph';

/** How a run stands in a state other than by going on or having ended well. */
const standing: Partial<Record<NonNullable<StateNodeView['status']>, MarkView>> = {
  failed: runStatusView.failed,
  interrupted: runStatusView.interrupted,
  cancelled: runStatusView.cancelled,
  waiting: runStatusView.waiting,
  paused: runStatusView.paused,
};

const unvisitedWords = {
  later: { short: 'not yet', whole: 'not visited up to the cursor' },
  never: { short: 'never visited', whole: 'never visited' },
  'not-in-force': { short: 'not visited', whole: 'not visited since the rewind' },
} as const satisfies Record<Unvisited, { readonly short: string; readonly whole: string }>;

interface StateWords {
  readonly stands: MarkView | undefined;
  /** Below its name. */
  readonly meta: string;
  /** For those who do not see it, whole. */
  readonly label: string;
  /** Its name, which may have been cut, and its visits one by one. */
  readonly title: string;
}

export function stateWords(data: StateNodeView): StateWords {
  const { name, unvisited, status } = data;
  const stands = status && standing[status];
  const visited = unvisited === undefined ? plural(data.visits, 'visit') : unvisitedWords[unvisited].whole;
  const rests = status === 'waiting' || status === 'paused' || status === 'cancelled';
  return {
    stands,
    meta:
      unvisited === undefined
        ? ((rests ? stands?.word.toLowerCase() : undefined) ?? duration(data.totalMs))
        : data.initial
          ? 'starts here'
          : unvisitedWords[unvisited].short,
    label: [
      `State ${name}`,
      visited,
      data.atCursor ? 'at the cursor' : undefined,
      stands && `${stands.word.toLowerCase()} here`,
    ]
      .filter(Boolean)
      .join(', '),
    title: [name, data.said ?? visited].join('\n'),
  };
}

/** What is known of the machine: a run that has not begun may name none. */
export const machineWords = ({ provenance, states }: Pick<GraphAt, 'provenance' | 'states'>): string =>
  provenance === 'mined' && states.length === 0 ? 'not known yet' : provenance;
