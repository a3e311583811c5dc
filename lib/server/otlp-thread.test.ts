import { rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runId } from '@/lib/core/events/ids';
import { canonicalJson, type Json } from '@/lib/core/shared/canonical-json';
import { otlpImporter } from '@/lib/ingest/otlp/otlp-importer';
import { until } from '@/lib/testing/api-client';
import { bytesOf, request, type SpanWords, span, splitOk, TRACE } from '@/lib/testing/span-words';
import { startTestConsole } from '@/lib/testing/test-console';
import { printsOf } from '@/lib/usecases/assemble-parts';
import { type ReadFiles, readHere } from '@/lib/usecases/upload';
import { readInThread } from './decode-thread';
import { sha256Hash } from './hash';

/* The thread as it is built and shipped: it gives what is read here, and viewers follow a run that it assembles. */

const folder = resolve(process.cwd(), `.rerail/test-thread-${process.pid}`);
const built = resolve(folder, 'decode-worker.mjs');
const DEPTH = 256;
let there: ReadFiles;
const here = readHere(sha256Hash);

beforeAll(async () => {
  const { buildServer } = (await import(pathToFileURL(resolve(import.meta.dirname, 'build.mjs')).href)) as {
    buildServer: (outfile: string) => Promise<string>;
  };
  await buildServer(resolve(folder, 'main.mjs'));
  there = readInThread(built);
}, 60_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Turns of an agent, each with a text of 20 KB that differs from all others. */
const turns = (count: number): readonly SpanWords[] =>
  Array.from({ length: count }, (_, n) => ({
    id: `a${n + 1}`,
    parent: 'f0',
    from: 100 * n + 1,
    to: 100 * n + 90,
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.model': 'atlas',
      'gen_ai.input.messages': JSON.stringify([
        { role: 'user', content: `turn ${n} ${`${n} `.repeat(9_000)}` },
      ]),
    },
  }));
const root: SpanWords = { id: 'f0', name: 'desk', from: 0, to: 10_000 };
const all = [root, ...turns(20)];

/** Equal values have equal ones, whatever the order of their members. */
const told = (value: unknown): string => {
  const plain = JSON.stringify(value, (_key, inner: unknown) =>
    inner instanceof Uint8Array ? sha256Hash(inner) : inner instanceof Map ? [...inner] : inner,
  );
  return sha256Hash(canonicalJson(JSON.parse(plain) as Json));
};

describe('the built thread', () => {
  const file = () => ({ bytes: bytesOf(request(all.map(span))), contentType: 'application/json' });

  it('splits a file as it is split here, and refuses what is refused here', async () => {
    expect(file().bytes.byteLength).toBeGreaterThan(262_144);
    const split = await there.split(otlpImporter, file(), DEPTH);
    expect(told(split)).toBe(told(await here.split(otlpImporter, file(), DEPTH)));
    expect(split.ok && split.value.parts.length).toBe(all.length);
    const cut = () => ({ bytes: file().bytes.slice(0, 300_000), contentType: 'application/json' });
    const refused = await there.split(otlpImporter, cut(), DEPTH);
    expect(refused).toEqual(await here.split(otlpImporter, cut(), DEPTH));
    expect(refused.ok).toBe(false);
  });

  it('assembles a run as it is assembled here, and gives only what is not stored', async () => {
    const { parts } = splitOk(file().bytes);
    const none = { runId: runId(TRACE), parts, known: new Uint32Array(0) };
    const whole = await there.assemble(otlpImporter, none, DEPTH);
    expect(told(whole)).toBe(told(await here.assemble(otlpImporter, none, DEPTH)));
    expect(whole.events.length).toBeGreaterThan(80);
    const before = parts.slice(0, 15);
    const stored = otlpImporter.assemble(runId(TRACE), before, { hash: sha256Hash, maxDepth: DEPTH }).run;
    const more = { runId: runId(TRACE), parts, known: printsOf(stored.events, sha256Hash) };
    const rest = await there.assemble(otlpImporter, more, DEPTH);
    expect(told(rest)).toBe(told(await here.assemble(otlpImporter, more, DEPTH)));
    expect(rest.kept).toBeGreaterThan(50);
    expect(told(rest.events)).toBe(told(whole.events.slice(rest.kept)));
  });

  it('fails the request where it dies, and no other one', async () => {
    const dying = resolve(folder, 'dying.mjs');
    writeFileSync(dying, 'process.exit(3);\n');
    await expect(readInThread(dying).split(otlpImporter, file(), DEPTH)).rejects.toThrow('code 3');
    expect((await there.split(otlpImporter, file(), DEPTH)).ok).toBe(true);
  });
});

