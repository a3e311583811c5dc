import { type RunId, type Seq, seq } from '@/lib/core/events/ids';
import type { UsecaseDeps } from './deps';
import { eventPages } from './state-at';

/** Who decided what became of the intent; undefined where no person did. */
export async function deciderOf(
  deps: Pick<UsecaseDeps, 'store'>,
  owner: RunId,
  stepKey: string,
  intentSeq: Seq | undefined,
): Promise<string | undefined> {
  const run = await deps.store.run(owner);
  let actor: string | undefined;
  for await (const page of eventPages(deps.store, owner, seq(0), run?.headSeq ?? seq(0), [
    'effect.decided',
  ])) {
    for (const event of page) {
      if (
        event.kind === 'effect.decided' &&
        event.stepKey === stepKey &&
        event.decision.intentSeq === intentSeq &&
        event.decision.outcome !== 'hold'
      )
        actor = event.actor;
    }
  }
  return actor;
}
