import type { EpochMs, Seq } from '../events/ids';
import type { PayloadRef } from '../events/payload';
import type { RunEvent } from '../events/run-event';

export interface Message {
  /** 1, 2, 3 … on the path. */
  readonly n: number;
  readonly seq: Seq;
  readonly at: EpochMs;
  readonly role: string;
  readonly message: PayloadRef;
  readonly inherited: boolean;
}

/**
 * The conversation, oldest first. `events` are those of the effective path, ascending; other kinds are passed over.
 * `firstN`: number of the first message, where a page of the path is given.
 */
export function conversationOf(events: Iterable<RunEvent>, firstN = 1): readonly Message[] {
  const messages: Message[] = [];
  for (const event of events) {
    if (event.kind !== 'message.appended') continue;
    const { seq, at, role, message } = event;
    messages.push({
      n: firstN + messages.length,
      seq,
      at,
      role,
      message,
      inherited: event.inherited !== undefined,
    });
  }
  return messages;
}
