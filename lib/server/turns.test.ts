import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { POST } from '@/app/api/v1/traces/route';
import { ok } from '@/lib/core/shared/result';
import { startTestConsole, type TestConsole } from '@/lib/testing/test-console';
import type { Incoming } from './http';
import { Turns } from './turns';

const never = new AbortController().signal;
const settled = () => new Promise((resolve) => setTimeout(resolve, 10));

describe('turns', () => {
  it('go to who asked first; one that has gone is passed by', async () => {
    const turns = new Turns(1);
    const first = await turns.take(never);
    const gone = new AbortController();
    const second = turns.take(gone.signal);
    let third: unknown;
    void turns.take(never).then((turn) => {
      third = turn;
    });
    gone.abort();
    expect(await second).toBeUndefined();
    await settled();
    expect(third).toBeUndefined();
    first?.end();
    first?.end();
    await settled();
    expect(third).toBeDefined();
  });
});

describe('uploads at the same time', () => {
  let console_: TestConsole;
  beforeAll(async () => {
    console_ = await startTestConsole();
  });
  afterAll(() => console_.close());

  it('are all received at once, so that one that trickles in holds up none, and worked on a few at a time', async () => {
    const reading: (() => void)[] = [];
    const upload = () => {
      const incoming: Incoming = {
        method: 'POST',
        principal: { kind: 'local', actor: 'tester', role: 'admin' },
        params: {},
        search: '',
        header: () => undefined,
        signal: never,
        read: () =>
          new Promise((resolve) => {
            reading.push(() => resolve(ok(new TextEncoder().encode('nothing known'))));
          }),
      };
      return POST.direct(incoming, console_.deps);
    };
    const answers = [upload(), upload(), upload(), upload()];
    await settled();
    expect(reading.length).toBe(4);
    // The last comes first: the others are still on their way.
    reading[3]?.();
    expect((await answers[3])?.status).toBe(415);
    for (const read of reading) read();
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([415, 415, 415, 415]);
  });
});
