import { type FileJson, isList, isObject, textOf } from '@/lib/ingest/json';
import { jsonIn } from './span';
import { type Facts, listIn, objectIn } from './values';

/*
 * Messages of every convention in one form, so that a reply and the same message in the next request are the same
 * text: `{ role, content }`, content a text or a list of parts (`text`, `reasoning`, `tool-call`, `tool-result`, and
 * whatever else there is, as it came). What a convention says beside that stays beside it.
 */

export interface ChatMessage {
  readonly role: string;
  readonly content: FileJson;
  readonly [more: string]: FileJson;
}

type Members = { readonly [key: string]: FileJson };

/** What the model was asked with. */
export function requestMessages(facts: Facts): readonly ChatMessage[] {
  const { maxDepth } = facts;
  const system = facts.content('gen_ai.system_instructions');
  const listed =
    facts.content('gen_ai.input.messages', 'ai.prompt.messages', 'llm.prompts') ??
    whole(facts, 'gen_ai.prompt');
  const indexed = [...facts.indexed('gen_ai.prompt'), ...facts.indexed('llm.input_messages').map(unnested)];
  const asked = listed === undefined ? (indexed.length > 0 ? indexed : eventMessages(facts)) : listed;
  const messages = messagesIn(asked, 'user', maxDepth);
  if (messages.length === 0) messages.push(...adkMessages(facts));
  return system === undefined
    ? messages
    : [messageOf({ role: 'system', content: system }, 'system', maxDepth), ...messages];
}

/** What the model answered; several choices are told by the rest of the reply. */
export function replyMessages(facts: Facts): readonly ChatMessage[] {
  const { maxDepth } = facts;
  const sdk = aiSdkReply(facts);
  if (sdk !== undefined) return [sdk];
  const listed = facts.content('gen_ai.output.messages') ?? whole(facts, 'gen_ai.completion');
  if (listed !== undefined) return messagesIn(listed, 'assistant', maxDepth);
  const indexed = [
    ...facts.indexed('gen_ai.completion'),
    ...facts.indexed('llm.output_messages').map(unnested),
  ];
  if (indexed.length > 0) return messagesIn(indexed, 'assistant', maxDepth);
  const choices = eventsNamed(facts, (name) => name === 'gen_ai.choice').map((event) => {
    const { message, ...rest } = event;
    return isObject(message) ? { ...rest, ...message } : event;
  });
  if (choices.length > 0) return messagesIn(choices, 'assistant', maxDepth);
  const adk = objectIn(facts.content('gcp.vertex.agent.llm_response'));
  return isObject(adk['content']) ? [messageOf(adk['content'], 'assistant', maxDepth)] : [];
}

/** A prompt or completion in one attribute: messages as JSON, or the words themselves, which may be JSON too. */
function whole(facts: Facts, key: string): FileJson | undefined {
  const words = facts.words(key);
  if (words === undefined) return facts.content(key);
  const value = jsonIn(words, facts.maxDepth);
  const first = isList(value) ? value[0] : value;
  const known = ['role', 'messages', 'choices', 'generations', 'content', 'parts'];
  return isObject(first) && known.some((name) => Object.hasOwn(first, name)) ? value : words;
}

/** OpenInference says `{ message: { … } }`, its parts and calls likewise. */
function unnested(value: FileJson): FileJson {
  const inner = objectIn(objectIn(value)['message']);
  const calls = listIn(inner['tool_calls']).map((call) => objectIn(call)['tool_call'] ?? call);
  const parts = listIn(inner['contents']).map((part) => objectIn(part)['message_content'] ?? part);
  const { tool_calls: _calls, contents: _parts, ...rest } = inner;
  return {
    ...rest,
    ...(parts.length > 0 ? { content: parts } : {}),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  };
}

function aiSdkReply(facts: Facts): ChatMessage | undefined {
  const text = facts.words('ai.response.text');
  const object = facts.words('ai.response.object');
  const reasoning = facts.words('ai.response.reasoning');
  const calls = listIn(facts.content('ai.response.toolCalls'));
  if (text === undefined && object === undefined && reasoning === undefined && calls.length === 0)
    return undefined;
  const parts: FileJson[] = [
    ...(reasoning === undefined ? [] : [{ type: 'reasoning', text: reasoning }]),
    ...(text === undefined ? [] : [{ type: 'text', text }]),
    ...(object === undefined ? [] : [{ type: 'text', text: object }]),
    ...calls.map((call) => ({ type: 'tool-call', ...objectIn(call) })),
  ];
  return messageOf({ role: 'assistant', content: parts }, 'assistant', facts.maxDepth);
}

