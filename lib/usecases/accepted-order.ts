import type { CommandId, Seq } from '@/lib/core/events/ids';
import type { EventOf } from '@/lib/core/events/run-event';
import type { RunRecord } from '@/lib/core/projections/records';
import { type AcceptedPlan, commandKey } from './command';
import type { UsecaseDeps } from './deps';

type Deps = Pick<UsecaseDeps, 'store'>;

/** What was kept with the order's answer: the plan that it carries out. */
export async function acceptedPlan(deps: Deps, id: CommandId): Promise<AcceptedPlan | undefined> {
  const answer = await deps.store.answer(commandKey(id));
  return answer === undefined
    ? undefined
    : (JSON.parse(answer.answer) as { readonly accepted?: AcceptedPlan }).accepted;
}

const COMMANDS_AT_ONCE = 1_000;

/** The event of an accepted order, the newest ones first: however many came after it, it is found. */
export async function acceptedEvent(
  deps: Deps,
  run: RunRecord,
  id: CommandId,
): Promise<EventOf<'command.accepted'> | undefined> {
  let before = (run.headSeq + 1) as Seq;
  for (;;) {
    const accepted = await deps.store.events(run.runId, {
      kinds: ['command.accepted'],
      before,
      limit: COMMANDS_AT_ONCE,
      descending: true,
    });
    for (const event of accepted)
      if (event.kind === 'command.accepted' && event.commandId === id) return event;
    const last = accepted.at(-1);
    if (last === undefined || accepted.length < COMMANDS_AT_ONCE) return undefined;
    before = last.seq;
  }
}
