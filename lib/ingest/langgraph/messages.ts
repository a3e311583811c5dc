import type { Usage } from '@/lib/core/events/run-event';
import { type FileJson, isList, isObject, textOf } from '@/lib/ingest/json';

/** Channel that holds a graph's conversation by convention (`MessagesAnnotation`, `add_messages`). */
export const MESSAGES = 'messages';

const ROLES: Readonly<Record<string, string>> = {
  human: 'user',
  ai: 'assistant',
  AIMessageChunk: 'assistant',
  HumanMessageChunk: 'user',
};
const CONSTRUCTED: Readonly<Record<string, string>> = {
  HumanMessage: 'user',
  AIMessage: 'assistant',
  AIMessageChunk: 'assistant',
  SystemMessage: 'system',
  ToolMessage: 'tool',
  FunctionMessage: 'function',
};

/** Role of a LangChain message (`type`), a serialised one (`lc: 1`) or a plain `{ role, content }`; else `undefined`. */
function roleOf(message: FileJson): string | undefined {
  if (!isObject(message)) return undefined;
  if (message['lc'] === 1 && isList(message['id'])) return CONSTRUCTED[textOf(message['id'].at(-1)) ?? ''];
  if (!('content' in message)) return undefined;
  const type = textOf(message['type']) ?? textOf(message['role']);
  if (
    type === undefined ||
    type === '' ||
    type.length > 64 ||
    !type.isWellFormed() ||
    type.includes('\u0000')
  )
    return undefined;
  return Object.hasOwn(ROLES, type) ? ROLES[type] : type;
}

export interface ConversationMessage {
  readonly role: string;
  readonly message: FileJson;
}

/** The channel as a conversation; `undefined` where an item does not look like a message. */
export function conversationIn(channel: FileJson): readonly ConversationMessage[] | undefined {
  if (!isList(channel)) return undefined;
  const found: ConversationMessage[] = [];
  for (const message of channel) {
    const role = roleOf(message);
    if (role === undefined) return undefined;
    found.push({ role, message });
  }
  return found;
}

/** Tokens that the messages written by a node say they cost; `undefined` where none says so. */
export function usageIn(result: FileJson | undefined): Usage | undefined {
  const written = isObject(result) ? result[MESSAGES] : undefined;
  let inputTokens = 0;
  let outputTokens = 0;
  let found = false;
  for (const message of isList(written) ? written : [written]) {
    const usage = isObject(message) ? message['usage_metadata'] : undefined;
    if (!isObject(usage)) continue;
    const input = usage['input_tokens'];
    const output = usage['output_tokens'];
    if (!isCount(input) || !isCount(output)) continue;
    inputTokens += input;
    outputTokens += output;
    found = true;
  }
  return found && isCount(inputTokens) && isCount(outputTokens) ? { inputTokens, outputTokens } : undefined;
}

const isCount = (value: FileJson | undefined): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