/** A text that happened to be JSON is a text again. */
const wordsOf = (value: FileJson): string =>
  typeof value === 'string'
    ? value
    : JSON.stringify(value, (_key, inner: unknown) => (typeof inner === 'bigint' ? inner.toString() : inner));

function eventsNamed(facts: Facts, wanted: (name: string) => boolean): readonly Members[] {
  return facts.spans.flatMap((span) =>
    span.events
      .filter(({ name }) => wanted(name))
      .map(({ name, attributes }) => ({
        ...Object.fromEntries([...attributes].map(([key, value]) => [key, plainJson(value, facts.maxDepth)])),
        '': name,
      })),
  );
}

const plainJson = (value: unknown, maxDepth: number): FileJson =>
  typeof value === 'string' && /^\s*[[{]/.test(value) ? jsonIn(value, maxDepth) : (value as FileJson);

const ROLE_EVENT = /^gen_ai\.(system|user|assistant|tool)\.message$/;

/** A message an event, the role in its name (the generation between attributes and indexed ones). */
function eventMessages(facts: Facts): readonly FileJson[] {
  return eventsNamed(facts, (name) => ROLE_EVENT.test(name)).map(({ '': name, ...event }) => ({
    role: ROLE_EVENT.exec(textOf(name) ?? '')?.[1] ?? 'user',
    ...event,
  }));
}

function adkMessages(facts: Facts): readonly ChatMessage[] {
  const request = objectIn(facts.content('gcp.vertex.agent.llm_request'));
  const system = objectIn(request['config'])['system_instruction'];
  return [
    ...(system === undefined
      ? []
      : [messageOf({ role: 'system', content: system }, 'system', facts.maxDepth)]),
    ...messagesIn(request['contents'], 'user', facts.maxDepth),
  ];
}

/** `role`: of what does not say its own. A text alone is one message. */
function messagesIn(value: FileJson | undefined, role: string, maxDepth: number): ChatMessage[] {
  if (value === undefined || value === null || value === '') return [];
  if (isList(value)) return value.map((item) => messageOf(item, role, maxDepth));
  if (isObject(value)) {
    for (const key of ['messages', 'choices', 'generations']) {
      const inner = value[key];
      if (isList(inner)) return messagesIn(inner, role, maxDepth);
    }
  }
  return [messageOf(value, role, maxDepth)];
}

const ROLES: Readonly<Record<string, string>> = { human: 'user', ai: 'assistant', model: 'assistant' };

export function messageOf(value: FileJson, otherwise: string, maxDepth: number): ChatMessage {
  if (!isObject(value))
    return { role: otherwise, content: typeof value === 'string' ? value : wordsOf(value) };
  const inner = isObject(value['message']) && value['role'] === undefined ? value['message'] : value;
  const {
    role,
    type: _type,
    content,
    parts,
    tool_calls: calls,
    tool_call_id: answers,
    '': _name,
    ...rest
  } = inner;
  const named = textOf(role) ?? otherwise;
  const said: FileJson[] = [...partsOf(parts, maxDepth), ...partsOf(content, maxDepth)];
  for (const call of listIn(calls)) said.push(partOf(withFunction(call), maxDepth));
  // An answer to a call says which by a member of its own.
  const id = textOf(answers) ?? (named === 'tool' ? textOf(inner['id']) : undefined);
  const isPlainAnswer = id !== undefined && said.every((part) => objectIn(part)['type'] === 'text');
  const all: readonly FileJson[] = isPlainAnswer
    ? [{ type: 'tool-result', toolCallId: id, output: textIn(said) }]
    : said;
  const [only] = all;
  const text =
    all.length === 1 && isObject(only) && only['type'] === 'text' && Object.keys(only).length === 2
      ? only['text']
      : undefined;
  return {
    role: Object.hasOwn(ROLES, named) ? (ROLES[named] ?? named) : named,
    content: typeof text === 'string' ? text : all.length === 0 ? '' : all,
    ...moreOf(rest, isPlainAnswer),
  };
}

/** Why a model stopped is said by the rest of the reply; it is no part of the message that the next request holds. */
function moreOf(rest: Members, idIsShown: boolean): Members {
  const { finish_reason: _finish, index: _index, 'gen_ai.system': _system, id, ...more } = rest;
  return idIsShown || id === undefined ? more : { id, ...more };
}

const textIn = (parts: readonly FileJson[]): string =>
  parts.map((part) => textOf(objectIn(part)['text']) ?? '').join('');

const withFunction = (call: FileJson): FileJson => {
  const { function: inner, ...rest } = objectIn(call);
  return { ...rest, ...objectIn(inner), type: 'tool_call' };
};

function partsOf(value: FileJson | undefined, maxDepth: number): readonly FileJson[] {
  if (value === undefined || value === null || value === '') return [];
  if (typeof value === 'string') return [{ type: 'text', text: value }];
  if (isList(value)) return value.map((part) => partOf(part, maxDepth));
  return isObject(value) && isList(value['parts'])
    ? partsOf(value['parts'], maxDepth)
    : [partOf(value, maxDepth)];
}

const textual = (value: FileJson | undefined, maxDepth: number): FileJson | undefined =>
  typeof value === 'string' ? jsonIn(value, maxDepth) : value;

/** Members that are there. */
const present = (members: Readonly<Record<string, FileJson | undefined>>): Members =>
  Object.fromEntries(
    Object.entries(members).filter((entry): entry is [string, FileJson] => entry[1] !== undefined),
  );

function partOf(value: FileJson, maxDepth: number): FileJson {
  if (typeof value === 'string') return { type: 'text', text: value };
  if (!isObject(value)) return value;
  const { type, ...rest } = value;
  switch (textOf(type) ?? shapeOf(rest)) {
    case 'text':
    case 'input_text':
    case 'output_text': {
      const { content, text, ...more } = rest;
      const words = content ?? text;
      return typeof words === 'string' ? { type: 'text', text: words, ...more } : value;
    }
    case 'reasoning': {
      const { content, text, ...more } = rest;
      const words = content ?? text;
      return typeof words === 'string' ? { type: 'reasoning', text: words, ...more } : value;
    }
    case 'tool_call':
    case 'tool-call':
    case 'tool_use':
    case 'function_call': {
      const source = isObject(rest['function_call']) ? rest['function_call'] : rest;
      const {
        id,
        toolCallId,
        name,
        toolName,
        arguments: args,
        input,
        args: short,
        function_call: _,
        ...more
      } = source;
      return present({
        type: 'tool-call',
        toolCallId: toolCallId ?? id,
        toolName: toolName ?? name,
        input: textual(input ?? args ?? short, maxDepth),
        ...more,
      });
    }
    case 'tool_call_response':
    case 'tool-result':
    case 'tool_result':
    case 'function_response': {
      const source = isObject(rest['function_response']) ? rest['function_response'] : rest;
      const {
        id,
        toolCallId,
        tool_use_id: used,
        name,
        toolName,
        response,
        result,
        output,
        content,
        function_response: _,
        ...more
      } = source;
      return present({
        type: 'tool-result',
        toolCallId: toolCallId ?? id ?? used,
        toolName: toolName ?? name,
        output: valueIn(textual(output ?? response ?? result ?? content, maxDepth)),
        ...more,
      });
    }
    default:
      return value;
  }
}

/** Gemini's parts have no type: one of these members says what they are. */
function shapeOf(part: Members): string {
  if (Object.hasOwn(part, 'function_call')) return 'function_call';
  if (Object.hasOwn(part, 'function_response')) return 'function_response';
  return Object.hasOwn(part, 'text') ? 'text' : '';
}

/** The AI SDK wraps results as `{ type: 'json' | 'text', value }`. */
function valueIn(output: FileJson | undefined): FileJson | undefined {
  return isObject(output) &&
    (output['type'] === 'json' || output['type'] === 'text') &&
    Object.hasOwn(output, 'value')
    ? output['value']
    : output;
}

interface ToolParts {
  readonly called: readonly string[];
  readonly answered: readonly string[];
}

/** Ids of the calls that messages ask for and answer. */
export function toolIdsIn(messages: readonly ChatMessage[]): ToolParts {
  const called: string[] = [];
  const answered: string[] = [];
  for (const { content } of messages)
    for (const part of listIn(content)) {
      const { type, toolCallId } = objectIn(part);
      if (typeof toolCallId !== 'string') continue;
      if (type === 'tool-call') called.push(toolCallId);
      else if (type === 'tool-result') answered.push(toolCallId);
    }
  return { called, answered };
}

/**
 * What makes two messages the same to a reader: who says it, the words, the calls with their arguments and the answers.
 * Reasoning and what a convention says beside come and go between a reply and the request that repeats it.
 */
export function likeness({ role, content }: ChatMessage): string {
  if (!isList(content)) return JSON.stringify([role, [content]]);
  return JSON.stringify(
    [
      role,
      content.flatMap((part): readonly unknown[] => {
        const { type, text, toolCallId, toolName, input, output } = objectIn(part);
        if (type === 'reasoning') return [];
        if (type === 'text') return [text];
        if (type === 'tool-call') return [[toolCallId, toolName, input]];
        return type === 'tool-result' ? [[toolCallId, output]] : [part];
      }),
    ],
    (_key, value: unknown) => (typeof value === 'bigint' ? value.toString() : value),
  );
}
