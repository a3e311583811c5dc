import { parseJson } from './payload-view';

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
const call = (name: unknown, args: unknown): string | undefined =>
  typeof name === 'string' ? `calls ${name} ${textOf(args ?? {})}` : undefined;
const answer = (name: unknown, value: unknown): string =>
  `${typeof name === 'string' ? `${name} answered` : 'answer:'} ${textOf(value ?? null)}`;

/** One part of a message in the shapes of the AI SDK, Anthropic and the GenAI conventions; undefined for another. */
function partWords(part: unknown): string | undefined {
  if (typeof part === 'string') return part;
  if (!isFields(part)) return undefined;
  switch (part['type']) {
    case 'text': {
      const text = part['text'] ?? part['content'];
      return typeof text === 'string' ? text : undefined;
    }
    case 'tool-call':
      return call(part['toolName'], part['input'] ?? part['args']);
    case 'tool_use':
      return call(part['name'], part['input']);
    case 'tool_call':
      return call(part['name'], part['arguments']);
    case 'tool-result':
      return answer(part['toolName'], part['output'] ?? part['result']);
    case 'tool_result':
      return answer(undefined, part['content']);
    case 'tool_call_response':
      return answer(undefined, part['response'] ?? part['result']);
    default:
      return undefined;
  }
}

/** A call in a list of OpenAI's beside the message's text. */
const openAiCall = (item: unknown): string | undefined => {
  const called = isFields(item) ? item['function'] : undefined;
  return isFields(called) ? call(called['name'], called['arguments']) : undefined;
};

/** Every part in words; undefined where there is one that has none, for then the whole is shown as it is. */
function all(parts: readonly unknown[], words: (part: unknown) => string | undefined): string | undefined {
  const said = parts.map(words);
  return said.length > 0 && said.every((each) => each !== undefined) ? said.join('\n') : undefined;
}

/** What a message says, in words where it has them, else as JSON. */
export function wordsOf(text: string): string {
  const value = parseJson(text)?.value;
  if (typeof value === 'string') return value;
  const whole = JSON.stringify(value, null, 2);
  if (!isFields(value)) return whole ?? text;
  const { content, parts, tool_calls: calls } = value;
  if (Array.isArray(calls) && calls.length > 0) {
    const called = all(calls, openAiCall);
    if (called === undefined) return whole;
    return typeof content === 'string' && content !== '' ? `${content}\n${called}` : called;
  }
  if (typeof content === 'string' && content !== '') return content;
  const said = Array.isArray(content) ? content : parts;
  return (Array.isArray(said) ? all(said, partWords) : undefined) ?? whole;
}
