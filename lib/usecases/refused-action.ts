import { type ActionName, actionsOf } from '@/lib/core/planner/actions';
import { doubtsOf } from '@/lib/core/projections/ledger';
import type { RunRecord } from '@/lib/core/projections/records';
import { statusNow } from '@/lib/core/projections/run-status';
import type { CommandProblem } from './command';
import type { UsecaseDeps } from './deps';
import type { WriteContext } from './ports';

/** Why an order is refused for what the run is: the same sentence as the button that is greyed out. */
export function refusedAction(
  deps: Pick<UsecaseDeps, 'engine' | 'judgedFrom'>,
  { effects, now }: Pick<WriteContext, 'effects' | 'now'>,
  run: RunRecord,
  name: ActionName,
): CommandProblem | undefined {
  const action = actionsOf(run, statusNow(run, now, deps.judgedFrom), {
    now,
    judgedFrom: deps.judgedFrom,
    can: deps.engine.can,
    doubts: doubtsOf(run.runId, effects, now),
  })[name];
  return action.possible
    ? undefined
    : { kind: 'not-possible', detail: action.reason ?? `The run takes no ${name} now.` };
}
