import { connect } from 'node:net';
import { expect, it } from 'vitest';
import { runId, seq } from '@/lib/core/events/ids';
import { TestWorker, until } from '@/lib/testing/api-client';
import { describeConsole } from '@/lib/testing/describe-console';
import { streamRuns } from '@/lib/usecases/stream-changes';
import { sseStream } from './sse';

interface Message {
  readonly id: string | undefined;
  readonly event: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: read by its documented shape
  readonly data: any;
}

/** Server-sent messages of one connection, until it is closed. */
class Listener {
  readonly messages: Message[] = [];
  readonly #abort = new AbortController();
  #text = '';

  static async open(url: string, headers: Record<string, string> = {}): Promise<Listener> {
    const listener = new Listener();
    const response = await fetch(url, { headers, signal: listener.#abort.signal });
    expect([response.status, response.headers.get('content-type')]).toEqual([
      200,
      'text/event-stream; charset=utf-8',
    ]);
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    void (async () => {
      for (let part = await reader?.read(); part !== undefined && !part.done; part = await reader?.read())
        listener.#take(part.value);
    })().catch(() => undefined);
    return listener;
  }

  #take(text: string): void {
    this.#text += text;
    const blocks = this.#text.split('\n\n');
    this.#text = blocks.pop() ?? '';
    for (const block of blocks) {
      const field = (name: string) =>
        block
          .split('\n')
          .find((line) => line.startsWith(`${name}: `))
          ?.slice(name.length + 2);
      const data = field('data');
      if (data !== undefined)
        this.messages.push({ id: field('id'), event: field('event'), data: JSON.parse(data) });
    }
  }

  async has(count: number): Promise<readonly Message[]> {
    await until(
      async () => this.messages.length,
      (length) => length >= count,
    );
    return this.messages;
  }

  close = () => this.#abort.abort();
}

describeConsole(
  'the stream',
  ({ api, console }) => {
    const stream = (query: string, headers?: Record<string, string>) =>
      Listener.open(`${console().url}/api/v1/stream?${query}`, headers);
    const idsOf = (messages: readonly Message[]) => messages.map(({ id }) => id);

    it('gives a run’s events from where the listener is, then live, each once; the id is the seq', async () => {
      const worker = await TestWorker.create(api());
      await worker.write(worker.enter('plan'));
      const listener = await stream(`run=${worker.runId}&after=0`);
      await listener.has(2);
      await worker.write(worker.read('plan#1/lookup#1'), worker.done('plan#1/lookup#1'));
      const messages = await listener.has(4);
      expect(idsOf(messages)).toEqual(['1', '2', '3', '4']);
      expect(messages.at(-1)?.data).toMatchObject({ kind: 'step.completed', seq: 4, runId: worker.runId });
      listener.close();
    });

    it('goes on after Last-Event-ID, which counts before `after`', async () => {
      const worker = await TestWorker.create(api());
      await worker.write(
        worker.enter('plan'),
        worker.read('plan#1/lookup#1'),
        worker.done('plan#1/lookup#1'),
      );
      const listener = await stream(`run=${worker.runId}&after=0`, { 'last-event-id': '2' });
      expect(idsOf(await listener.has(2))).toEqual(['3', '4']);
      listener.close();
    });

    it('says reset to a listener that is ahead of the journal', async () => {
      const worker = await TestWorker.create(api());
      const listener = await stream(`run=${worker.runId}`, { 'last-event-id': '99' });
      expect(await listener.has(1)).toMatchObject([
        { event: 'reset', id: '1', data: { headSeq: 1, edition: 0 } },
      ]);
      await worker.write(worker.enter('plan'));
      expect((await listener.has(2)).at(-1)).toMatchObject({ id: '2', data: { kind: 'state.entered' } });
      listener.close();
    });

    it('says reset when a run was assembled anew, and goes on in its new edition; whoever comes back with an old one hears so', async () => {
      const id = '0af7651916cd43dd8448eb211c80319c';
      const span = (n: number) => ({
        traceId: id,
        spanId: `b7ad6b716920333${n}`,
        name: `work ${n}`,
        startTimeUnixNano: `170000000${n}000000000`,
        endTimeUnixNano: `170000000${n}500000000`,
      });
      const send = (...spans: readonly object[]) =>
        fetch(`${console().url}/v1/traces`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] }),
        });
      const summary = async () =>
        (await (await fetch(`${console().url}/api/v1/runs/${id}`)).json()) as {
          readonly headSeq: number;
          readonly edition: number;
        };
      expect((await send(span(2))).status).toBe(200);
      const before = await summary();
      const listener = await stream(`run=${id}&after=0&edition=${before.edition}`);
      const all = await stream('');
      await listener.has(before.headSeq);
      expect((await send(span(1), span(3))).status).toBe(200);
      const after = await summary();
      expect(after.edition).toBe(before.edition + 1);
      const messages = await listener.has(before.headSeq + 1);
      expect(messages[before.headSeq]).toEqual({
        event: 'reset',
        id: `${after.headSeq}.${after.edition}`,
        data: { headSeq: after.headSeq, edition: after.edition },
      });
      expect((await all.has(1))[0]?.data).toMatchObject({ runId: id, edition: after.edition });

