import { describe, expect, test } from 'vitest';
import { type SignalledWorker, signalHandler } from './signals';

function handled() {
  const exits: number[] = [];
  const workers = new Set<SignalledWorker>();
  let now = 0;
  const on = signalHandler({ clock: { mono: () => now }, workers, exit: (code) => exits.push(code) });
  const start = () => {
    const said: string[] = [];
    let ended: { readonly resolve: () => void; readonly reject: (error: Error) => void } | undefined;
    let stops = 0;
    workers.add({
      stop: () => {
        stops++;
        return new Promise((resolve, reject) => {
          ended = { resolve, reject };
        });
      },
      left: () => '1 held',
      say: (line) => said.push(line),
    });
    return {
      end: async (error?: Error) => {
        if (error === undefined) ended?.resolve();
        else ended?.reject(error);
        await new Promise((resolve) => setImmediate(resolve));
      },
      said,
      stops: () => stops,
    };
  };
  return {
    at: (ms: number, signal: 'SIGTERM' | 'SIGINT') => {
      now = ms;
      on(signal);
    },
    start,
    exits,
  };
}

describe('signals to a worker', () => {
  for (const first of ['SIGTERM', 'SIGINT'] as const) {
    test(`${first} hands over once, whatever comes meanwhile, and then ends`, async () => {
      const { at, start, exits } = handled();
      const worker = start();
      at(0, first);
      at(3, 'SIGINT');
      at(4, 'SIGTERM');
      at(9_000, 'SIGTERM');
      expect([worker.stops(), exits]).toEqual([1, []]);
      expect(worker.said).toHaveLength(4);
      for (const line of worker.said) expect(line).toContain('handing the runs over, 1 held');
      await worker.end();
      expect(exits).toEqual([0]);
    });

    test(`a SIGINT half a second after ${first} ends at once`, () => {
      const { at, start, exits } = handled();
      const worker = start();
      at(0, first);
      at(499, 'SIGINT');
      expect(exits).toEqual([]);
      at(500, 'SIGINT');
      expect(exits).toEqual([130]);
      expect(worker.said.at(-1)).toContain('in doubt');
    });

    test(`${first} to several workers ends the process after the last of them`, async () => {
      const { at, start, exits } = handled();
      const [one, other] = [start(), start()];
      at(0, first);
      expect([one.stops(), other.stops()]).toEqual([1, 1]);
      await one.end();
      expect(exits).toEqual([]);
      at(400, 'SIGTERM');
      expect([one.said.length, other.said.length]).toEqual([1, 2]);
      await other.end();
      expect(exits).toEqual([0]);
    });
  }

  test('a hand-over that breaks is told, and ends with another code, but not before the others', async () => {
    const { at, start, exits } = handled();
    const [one, other] = [start(), start()];
    at(0, 'SIGTERM');
    await one.end(new Error('no disk'));
    expect(exits).toEqual([]);
    await other.end();
    expect(exits).toEqual([1]);
    expect(one.said.at(-1)).toContain('no disk');
  });

  test('one that is started meanwhile hands over as well', async () => {
    const { at, start, exits } = handled();
    const one = start();
    at(0, 'SIGTERM');
    const late = start();
    await one.end();
    expect([late.stops(), exits]).toEqual([1, []]);
    await late.end();
    expect(exits).toEqual([0]);
  });
});
