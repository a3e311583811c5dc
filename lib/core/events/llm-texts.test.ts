import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fullRequest, joinReply, shortRequest, splitReply } from './llm-texts';
import { encodeValue } from './value-codec';

const text = (value: unknown): string => {
  const encoded = encodeValue(value);
  if (!encoded.ok) throw new Error(encoded.problem.why);
  return encoded.value;
};
const message = fc.record({ role: fc.constantFrom('user', 'assistant'), content: fc.jsonValue() });
const value = fc.oneof(fc.jsonValue(), fc.constantFrom(undefined, 1n, '"]', '\\"', '},{"messages":[', -0));

describe('a request as the journal keeps it', () => {
  test('is put together again byte for byte, and lacks exactly the messages that it begins with', () => {
    fc.assert(
      fc.property(
        fc.array(message, { maxLength: 6 }),
        fc.array(message, { maxLength: 3 }),
        fc.dictionary(fc.string(), value, { maxKeys: 3 }),
        fc.dictionary(fc.string(), value, { maxKeys: 3 }),
        fc.nat(6),
        (said, more, before, after, shared) => {
          const request = text({ ...before, messages: [...said.slice(0, shared), ...more], ...after });
          const conversation = said.map(text);
          const short = shortRequest(request, conversation);
          expect(fullRequest(short.text, conversation.slice(0, short.conversation))).toBe(request);
          if (Object.hasOwn(after, 'messages') || Object.hasOwn({ ...before, ...after }, '$rerail')) return;
          expect(short.conversation).toBeGreaterThanOrEqual(Math.min(said.length, shared));
          const kept = (JSON.parse(short.text) as { messages: unknown[] }).messages;
          expect(kept.length + short.conversation).toBe(Math.min(said.length, shared) + more.length);
        },
      ),
    );
  });

  test('keeps a message from the first that differs on, in its keys’ order too', () => {
    const said = [
      { role: 'user', content: 'a' },
      { role: 'user', content: 'b' },
    ].map(text);
    const request = text({
      messages: [
        { role: 'user', content: 'a' },
        { content: 'b', role: 'user' },
      ],
    });
    expect(shortRequest(request, said)).toEqual({
      conversation: 1,
      text: '{"messages":[{"content":"b","role":"user"}]}',
    });
  });

  test('is the request itself where there is no array of messages, and where a message only begins like one', () => {
    for (const request of [
      'null',
      '[]',
      '"x"',
      '{}',
      '{"messages":{}}',
      '{"a":{"messages":[1]}}',
      '{"messages":[12]}',
    ])
      expect(shortRequest(request, ['1'])).toEqual({ conversation: 0, text: request });
  });
});

describe('a reply in two parts', () => {
  test('is put together again byte for byte', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), value), fc.dictionary(fc.string(), value), (first, rest) => {
        const reply = text({ message: first, ...rest });
        const parts = splitReply(reply);
        if (parts === undefined) {
          expect(
            Object.hasOwn(rest, 'message') || Object.hasOwn(rest, '$rerail') || /^\{"\d/.test(reply),
          ).toBe(true);
          return;
        }
        expect(joinReply(parts)).toBe(reply);
        if (!Object.hasOwn(rest, 'message')) expect(parts.message).toBe(text(first));
        expect(JSON.parse(parts.rest)).not.toHaveProperty('message');
      }),
    );
  });

  test('is left whole where it has no message in front', () => {
    for (const reply of ['null', '{}', '{"message":"hi"}', '{"finish":"stop","message":{}}'])
      expect(splitReply(reply)).toBeUndefined();
  });
});
