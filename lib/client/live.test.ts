import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { inRounds, type Liveness, listenToRun, listenToRuns, paced } from './live';

beforeEach(() => vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** Rounds that take `ms` each; how many began, and how many were under way at once at most. */
function counted(ms: number) {
  const seen = { began: 0, atOnce: 0, most: 0 };
  const round = async () => {
    seen.began += 1;
    seen.atOnce += 1;
    seen.most = Math.max(seen.most, seen.atOnce);
    await new Promise((resolve) => setTimeout(resolve, ms));
    seen.atOnce -= 1;
  };
  return { seen, round };
}

describe('inRounds', () => {
  it('makes one round of a burst', async () => {
    const { seen, round } = counted(10);
    const rounds = inRounds(round, 250);
    for (let n = 0; n < 20; n += 1) rounds.ask();
    await vi.advanceTimersByTimeAsync(2_000);
    expect(seen.began).toBe(1);
  });

  it('never runs two at once, rests after each for twice its length, and misses nothing that was asked', async () => {
    const { seen, round } = counted(1_000);
    const rounds = inRounds(round, 250);
    for (let n = 0; n < 60; n += 1) {
      rounds.ask();
      await vi.advanceTimersByTimeAsync(100);
    }
    expect(seen).toMatchObject({ began: 2, most: 1 });
    await vi.advanceTimersByTimeAsync(10_000);
    expect(seen).toMatchObject({ began: 3, atOnce: 0 });
  });

  it('goes on after a round that failed, and stops when it is ended', async () => {
    const round = vi.fn(() => Promise.reject(new Error('no answer')));
    const rounds = inRounds(round, 250);
    rounds.ask();
    await vi.advanceTimersByTimeAsync(500);
    rounds.ask();
    await vi.advanceTimersByTimeAsync(500);
    expect(round).toHaveBeenCalledTimes(2);
    rounds.ask();
    rounds.end();
    await vi.advanceTimersByTimeAsync(500);
    expect(round).toHaveBeenCalledTimes(2);
  });
});

describe('paced', () => {
  it('tells of the newest value in time, though values come without a pause, and of the last', async () => {
    const told: number[] = [];
    const pace = paced<number>((value) => told.push(value), 100);
    for (let n = 1; n <= 50; n += 1) {
      pace.give(n);
      await vi.advanceTimersByTimeAsync(20);
    }
    await vi.advanceTimersByTimeAsync(200);
    expect(told.length).toBeGreaterThanOrEqual(8);
    expect(told.length).toBeLessThanOrEqual(11);
    expect(told.at(-1)).toBe(50);
    pace.give(51);
    pace.end();
    await vi.advanceTimersByTimeAsync(200);
    expect(told.at(-1)).toBe(50);
  });
});

/** A browser with one tab for each listener: its connections, its locks, and what the console answers. */
class Browser {
  readonly open = new Set<FakeSource>();
  readonly held = new Set<string>();
  readonly asked: string[] = [];
  journal = 0;
  edition = 0;
  down = false;
  document = Object.assign(new EventTarget(), { visibilityState: 'visible' });
  window = new EventTarget();

  constructor() {
    const browser = this;
    vi.stubGlobal('document', this.document);
    vi.stubGlobal('window', this.window);
    vi.stubGlobal('navigator', {
      locks: {
        request: async (
          name: string,
          _: unknown,
          take: (lock: object | null) => Promise<void> | undefined,
        ) => {
          if (browser.held.has(name)) return take(null);
          browser.held.add(name);
          await take({});
          browser.held.delete(name);
        },
      },
    });
    vi.stubGlobal(
      'EventSource',
      class extends FakeSource {
        constructor(url: string) {
          super(url, browser);
        }
      },
    );
    vi.stubGlobal('fetch', async (url: string) => {
      browser.asked.push(url);
      if (browser.down) throw new TypeError('Failed to fetch');
      const after = Number(/after=(\d+)/.exec(url)?.[1] ?? 0);
      const items = Array.from({ length: Math.max(0, browser.journal - after) }, (_, n) => ({
        seq: after + n + 1,
      }));
      return Response.json({
        items,
        total: browser.journal,
        nextCursor: null,
        edition: browser.edition,
      });
    });
  }

  look(state: 'visible' | 'hidden'): void {
    this.document.visibilityState = state;
    this.document.dispatchEvent(new Event('visibilitychange'));
  }
}

class FakeSource extends EventTarget {
  static readonly CLOSED = 2;
  readyState = 0;
  onopen: (() => void) | undefined;
  onerror: (() => void) | undefined;
  onmessage: ((message: object) => void) | undefined;
  constructor(
    readonly url: string,
    readonly browser: Browser,
  ) {
    super();
    browser.open.add(this);
    if (!browser.down)
      queueMicrotask(() => {
        this.readyState = 1;
        this.onopen?.();
      });
  }
  say(id: string, data: object, event?: string): void {
    const message = Object.assign(new Event(event ?? 'message'), {
      lastEventId: id,
      data: JSON.stringify(data),
    });
    if (event === undefined) this.onmessage?.(message);
    else this.dispatchEvent(message);
  }
  close(): void {
    this.readyState = FakeSource.CLOSED;
    this.browser.open.delete(this);
  }
}

function tab(after = 0) {
  const seen = { seqs: [] as number[], missed: 0, resets: 0, liveness: [] as Liveness[] };
  const end = listenToRun(
    'run_1',
    { after, edition: 0 },
    {
      onItem: (event) => seen.seqs.push(event.seq),
      onMissed: () => {
        seen.missed += 1;
      },
      onReset: () => {
        seen.resets += 1;
      },
      onLiveness: (liveness) => seen.liveness.push(liveness),
    },
  );
  return { seen, end };
}
const settle = () => vi.advanceTimersByTimeAsync(0);

describe('listening to the console', () => {
  it('leaves connections to the pages, however many tabs are open, and every tab hears everything', async () => {
    const browser = new Browser();
    const tabs = Array.from({ length: 9 }, () => tab());
    await settle();
    expect(browser.open.size).toBe(4);
    browser.journal = 2;
    for (const source of browser.open) for (const n of [1, 2]) source.say(String(n), { seq: n });
    await vi.advanceTimersByTimeAsync(2_500);
    expect(tabs.map(({ seen }) => seen.seqs)).toEqual(tabs.map(() => [1, 2]));
    expect(tabs.map(({ seen }) => seen.liveness.at(-1)?.kind)).toEqual(tabs.map(() => 'live'));
    for (const { end } of tabs.slice(0, 5)) end();
    await vi.advanceTimersByTimeAsync(2_500);
    expect(browser.open.size).toBe(4);
    for (const { end } of tabs) end();
    await settle();
    expect([browser.open.size, browser.held.size]).toEqual([0, 0]);
  });

  it('gives the connection back while nobody looks, and goes on from there', async () => {
    const browser = new Browser();
    const { seen, end } = tab();
    await settle();
    for (const source of browser.open) source.say('7', { seq: 7 });
    browser.look('hidden');
    await vi.advanceTimersByTimeAsync(6_000);
    expect([browser.open.size, browser.held.size]).toEqual([0, 0]);
    browser.look('visible');
    await settle();
    expect([...browser.open].map(({ url }) => url)).toEqual(['/api/v1/stream?run=run_1&after=7&edition=0']);
    expect(seen).toMatchObject({ missed: 1, seqs: [7] });
    expect(seen.liveness.at(-1)).toEqual({ kind: 'live' });
    end();
  });

  it('keeps the connection through a short look elsewhere', async () => {
    const browser = new Browser();
    const { end } = tab();
    await settle();
    const before = [...browser.open];
    browser.look('hidden');
    await vi.advanceTimersByTimeAsync(1_000);
    browser.look('visible');
    await vi.advanceTimersByTimeAsync(20_000);
    expect([...browser.open]).toEqual(before);
    end();
  });

  it('says that it is not live where a connection brings nothing, not even a ping', async () => {
    const browser = new Browser();
    const { seen, end } = tab();
    await settle();
    for (let n = 0; n < 6; n += 1) {
      await vi.advanceTimersByTimeAsync(10_000);
      for (const source of browser.open) source.say('', {}, 'ping');
    }
    expect(seen.liveness).toEqual([{ kind: 'live' }]);
    browser.down = true;
    await vi.advanceTimersByTimeAsync(31_000);
    expect(seen.liveness.at(-1)?.kind).toBe('lost');
    browser.down = false;
    await vi.advanceTimersByTimeAsync(31_000);
    expect(seen.liveness.at(-1)?.kind).toBe('live');
    expect(seen.missed).toBe(1);
    end();
  });

  it('says so at once where the network goes, and goes on as soon as the console is reached', async () => {
    const browser = new Browser();
    const { seen, end } = tab();
    await settle();
    browser.down = true;
    browser.window.dispatchEvent(new Event('offline'));
    await settle();
    expect(seen.liveness.map(({ kind }) => kind)).toEqual(['live', 'lost']);
    expect(browser.open.size).toBe(1);
    browser.down = false;
    browser.window.dispatchEvent(new Event('online'));
    await settle();
    expect(seen.liveness.map(({ kind }) => kind)).toEqual(['live', 'lost', 'live']);
    expect([browser.open.size, seen.missed]).toEqual([1, 1]);

    // A console on the same machine is reached without a network.
    browser.window.dispatchEvent(new Event('offline'));
    await settle();
    expect(seen.liveness.at(-1)?.kind).toBe('live');
    end();
    browser.window.dispatchEvent(new Event('offline'));
    await settle();
    expect([browser.open.size, seen.liveness.at(-1)?.kind]).toEqual([0, 'live']);
  });

  it('says so too where it asks instead of listening', async () => {
    const browser = new Browser();
    for (let n = 1; n <= 4; n += 1) browser.held.add(`rerail.stream ${n}`);
    const { seen, end } = tab();
    await settle();
    browser.down = true;
    await vi.advanceTimersByTimeAsync(5_000);
    browser.down = false;
    await vi.advanceTimersByTimeAsync(5_000);
    expect(seen.liveness.map(({ kind }) => kind).join(' ')).toMatch(/^live( live)* lost live( live)*$/);
    end();
  });

  it('has nothing read anew where it asks and nothing moves; after a loss, once', async () => {
    const browser = new Browser();
    for (let n = 1; n <= 4; n += 1) browser.held.add(`rerail.stream ${n}`);
    const { seen, end } = tab();
    await vi.advanceTimersByTimeAsync(20_000);
    expect(browser.asked.length).toBeGreaterThan(5);
    expect(seen.missed).toBe(0);
    browser.down = true;
    await vi.advanceTimersByTimeAsync(5_000);
    browser.down = false;
    await vi.advanceTimersByTimeAsync(20_000);
    expect(seen.missed).toBe(1);
    end();
  });

  it('has nothing read anew where a place comes free and it listens instead of asking', async () => {
    const browser = new Browser();
    for (let n = 1; n <= 4; n += 1) browser.held.add(`rerail.stream ${n}`);
    const { seen, end } = tab();
    await vi.advanceTimersByTimeAsync(5_000);
    browser.held.clear();
    await vi.advanceTimersByTimeAsync(5_000);
    expect([browser.open.size, seen.missed]).toEqual([1, 0]);
    end();
  });

  it.each(['listening', 'asking'])('tells of another journal while %s', async (how) => {
    const browser = new Browser();
    if (how === 'asking') for (let n = 1; n <= 4; n += 1) browser.held.add(`rerail.stream ${n}`);
    browser.journal = 3;
    const { seen, end } = tab(99);
    await settle();
    for (const source of browser.open) source.say('3', { headSeq: 3 }, 'reset');
    expect(seen.resets).toBe(1);
    end();
  });

  it('goes on in the new journal after it was assembled anew, listening and asking', async () => {
    const browser = new Browser();
    const { seen, end } = tab(5);
    await settle();
    const [source] = browser.open;
    expect(source?.url).toContain('after=5');
    expect(source?.url).toContain('edition=0');
    source?.say('7.2', { headSeq: 7, edition: 2 }, 'reset');
    source?.say('8.2', { seq: 8 });
    expect([seen.resets, seen.seqs]).toEqual([1, [8]]);
    browser.look('hidden');
    await vi.advanceTimersByTimeAsync(10_000);
    // Where it asks instead, it finds the third edition.
    for (let n = 1; n <= 4; n += 1) browser.held.add(`rerail.stream ${n}`);
    Object.assign(browser, { edition: 3, journal: 9 });
    browser.look('visible');
    await settle();
    expect(browser.asked.at(-1)).toContain('after=8');
    expect([seen.resets, seen.seqs]).toEqual([2, [8]]);
    browser.journal = 10;
    await vi.advanceTimersByTimeAsync(2_500);
    expect([seen.resets, seen.seqs]).toEqual([2, [8, 10]]);
    end();
  });

  it('reads the list anew whenever a connection begins: what moved before it is told by nobody', async () => {
    const browser = new Browser();
    let missed = 0;
    const end = listenToRuns({
      onItem: () => undefined,
      onMissed: () => {
        missed += 1;
      },
      onLiveness: () => undefined,
    });
    await settle();
    expect([browser.open.size, missed]).toEqual([1, 1]);
    end();
  });
});
