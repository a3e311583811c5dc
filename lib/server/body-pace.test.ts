import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { POST } from '@/app/api/v1/traces/route';
import { fail, ok } from '@/lib/core/shared/result';
import { startTestConsole, type TestConsole } from '@/lib/testing/test-console';
import { BodyRoom, NO_ROOM, watchPace } from './body-pace';
import type { Incoming } from './http';

describe('the pace of a body', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });
  const watched = (pace: Parameters<typeof watchPace>[0]) => {
    const refused: unknown[] = [];
    return { refused, watch: watchPace(pace, (problem) => refused.push(problem)) };
  };
  const pace = { idleMs: 1_000, stretchMs: 10_000, stretchBytes: 5_000 };

  it('is kept by a slow line for as long as it takes', () => {
    const { refused, watch } = watched(pace);
    for (let second = 0; second < 3_600; second += 1) {
      vi.advanceTimersByTime(999);
      watch.took(501);
    }
    watch.end();
    vi.advanceTimersByTime(60_000);
    expect(refused).toEqual([]);
  });

  it('is lost by what drips so that it is never silent, whatever came before', () => {
    const { refused, watch } = watched(pace);
    watch.took(1_000_000);
    for (let tenth = 0; tenth < 199; tenth += 1) {
      vi.advanceTimersByTime(100);
      watch.took(1);
    }
    expect(refused).toEqual([]);
    vi.advanceTimersByTime(100);
    expect(refused).toEqual([{ kind: 'body-too-slow', leastBytesPerSecond: 500 }]);
  });

  it('is lost by silence', () => {
    const { refused, watch } = watched(pace);
    vi.advanceTimersByTime(900);
    watch.took(1);
    vi.advanceTimersByTime(999);
    expect(refused).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(refused).toEqual([{ kind: 'body-stalled', idleMs: 1_000 }]);
  });
});

describe('uploads', () => {
  let console_: TestConsole;
  beforeAll(async () => {
    console_ = await startTestConsole();
  });
  afterAll(() => console_.close());

  const incoming = (read: Incoming['read'], headers: Record<string, string> = {}): Incoming => ({
    method: 'POST',
    principal: { kind: 'local', actor: 'tester', role: 'admin' },
    params: {},
    search: '',
    header: (name) => headers[name],
    signal: new AbortController().signal,
    read,
  });

  it('that drip hold up no other, and are given up', async () => {
    const { address, close } = await slowConsole();
    const drips = Array.from({ length: 4 }, () => drip(address));
    const whole = await fetch(`http://127.0.0.1:${address}/api/v1/traces`, {
      method: 'POST',
      body: '{"not":"a trace"}',
    });
    expect(whole.status).toBe(415);
    for (const answer of await Promise.all(drips)) {
      expect(answer).toMatch(/^HTTP\/1.1 408 /);
      expect(answer).toContain('urn:rerail:problem:body-too-slow');
    }
    await close();
  });

  it('that find no room are asked to come again, and give back what they had', async () => {
    const deps = { ...console_.deps, uploadRoom: new BodyRoom(100) };
    const read: Incoming['read'] = async (_limit, _pace, place) => {
      if (place?.take(60) !== true || !place.take(60)) return fail(NO_ROOM);
      return ok(new TextEncoder().encode('nothing known'));
    };
    const refused = await POST.direct(incoming(read), deps);
    expect(refused.status).toBe(503);
    expect(refused.headers['retry-after']).toBe('5');
    expect(deps.uploadRoom.free).toBe(100);

    const small: Incoming['read'] = async (_limit, _pace, place) => {
      place?.take(60);
      expect(deps.uploadRoom.free).toBe(40);
      return ok(new TextEncoder().encode('nothing known'));
    };
    expect((await POST.direct(incoming(small), deps)).status).toBe(415);
    expect(deps.uploadRoom.free).toBe(100);
  });

  it('that are small and unpack to much wait with the large ones, and small ones do not', async () => {
    const { deps } = console_;
    const held = await Promise.all([1, 2].map(() => deps.uploadTurns.take(new AbortController().signal)));
    let large: number | undefined;
    const bomb = gzipSync(Buffer.alloc(20 * 1024 * 1024, ' '));
    const waits = POST.direct(
      incoming(async () => ok(new Uint8Array(bomb))),
      deps,
    ).then(({ status }) => {
      large = status;
    });
    const small = await POST.direct(
      incoming(async () => ok(new TextEncoder().encode('x'))),
      deps,
    );
    expect(small.status).toBe(415);
    expect(large).toBeUndefined();
    for (const turn of held) turn?.end();
    await waits;
    expect([413, 415]).toContain(large);
  });

  /** A console with a short patience. */
  async function slowConsole() {
    const slow = await startTestConsole();
    const pace = { stretchMs: 200, stretchBytes: 1_000 };
    Object.assign(slow.deps, { uploads: { ...slow.deps.uploads, ...pace } });
    return { address: new URL(slow.url).port, close: slow.close };
  }

  /** Sends a byte as soon as the one before has left; gives what is answered. */
  function drip(port: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const socket = connect(Number(port), '127.0.0.1');
      let heard = '';
      socket.write('POST /api/v1/traces HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100000\r\n\r\n');
      const timer = setInterval(() => socket.write('['), 20);
      socket.on('data', (chunk) => {
        heard += chunk.toString();
        if (!heard.includes('"type"')) return;
        clearInterval(timer);
        socket.destroy();
        resolve(heard);
      });
      socket.on('error', reject);
    });
  }
});
