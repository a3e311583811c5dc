import fc from 'fast-check';
import { expect, it } from 'vitest';
import { wordsOf } from './message-words';

it.each([
  ['a text', 'hello', 'hello'],
  ['a message of one text', { role: 'user', content: 'hello' }, 'hello'],
  [
    'parts of the AI SDK',
    {
      content: [
        { type: 'text', text: 'one moment' },
        { type: 'tool-call', toolCallId: 'c1', toolName: 'refund', input: { order: 'A-1' } },
      ],
    },
    'one moment\ncalls refund {"order":"A-1"}',
  ],
  [
    'an answer of the AI SDK',
    { content: [{ type: 'tool-result', toolName: 'refund', output: { type: 'text', value: 'done' } }] },
    'refund answered {"type":"text","value":"done"}',
  ],
  [
    'blocks of Anthropic',
    { content: [{ type: 'tool_use', id: 't', name: 'look', input: { q: 1 } }] },
    'calls look {"q":1}',
  ],
  [
    'an answer to Anthropic',
    { content: [{ type: 'tool_result', content: 'no such order' }] },
    'answer: no such order',
  ],
  [
    'calls of OpenAI, whose arguments are a text',
    { content: null, tool_calls: [{ function: { name: 'look', arguments: '{"q":1}' } }] },
    'calls look {"q":1}',
  ],
  [
    'parts of the GenAI conventions',
    {
      role: 'assistant',
      parts: [
        { type: 'text', content: 'let me see' },
        { type: 'tool_call', name: 'look', arguments: { q: 1 } },
      ],
    },
    'let me see\ncalls look {"q":1}',
  ],
])('%s is told in words', (_, message, words) => {
  expect(wordsOf(JSON.stringify(message))).toBe(words);
});

it('nothing of a message is left out: one part without words, and the whole is shown as it is', () => {
  const message = {
    content: [
      { type: 'text', text: 'see' },
      { type: 'image', url: 'x' },
    ],
  };
  expect(JSON.parse(wordsOf(JSON.stringify(message)))).toEqual(message);
  const calls = { content: 'see', tool_calls: [{ custom: true }] };
  expect(JSON.parse(wordsOf(JSON.stringify(calls)))).toEqual(calls);
});

it('says something of whatever there is', () => {
  fc.assert(
    fc.property(fc.anything(), (value) => {
      const text = JSON.stringify(value);
      if (text !== undefined) expect(typeof wordsOf(text)).toBe('string');
    }),
  );
  expect(wordsOf('not json')).toBe('not json');
});
