import { plural } from '@/components/ui/format';
import type { PlanAnswer } from '@/lib/client/api-types';
import { unescapeName } from '@/lib/core/events/step-key';
import type { Plan } from '@/lib/core/planner/plan';
import { own } from '@/lib/core/projections/state-change';
import { isOver } from './plan-draft';

/* What the button says. */

const modeWord = { resume: 'Resume', rewind: 'Rewind', fork: 'Fork', replay: 'Replay' } as const;

type Kind = Plan['obstacles'][number]['kind'];
type Counted = 'needs-decision' | 'needs-keep' | 'blocked' | 'not-recorded';

const obstacleWords: Readonly<Record<Exclude<Kind, Counted>, string>> = {
  'nothing-to-do': 'nothing to do',
  drift: 'blocked by the changed machine',
  held: 'the run is held',
  mirror: 'not here, this is a copy',
  'no-worker': 'needs a worker first',
  'abandoned-point': 'the point was left behind',
  role: 'not with your role',
};

/** What has to be done first, or what else the order waits for; nothing runs while there is any of it. */
function firstWords(plan: PlanAnswer): string | undefined {
  if (isOver(plan)) return 'nothing to do';
  const [first] = plan.obstacles;
  if (first === undefined) return undefined;
  const ofKind = plan.obstacles.filter(({ kind }) => kind === first.kind).length;
  switch (first.kind) {
    case 'needs-decision':
      return `decide ${plural(ofKind, 'effect')} first`;
    case 'needs-keep':
      return `keep ${plural(ofKind, 'confirmed effect')} first`;
    case 'blocked':
    case 'not-recorded': {
      const step = plan.steps.find(({ key }) => key === first.stepKey);
      return step === undefined ? 'blocked' : `blocked at ${unescapeName(step.name)}`;
    }
    default:
      return own(obstacleWords, first.kind) ?? 'blocked';
  }
}

/** Whether a worker is connected that may claim the order; undefined where that is not known. */
export const mayBeClaimed = (
  { machineDigest }: Pick<PlanAnswer, 'machineDigest'>,
  agent: string,
  workers:
    | readonly {
        readonly live: boolean;
        readonly agents: readonly { readonly name: string; readonly machineDigest: string }[];
      }[]
    | undefined,
): boolean | undefined =>
  workers?.some(
    ({ live, agents }) =>
      live &&
      agents.some(
        (each) => each.name === agent && (machineDigest === null || each.machineDigest === machineDigest),
      ),
  );

/** What the button says: what will really run, and whether that waits for a worker. */
export function orderWords(plan: PlanAnswer, claimed: boolean | undefined): string {
  const first = firstWords(plan);
  if (first !== undefined) return `${modeWord[plan.mode]}: ${first}`;
  const really = plan.totals.execute + plan.totals['retry-same-key'];
  const live = plan.envelope.states[0];
  const later = claimed === false ? ' once a worker claims it' : '';
  const run = `${plural(really, 'step')} will really run${later}`;
  switch (plan.mode) {
    case 'resume':
      return really === 0
        ? `Resume: goes live${live === undefined ? '' : ` in ${live}`}${later}`
        : `Resume: ${run}`;
    case 'rewind':
      return `Rewind: ${plural(plan.leftBehind.steps, 'step')} left behind, ${run}`;
    case 'fork':
      return really === 0 ? `Fork: a new run goes on from there${later}` : `Fork: ${run}`;
    case 'replay':
      return `Replay: ${plural(plan.totals.recompute, 'step')} recomputed, nothing outside is touched`;
  }
}

/** What becomes of the order while nobody is there to claim it. */
export const queuedWords = (agent: string): string =>
  `No worker with the planned code of ${agent} is connected: the order is queued, and nothing runs until one claims it.`;