      const old = await stream(`run=${id}`, { 'last-event-id': String(before.headSeq) });
      expect((await old.has(1))[0]).toMatchObject({ event: 'reset', data: { edition: after.edition } });
      const anew = await stream(`run=${id}&after=1`, { 'last-event-id': `2.${after.edition}` });
      const events = await anew.has(after.headSeq - 2);
      expect(events[0]).toMatchObject({ id: `3.${after.edition}`, data: { seq: 3, runId: id } });
      for (const one of [listener, all, old, anew]) one.close();
    });

    it('tells of every run that moves, and says reset first to one who was away', async () => {
      const listener = await stream('', { 'last-event-id': '7' });
      const worker = await TestWorker.create(api());
      const messages = await until(
        async () => listener.messages,
        (all) => all.some(({ data }) => data.runId === worker.runId),
      );
      expect(messages[0]).toMatchObject({ event: 'reset' });
      expect(messages.find(({ data }) => data.runId === worker.runId)?.data).toEqual({
        runId: worker.runId,
        headSeq: 1,
        status: 'running',
        edition: 0,
      });
      listener.close();
    });

    it('404 for a run that is not there', async () => {
      expect(await api().get('/api/v1/stream?run=nobody')).toMatchObject({ status: 404 });
    });

    it('reads no further than a listener takes: a stopped one costs a bounded stretch, and misses nothing', async () => {
      const worker = await TestWorker.create(api());
      const long = 'x'.repeat(10_000);
      const EVENTS = 4_000;
      for (let n = 0; n < EVENTS; n += 1_000)
        await worker.write(
          ...Array.from({ length: 1_000 }, (_, i) => ({
            kind: 'step.failed',
            stepKey: `plan#1/lookup#${n + i + 1}`,
            attempt: 1,
            failure: 'error',
            error: { type: 'E', message: long },
            final: true,
          })),
        );
      const { store } = console();
      const read = store.events.bind(store);
      let given = 0;
      store.events = async (id, range) => {
        const events = await read(id, range);
        if (id === worker.runId) given += events.length;
        return events;
      };
      const socket = connect(Number(new URL(console().url).port), '127.0.0.1');
      socket.pause();
      let text = '';
      socket.on('data', (chunk: Buffer) => {
        text += chunk.toString('latin1');
      });
      socket.pause();
      socket.write(`GET /api/v1/stream?run=${worker.runId}&after=0 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`);
      // Still for a while: whatever fits into the kernel's buffers is on its way, and nothing more is read.
      let before = -1;
      let quiet = 0;
      await until(
        async () => {
          quiet = given > 0 && given === before ? quiet + 1 : 0;
          before = given;
          return quiet;
        },
        (polls) => polls >= 15,
      );
      expect(given).toBeLessThan(EVENTS / 2);
      socket.resume();
      await until(
        async () => text.includes(`id: ${EVENTS + 1}\n`, text.length - 3 * long.length),
        (all) => all,
      );
      const ids = [...text.matchAll(/^id: (\d+)\ndata: /gm)].map(([, id]) => Number(id));
      expect(ids).toEqual(Array.from({ length: EVENTS + 1 }, (_, i) => i + 1));
      socket.destroy();
      store.events = read;
    }, 60_000);

    it('tells of what moves between the listener’s coming and its first message', async () => {
      const stop = new AbortController();
      const changes = streamRuns(console().deps, { resumed: false }, stop.signal);
      const { runId: id } = await TestWorker.create(api());
      const moves = [];
      for await (const batch of changes) {
        moves.push(...batch.flatMap((change) => (change.kind === 'moved' ? [change.moved.runId] : [])));
        if (moves.includes(runId(id))) break;
      }
      stop.abort();
      expect(moves).toContain(id);
    });

    it('keeps a bounded number of moves for a listener that takes none, and tells it to read anew', async () => {
      const { feed } = console().store;
      const stop = new AbortController();
      const changes = streamRuns(console().deps, { resumed: false }, stop.signal)[Symbol.asyncIterator]();
      const move = (n: number) =>
        feed.publish({
          runId: runId(`slow-${n}`),
          headSeq: seq(n + 1),
          edition: 0,
          status: 'running',
          wanted: false,
        });
      const first = changes.next();
      move(0);
      await first;
      for (let n = 0; n < 12_000; n++) move(n);
      const { value } = await changes.next();
      expect(value[0]).toEqual({ kind: 'reset' });
      expect(value.length).toBeLessThanOrEqual(5_001);
      stop.abort();
      await changes.return?.(undefined);
    });

    it('leaves no subscription behind when listeners go', async () => {
      const worker = await TestWorker.create(api());
      let open = 0;
      const { feed } = console().store;
      const subscribe = feed.subscribe.bind(feed);
      feed.subscribe = (told) => {
        const stop = subscribe(told);
        open++;
        return () => {
          open--;
          stop();
        };
      };
      const listeners = await Promise.all(
        Array.from({ length: 5 }, (_, n) => stream(n % 2 === 0 ? `run=${worker.runId}&after=0` : '')),
      );
      await until(
        async () => open,
        (count) => count === 5,
      );
      for (const listener of listeners) listener.close();
      await until(
        async () => open,
        (count) => count === 0,
      );
      feed.subscribe = subscribe;
    });
  },
  { leaseMs: 30_000 },
);

it('pings a listener to whom there is nothing to say', async () => {
  const nothing = { [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => undefined) }) };
  const reader = sseStream(nothing, () => undefined, 5).getReader();
  await reader.read();
  const text = async () => new TextDecoder().decode((await reader.read()).value);
  expect([await text(), await text()]).toEqual(Array.from({ length: 2 }, () => 'event: ping\ndata: {}\n\n'));
  await reader.cancel();
});
