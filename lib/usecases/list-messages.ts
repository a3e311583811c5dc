import type { RunId, Seq } from '@/lib/core/events/ids';
import type { RunEvent } from '@/lib/core/events/run-event';
import { conversationOf, type Message } from '@/lib/core/projections/conversation';
import { inForce, type Segment, segmentsAt } from '@/lib/core/projections/effective-path';
import { ok, type Result } from '@/lib/core/shared/result';
import type { UsecaseDeps } from './deps';
import { ofOneEdition } from './one-edition';
import type { Page } from './ports';
import type { NotFound } from './problems';
import { clampToHead, stateAt } from './state-at';

export type MessageView = Message;

/**
 * The conversation at `at`: its newest `limit` messages before seq `before`, oldest first. `nextCursor` is the
 * `before` of the page that comes above.
 */
export async function listMessages(
  deps: Pick<UsecaseDeps, 'store'>,
  ask: {
    readonly runId: RunId;
    readonly at: Seq | undefined;
    readonly before: Seq | undefined;
    readonly limit: number;
  },
): Promise<Result<Page<MessageView>, NotFound>> {
  return ofOneEdition(deps, ask.runId, async (run) => {
    const at = clampToHead(run, ask.at);
    const here = await stateAt(deps, run, at);
    const segments = segmentsAt(here.state.rewinds, at);
    const upTo = onPath(segments, ask.before === undefined ? at : (Math.min(at, ask.before - 1) as Seq));
    const before = upTo === at ? here : await stateAt(deps, run, upTo);
    const found = await newest(deps, ask.runId, segments, upTo, ask.limit);
    const firstN = before.state.messages.count - found.length + 1;
    const items = conversationOf(found, firstN);
    const oldest = items[0];
    return ok({
      items,
      total: here.state.messages.count,
      nextCursor: oldest !== undefined && firstN > 1 ? String(oldest.seq) : undefined,
    });
  });
}

/** The last seq on the path at or before `seq`; 0 where there is none. */
const onPath = (segments: readonly Segment[], at: Seq): Seq =>
  segments.reduce<Seq>(
    (last, segment) => (segment.from <= at ? (Math.min(segment.to, at) as Seq) : last),
    0 as Seq,
  );

const CHUNK = 500;

/** Up to `limit` message events of the path, ascending, read from `upTo` backwards. */
async function newest(
  deps: Pick<UsecaseDeps, 'store'>,
  id: RunId,
  segments: readonly Segment[],
  upTo: Seq,
  limit: number,
): Promise<readonly RunEvent[]> {
  const found: RunEvent[] = [];
  let before = (upTo + 1) as Seq;
  while (found.length < limit && before > 1) {
    const chunk = await deps.store.events(id, {
      before,
      limit: CHUNK,
      kinds: ['message.appended'],
      descending: true,
    });
    found.push(...chunk.filter((event) => inForce(event.seq, segments)));
    const last = chunk.at(-1);
    if (last === undefined || chunk.length < CHUNK) break;
    before = last.seq;
  }
  return found.slice(0, limit).reverse();
}
