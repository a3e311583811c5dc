import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { epochMs } from '@/lib/core/events/ids';
import { payloadRefsOf } from '@/lib/core/events/payload-refs';
import { emptyState, foldRun } from '@/lib/core/projections/run-state';
import { importers } from '@/lib/ingest/registry';
import {
  type FuzzedCase,
  fuzzedCase,
  fuzzing,
  inTime,
  isPlace,
  namesPlace,
  repeatable,
  samples,
} from '@/lib/testing/fuzzed-uploads';
import { importTools } from '@/lib/testing/importer-contract';
import { memoryStore } from '@/lib/testing/memory-store';
import { agentSpans, onTheWire, statusIn } from '@/lib/testing/otlp-spans';
import { startTestConsole, type TestConsole } from '@/lib/testing/test-console';
import { importTraces } from '@/lib/usecases/import-traces';
import type { Store } from '@/lib/usecases/ports';

let files: Awaited<ReturnType<typeof samples>>;
beforeAll(async () => {
  const console_ = await startTestConsole({ store: memoryStore() });
  const [span] = agentSpans();
  const body = await onTheWire(OTLPTraceExporter, span === undefined ? [] : [span]);
  await fetch(`${console_.url}/v1/traces`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: new Uint8Array(body),
  });
  const exported = await fetch(`${console_.url}/api/v1/runs/${span?.spanContext().traceId}/export`);
  files = await samples({ name: 'an export', bytes: new Uint8Array(await exported.arrayBuffer()) });
  await console_.close();
});

/** Every run is there whole: its journal to the head, the state that it folds to, the payloads that it refers to. */
async function expectWhole(store: Store): Promise<void> {
  const { items } = await store.runs({ filter: {}, sort: 'created', descending: false, limit: 100_000 });
  for (const run of items) {
    const events = await store.events(run.runId, { limit: 1_000_000 });
    expect(events.map(({ seq }) => seq)).toEqual(Array.from({ length: run.headSeq }, (_, i) => i + 1));
    expect(foldRun(events, emptyState(run.state.agent))).toEqual(run.state);
    const refs = events.flatMap(payloadRefsOf).map(({ sha256 }) => sha256);
    // A native file may refer to payloads that it does not bring only where it says so; what was taken has them all.
    expect(await store.payloads.missing(refs)).toEqual([]);
  }
}

it('knows a place from other words', () => {
  for (const path of ['', 'somewhere', 'the body', 'line', 'line 3 or so', '$ and more', 'span', 'format'])
    expect([path, isPlace(path)]).toEqual([path, false]);
  for (const sentence of [
    'The body is wrong.',
    'Not this format.',
    'A run: no.',
    'byte by byte: no',
    'Run a moved.',
  ])
    expect([sentence, namesPlace(sentence)]).toEqual([sentence, false]);
});

describe('uploads of damaged files and arbitrary bytes', () => {
  it('in process: are taken whole or refused with a place, soon', async () => {
    const { first, count } = fuzzing(2_000);
    const told = { taken: 0, refused: 0 };
    for (let seed = first; seed < first + count; seed += 1) {
      const one = fuzzedCase(files, seed);
      await repeatable(one, () => inTime(() => inProcess(one, told)));
    }
    // Cases that are all refused, or all taken, would say little.
    if (count > 100) expect(Math.min(told.taken, told.refused)).toBeGreaterThan(count / 50);
  }, 300_000);

  async function inProcess(one: FuzzedCase, told: { taken: number; refused: number }): Promise<void> {
    const store = memoryStore();
    const deps = { store, hash: importTools.hash, importers, judgedFrom: epochMs(0), maxImportDepth: 256 };
    const { bytes, contentType } = one;
    const answer = await importTraces(deps, { bytes, contentType });
    if (answer.ok) {
      told.taken += 1;
      for (const { path, message } of answer.value.warnings) expect([path, message]).not.toContain('');
    } else {
      told.refused += 1;
      const { problem } = answer;
      // An empty store has no run that the file could differ from.
      const errors = 'errors' in problem ? problem.errors : [];
      expect(errors.map(({ path }) => [path, isPlace(path)])).toEqual([[expect.anything(), true]]);
      expect((await store.runs({ filter: {}, sort: 'created', descending: true, limit: 1 })).total).toBe(0);
    }
    await expectWhole(store);
  }

  describe('over HTTP', () => {
    let console_: TestConsole;
    beforeAll(async () => {
      console_ = await startTestConsole();
    });
    afterAll(() => console_.close());

    it('are taken whole or refused with a place, soon, by both doors', async () => {
      const { first, count } = fuzzing(500);
      const statuses = new Map<number, number>();
      for (let seed = first; seed < first + count; seed += 1) {
        const one = fuzzedCase(files, seed);
        const check = async () => {
          const status = await post(one, seed % 2 === 0 ? '/api/v1/traces' : '/v1/traces');
          statuses.set(status, (statuses.get(status) ?? 0) + 1);
        };
        await repeatable(one, () => inTime(check));
      }
      if (count > 100)
        expect([...statuses.keys()].sort()).toEqual(expect.arrayContaining([200, 201, 400, 415]));
      await expectWhole(console_.store);
    }, 300_000);

    async function post({ bytes, contentType, contentEncoding }: FuzzedCase, door: string): Promise<number> {
      const runs = async () =>
        (await console_.store.runs({ filter: {}, sort: 'created', descending: true, limit: 1 })).total;
      const before = await runs();
      const answer = await fetch(`${console_.url}${door}`, {
        method: 'POST',
        body: bytes as Uint8Array<ArrayBuffer>,
        headers: {
          ...(contentType === '' ? {} : { 'content-type': contentType }),
          ...(contentEncoding === undefined ? {} : { 'content-encoding': contentEncoding }),
        },
      });
      const body = Buffer.from(await answer.arrayBuffer());
      expect(answer.status).toBeLessThan(500);
      if (answer.status >= 400) {
        expect(placesOf(body, answer.headers.get('content-type') ?? '')).toEqual([[expect.anything(), true]]);
        expect(await runs()).toBe(before);
      }
      return answer.status;
    }

    /** What a refusal says of where it went wrong, and whether that is a place. */
    function placesOf(body: Buffer, contentType: string): readonly (readonly [string, boolean])[] {
      if (contentType !== 'application/problem+json') {
        const { message } = statusIn(contentType === 'application/json' ? 'json' : 'protobuf', body);
        return [[message, namesPlace(message) || message.startsWith('The content type must be one of: ')]];
      }
      const { errors, detail } = JSON.parse(body.toString());
      return errors === undefined
        ? [[detail, namesPlace(detail)]]
        : errors.map(({ path }: { path: string }) => [path, isPlace(path)]);
    }
  });
});
