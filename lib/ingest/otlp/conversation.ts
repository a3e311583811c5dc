import { shortRequest } from '@/lib/core/events/llm-texts';
import { encodeValue } from '@/lib/core/events/value-codec';
import { assertDefined } from '@/lib/core/shared/assert';
import { type ChatMessage, likeness } from './messages';

/*
 * The run's conversation: each message once, however many requests repeat it. Agents talk side by side, and history is
 * cut or summed up on the way, so a request is laid beside the conversation that it shares most of its beginning with.
 */

/** What was said in one line of talk, by likeness. */
type Track = readonly number[];

export interface Conversation {
  /** Texts of the run's messages so far, in their order. */
  readonly texts: string[];
  readonly tracks: Track[];
  readonly likenesses: Map<string, number>;
}

export const emptyConversation = (): Conversation => ({ texts: [], tracks: [], likenesses: new Map() });

/** Lines of talk that are looked through for the one that a request goes on. */
const MOST_TRACKS = 256;

export interface Fresh {
  readonly role: string;
  readonly text: string;
}

const textOf = (value: unknown): string => {
  const encoded = encodeValue(value);
  return assertDefined(encoded.ok ? encoded.value : undefined, 'what was JSON can be recorded');
};

export { textOf as encodedText };

function idOf({ likenesses }: Conversation, message: ChatMessage): number {
  const like = likeness(message);
  const known = likenesses.get(like);
  if (known !== undefined) return known;
  likenesses.set(like, likenesses.size);
  return likenesses.size - 1;
}

const shared = (left: Track, right: Track): number => {
  let n = 0;
  while (n < left.length && n < right.length && left[n] === right[n]) n += 1;
  return n;
};

/** Messages of a request that nobody said before in its line of talk. They are part of the conversation from here on. */
export function asked(
  conversation: Conversation,
  messages: readonly ChatMessage[],
): { readonly fresh: readonly Fresh[]; readonly track: number } {
  const ids = messages.map((message) => idOf(conversation, message));
  const { tracks } = conversation;
  let best = -1;
  let most = 0;
  for (let i = tracks.length - 1; i >= Math.max(0, tracks.length - MOST_TRACKS); i -= 1) {
    const common = shared(tracks[i] ?? [], ids);
    if (common > most) {
      best = i;
      most = common;
    }
  }
  const before = tracks[best] ?? [];
  const known = new Set(before.slice(most));
  const fresh = messages.flatMap((message, i) => {
    if (i < most || known.has(ids[i] ?? -1)) return [];
    return [say(conversation, message)];
  });
  const grows = best >= 0 && most === before.length;
  if (grows) tracks[best] = ids;
  else tracks.push(ids);
  return { fresh, track: grows ? best : tracks.length - 1 };
}

/** The model's answer; `track` as `asked` gave it. */
export function replied(conversation: Conversation, track: number, message: ChatMessage): Fresh {
  conversation.tracks[track] = [...(conversation.tracks[track] ?? []), idOf(conversation, message)];
  return say(conversation, message);
}

function say(conversation: Conversation, message: ChatMessage): Fresh {
  const text = textOf(message);
  conversation.texts.push(text);
  return { role: message.role, text };
}

/** A request without the messages that the conversation begins with. */
export const shortened = (conversation: Conversation, request: string) =>
  shortRequest(request, conversation.texts);
