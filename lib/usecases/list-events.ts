import type { RunId } from '@/lib/core/events/ids';
import type { RunEvent } from '@/lib/core/events/run-event';
import { ok, type Result } from '@/lib/core/shared/result';
import type { UsecaseDeps } from './deps';
import { ofOneEdition } from './one-edition';
import type { EventRange, Page } from './ports';
import type { NotFound } from './problems';

export interface EventPage extends Page<RunEvent> {
  readonly edition: number;
}

/** A stretch of the journal. `total` counts all of it, whatever the range asks for; `nextCursor` is the last seq given, for `after` (or `before`, where newest come first). */
export async function listEvents(
  deps: Pick<UsecaseDeps, 'store'>,
  ask: { readonly runId: RunId; readonly range: EventRange },
): Promise<Result<EventPage, NotFound>> {
  return ofOneEdition(deps, ask.runId, async (run) => {
    const items = await deps.store.events(ask.runId, ask.range);
    const last = items.at(-1);
    const more =
      last !== undefined &&
      items.length === ask.range.limit &&
      (ask.range.descending === true
        ? last.seq > (ask.range.after ?? 0) + 1
        : last.seq < Math.min(run.headSeq, (ask.range.before ?? run.headSeq + 1) - 1));
    return ok({
      items,
      edition: run.edition,
      total: run.headSeq,
      nextCursor: more ? String(last.seq) : undefined,
    });
  });
}
