import { afterEach, expect, it } from 'vitest';
import { ArrivalWatch } from './arrivals';
import { readFrom } from './source';

const signal = new AbortController().signal;
afterEach(() => readFrom(undefined));

/** A console with these runs, the one that moved last first. */
function consoleWith(ids: string[]): void {
  readFrom({
    fetch: async (url) => {
      const { pathname, searchParams } = new URL(url, 'http://console');
      const id = /\/runs\/(.+)$/.exec(pathname)?.[1];
      const limit = Number(searchParams.get('limit'));
      const page = {
        items: ids.slice(0, limit).map((one) => ({ id: one })),
        total: ids.length,
        nextCursor: null,
      };
      return Response.json(id === undefined ? page : { id });
    },
    listen: () => {
      throw new Error('nobody listens here');
    },
  });
}

it('takes a run for new that was not there, and not one that was, however old either is', async () => {
  const ids = Array.from({ length: 300 }, (_, n) => `old-${n}`);
  consoleWith(ids);
  const watch = new ArrivalWatch();
  expect(await watch.look(signal)).toEqual([]);
  expect(watch.before).toBe(300);
  expect(await watch.moved('old-1', signal)).toBeUndefined();
  // Beyond those that are known by name.
  expect(await watch.moved('old-299', signal)).toBeUndefined();
  ids.unshift('new-1');
  expect(await watch.moved('new-1', signal)).toEqual({ id: 'new-1' });
  expect(await watch.moved('old-298', signal)).toBeUndefined();
  // It moves on.
  expect(await watch.moved('new-1', signal)).toEqual({ id: 'new-1' });
});

it('finds what arrived while it could not listen, oldest first', async () => {
  const ids: string[] = [];
  consoleWith(ids);
  const watch = new ArrivalWatch();
  await watch.look(signal);
  expect(watch.before).toBe(0);
  ids.unshift('a');
  ids.unshift('b');
  expect(await watch.look(signal)).toEqual([{ id: 'a' }, { id: 'b' }]);
});
