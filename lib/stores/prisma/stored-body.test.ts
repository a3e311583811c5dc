import { describe, expect, it } from 'vitest';
import { sha256 } from '@/lib/core/events/ids';
import type { Payload } from '@/lib/core/events/payload';
import { fromStored, toStored } from './stored-body';

const payload = (text: string): Payload => {
  const body = new TextEncoder().encode(text);
  return { sha256: sha256('0'.repeat(64)), bytes: body.byteLength, codec: 'json', body };
};
const message = payload(JSON.stringify({ role: 'user', content: 'where is my order? '.repeat(30) }));

describe('a payload’s stored body', () => {
  it('is deflated where a worker’s full batch brings it, and is read as it was', () => {
    const stored = toStored(message, 500);
    expect(stored.body.byteLength).toBeLessThan(message.bytes / 4);
    expect(fromStored(stored)).toEqual({ codec: 'json', bytes: message.bytes, body: message.body });
  });

  it('stays as it is among an import’s thousands, and where it would not become shorter', () => {
    expect(toStored(message, 5_000).body).toBe(message.body);
    for (const text of ['{}', '', 'x'.repeat(100)]) {
      const short = payload(text);
      expect(toStored(short, 1).body).toBe(short.body);
      expect(fromStored(toStored(short, 1))).toEqual({ codec: 'json', bytes: short.bytes, body: short.body });
    }
  });
});