interface Event {
  readonly seq: number;
}

/** What a viewer holds that reads as the pages do: the stream, and after each `reset` the journal anew, page by page. */
class Viewer {
  edition = 0;
  resets = 0;
  /** Events that came with another content under the same edition and seq. */
  mixed = 0;
  readonly events = new Map<number, Event>();
  readonly #gone = new AbortController();

  constructor(
    private readonly url: string,
    private readonly id: string,
  ) {}

  async follow(): Promise<void> {
    const answer = await fetch(`${this.url}/api/v1/stream?run=${this.id}&after=0&edition=0`, {
      signal: this.#gone.signal,
    });
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) {
      text += part.value;
      const blocks = text.split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) await this.#take(block);
    }
  }

  close = () => this.#gone.abort();

  async #take(block: string): Promise<void> {
    const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1];
    const data = field('data');
    if (data === undefined || field('event') === 'ping') return;
    if (field('event') === 'reset') {
      const { edition } = JSON.parse(data) as { edition: number };
      this.resets += 1;
      this.edition = edition;
      await this.#readAnew();
      return;
    }
    const [, edition = '0'] = (field('id') ?? '').split('.');
    // What was on its way when the journal was read anew may be of an older one.
    if (Number(edition) !== this.edition) return;
    const event = JSON.parse(data) as Event;
    const known = this.events.get(event.seq);
    if (known !== undefined && told(known) !== told(event)) this.mixed += 1;
    this.events.set(event.seq, event);
  }

  async #readAnew(): Promise<void> {
    this.events.clear();
    for (let after = 0; ; ) {
      const answer = await fetch(`${this.url}/api/v1/runs/${this.id}/events?after=${after}&limit=20`);
      const page = (await answer.json()) as { items: readonly Event[]; edition: number };
      if (page.edition !== this.edition) {
        this.edition = page.edition;
        this.events.clear();
        after = 0;
        continue;
      }
      for (const event of page.items) this.events.set(event.seq, event);
      const last = page.items.at(-1)?.seq;
      if (last === undefined) return;
      after = last;
    }
  }
}

it('a viewer of a run that is rewritten again and again ends with its newest edition, and holds no mixture', async () => {
  const console_ = await startTestConsole({ decoder: built });
  try {
    const send = async (spans: readonly SpanWords[]) => {
      const answer = await fetch(`${console_.url}/v1/traces`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(request(spans.map(span))),
      });
      expect(answer.status).toBe(200);
    };
    const late = all.toReversed();
    // Enough at once that all of it is assembled by the thread.
    await send(late.slice(0, 16));
    const viewers = [new Viewer(console_.url, TRACE), new Viewer(console_.url, TRACE)];
    const following = viewers.map((viewer) => viewer.follow().catch(() => undefined));
    for (const one of late.slice(16)) await send([one]);
    const run = await console_.store.run(runId(TRACE));
    expect(run?.edition).toBe(late.length - 16);
    const stored = (await console_.store.events(runId(TRACE), { limit: 10_000 })).length;
    for (const viewer of viewers) {
      await until(
        async () => [viewer.edition, viewer.events.size],
        ([edition, size]) => edition === run?.edition && size === stored,
      );
      const answer = await fetch(`${console_.url}/api/v1/runs/${TRACE}/events?limit=1000`);
      const { items } = (await answer.json()) as { items: readonly Event[] };
      const held = [...viewer.events.values()].toSorted((left, right) => left.seq - right.seq);
      expect(told(held)).toBe(told(items));
      expect(viewer.mixed).toBe(0);
      expect(viewer.resets).toBeGreaterThan(0);
      viewer.close();
    }
    await Promise.all(following);
  } finally {
    await console_.close();
  }
}, 60_000);
