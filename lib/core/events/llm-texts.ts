/*
 * Texts of an llm step as the journal keeps them: a request without the messages that the conversation has already, a
 * reply without its message, which the conversation will have. Everything is cut and joined as text, so that what is
 * put together again is what was cut, byte for byte, and a long conversation costs a comparison and no parsing.
 * Texts are those of `encodeValue`: JSON without white space.
 */

/** A request's text and how many leading messages of the conversation were taken from it. */
export interface ShortRequest {
  readonly conversation: number;
  readonly text: string;
}

/**
 * Takes the messages that `request` shares with the beginning of the conversation out of its `messages`. Texts are
 * compared whole: equal texts have equal digests. A request without an array `messages` is given back. O(request).
 */
export function shortRequest(request: string, conversation: readonly string[]): ShortRequest {
  const begin = memberAt(request, 'messages');
  if (begin === undefined || request[begin] !== '[') return { conversation: 0, text: request };
  let count = 0;
  let kept = begin + 1;
  for (const message of conversation) {
    if (!request.startsWith(message, kept)) break;
    const end = kept + message.length;
    if (request[end] !== ',' && request[end] !== ']') break;
    count++;
    kept = request[end] === ',' ? end + 1 : end;
    if (request[end] === ']') break;
  }
  return { conversation: count, text: request.slice(0, begin + 1) + request.slice(kept) };
}

/** Inverts `shortRequest`: `messages` are the first messages of the conversation. Throws where none were taken out. */
export function fullRequest(short: string, messages: readonly string[]): string {
  if (messages.length === 0) return short;
  const begin = memberAt(short, 'messages');
  if (begin === undefined || short[begin] !== '[')
    throw new Error('Broken invariant: messages are taken out of a request that has an array of them');
  const rest = short.slice(begin + 1);
  return short.slice(0, begin + 1) + messages.join(',') + (rest.startsWith(']') ? '' : ',') + rest;
}

/** A reply as two texts: its message and all else. */
export interface ReplyParts {
  readonly message: string;
  readonly rest: string;
}

const HEAD = '{"message":';

/** `undefined` for what does not begin with an object as its message, as every reply that the SDK records does. */
export function splitReply(reply: string): ReplyParts | undefined {
  if (!reply.startsWith(`${HEAD}{`)) return undefined;
  const end = valueEnd(reply, HEAD.length);
  const rest = reply[end] === ',' ? `{${reply.slice(end + 1)}` : '{}';
  return { message: reply.slice(HEAD.length, end), rest };
}

/** Inverts `splitReply`. */
export const joinReply = ({ message, rest }: ReplyParts): string =>
  rest === '{}' ? `${HEAD}${message}}` : `${HEAD}${message},${rest.slice(1)}`;

/** Where the value of an object's own member begins. */
function memberAt(text: string, name: string): number | undefined {
  if (text[0] !== '{') return undefined;
  const key = JSON.stringify(name);
  for (let at = 1; text[at] === '"'; ) {
    const value = stringEnd(text, at) + 1;
    if (text.startsWith(key, at) && value === at + key.length + 1) return value;
    at = valueEnd(text, value) + 1;
  }
  return undefined;
}

/** Index after the value that begins at `from`: of a comma, a closing bracket, or the text's end. */
function valueEnd(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    switch (text[at]) {
      case '"':
        at = stringEnd(text, at) - 1;
        break;
      case '{':
      case '[':
        depth++;
        break;
      case '}':
      case ']':
        if (depth === 0) return at;
        depth--;
        break;
      case ',':
        if (depth === 0) return at;
        break;
      default:
    }
  }
  return text.length;
}

/** Index after the closing quote of the string that begins at `from`. */
function stringEnd(text: string, from: number): number {
  for (let at = text.indexOf('"', from + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let slashes = 0;
    while (text[at - 1 - slashes] === '\\') slashes++;
    if (slashes % 2 === 0) return at + 1;
  }
  return text.length;
}
